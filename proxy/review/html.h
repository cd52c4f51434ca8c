/*
 * html.h - markup, written into a buffer. What is not in the program's own text is escaped. Pure.
 *
 * Characters that a reader could not see, or that would move others, become boxes with their name
 * or number; where markup cannot stand (attributes, titles, text areas) the name in brackets.
 */
#ifndef PGWICKET_REVIEW_HTML_H
#define PGWICKET_REVIEW_HTML_H

#include "proxy/base/arena.h"
#include "proxy/base/buffer.h"

/*
 * Appends `format`, which is markup, with its arguments, which are text: %s, %.*s, %d, %ld and %%
 * as in printf. Where an argument stands decides how it is escaped, so a call must not end within a
 * tag, nor within a title or a text area.
 */
void html(struct buffer *out, const char *format, ...) PRINTF_LIKE(2, 3);

/* Text by itself, as between tags. */
void html_text(struct buffer *out, struct text text);

/* The name of an object: it may be broken after a dot or an underscore. */
void html_name(struct buffer *out, struct text name);

/* A segment of a path, percent-encoded. */
struct text html_path(struct arena *arena, struct text segment);

#endif
