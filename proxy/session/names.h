/*
 * names.h - a table from names to counted objects that follows the server's own, in queue order.
 *
 * A definition counts at once for what the client sends next (pending), and for good when the server
 * has answered it (confirmed). If it failed or was skipped, the object from before is back.
 * Used for prepared statements and for portals and cursors, which share one space of names. As in the
 * server, names that agree in their first 63 bytes are one.
 */
#ifndef PGWICKET_SESSION_NAMES_H
#define PGWICKET_SESSION_NAMES_H

#include "proxy/base/text.h"

enum { NAME_SIGNIFICANT = 63 }; /* the server's own tables compare no more of a name (NAMEDATALEN - 1) */

struct names;

/* How the table counts references of its objects. */
struct names_type {
    void (*retain)(void *object);
    void (*release)(void *object);
};

struct names *names_new(const struct names_type *type);
void names_free(struct names *names);

/* What the name means to the next message; NULL: nothing. Borrowed. */
void *names_find(struct names *names, struct text name);

/* A message that defines (object) or removes (NULL) the name was sent. */
void names_sent(struct names *names, struct text name, void *object);

/* Its answer came. Call once for each names_sent, in the same order for one name. */
void names_confirmed(struct names *names, struct text name, void *object);

/* It failed or was skipped; `lost`: the server dropped what the name meant before, too (a failed Parse
 * of the unnamed statement). */
void names_failed(struct names *names, struct text name, bool lost);

/* Confirmed removal of one. */
void names_forget(struct names *names, struct text name);

/* Confirmed removal of everything for which `keep` says false; NULL: of everything. Pending ones stay. */
void names_drop(struct names *names, bool (*keep)(const void *object));

/* Names that mean something now, without the unnamed one. */
size_t names_count(const struct names *names);

#endif
