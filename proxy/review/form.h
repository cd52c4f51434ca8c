/*
 * form.h - what a browser sends beside JSON: the body of a form, and cookies. Pure and strict: what
 * is not exactly as expected is refused.
 */
#ifndef PGWICKET_REVIEW_FORM_H
#define PGWICKET_REVIEW_FORM_H

#include "proxy/base/arena.h"

enum { FORM_FIELDS_MAX = 8 };

struct form {
    struct text names[FORM_FIELDS_MAX];
    struct text values[FORM_FIELDS_MAX]; /* line breaks are LF */
    size_t count;
};

/* An application/x-www-form-urlencoded body, decoded into `arena`: UTF-8 without NUL, no name
 * twice, at most FORM_FIELDS_MAX fields. NULL: fine, else what is wrong. */
const char *form_parse(struct arena *arena, struct text body, struct form *form);

/* The value of this field; empty if it is not there. */
struct text form_value(const struct form *form, const char *name);

/* "application/x-www-form-urlencoded", with or without parameters. */
bool content_type_is_form(struct text header);

/* The cookie of this name in a Cookie header; empty if it is not there, or there twice. */
struct text cookie_value(struct text header, const char *name);

/* May a browser be sent to this path after signing in? Only to one of our own pages. */
bool is_local_path(struct text path);

#endif
