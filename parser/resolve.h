/*
 * resolve.h - writes schemas into a statement's tokens where the walk found out what a name means.
 * Internal to parser/.
 */
#ifndef PGWICKET_PARSER_RESOLVE_H
#define PGWICKET_PARSER_RESOLVE_H

#include "parser/lex.h"

/* DROP TABLE IF EXISTS a, b: b is the second of a list that begins behind four tokens. */
struct place_in_list {
    int tokens; /* 0: it is in no list */
    int before; /* names in front of it */
};

/* A relation's name that was written without a schema, and the schema in which it was found, or is made. */
struct resolved_name {
    int location; /* byte of the name in the text; < 0: by its place */
    struct text name, schema;
    struct place_in_list place;
};

/*
 * Copies tokens[first] to tokens[end - 1], prepared for the print, with `schema .` in front of each
 * name. The same name at the same place may be given twice. False if a name is not where it should
 * be; `names` is sorted either way.
 */
MUST_USE bool resolve_tokens(struct arena *arena, const struct tokens *tokens, size_t first,
                             size_t end, struct resolved_name *names, size_t name_count,
                             struct tokens *out);

#endif
