/*
 * walk_path.h - what a name means to the server, and what else it could mean; internal to parser/.
 *
 * A name with a schema means one object. One without is looked for on the search path; where the agent
 * may change what names mean (analyse_context.every_candidate) the walk goes on with the most certain
 * of the objects that it could mean, and walk_candidates adds the same actions on all others.
 */
#ifndef PGWICKET_PARSER_WALK_PATH_H
#define PGWICKET_PARSER_WALK_PATH_H

#include "parser/walk.h"

/* A relation as a statement names it. */
struct named {
    struct object object; /* its schema is empty where nothing of the name was found */
    const struct relation *relation; /* NULL: the catalog has none */
    bool unresolved;   /* there is none: not in the catalog, and the agent cannot have made it */
    bool may_differ;   /* the agent may have made or changed it after the catalog was read */
    bool may_be_other; /* the name could mean other objects, too */
};

/* CTE names are not looked at here. A relation found through the path is noted for the resolved print. */
struct named walk_relation(struct walk *walk, RangeVar *range);

/* The same where the name stands in a literal: range->location is the fault's place, not the name's. */
struct named walk_relation_in_literal(struct walk *walk, RangeVar *range);

/* schema.name of what is going to be created: without schema, in the first existing one of the path
 * ("pg_temp" for temporary ones). Fails the walk where the agent may move the path or its schemas. */
struct object walk_new_object(struct walk *walk, RangeVar *range);

/* The object of a List of String (dotted name): functions, types, operators, text search objects, … */
struct object walk_object_from_names(struct walk *walk, List *names, int location);

/* The schemas that are searched, in order: *count of them. pg_temp is among them only where every
 * candidate is wanted, and never has functions or operators. */
const struct text *walk_path(struct walk *walk, size_t *count);

/* Is a relation or type that is in this schema of the path surely found there, or before? */
bool walk_path_ends(const struct walk *walk, struct text schema);

/* Could the agent do that to schema.name? `ways`: MAKEABLE_*, any of them. */
bool walk_may_make(const struct walk *walk, unsigned ways, struct text schema, struct text name);

/* --- walk_candidate.c ------------------------------------------------------------------------- */

/* Something that a name without a schema could mean. */
struct candidate {
    struct object object;
    const struct relation *relation;
    bool may_differ;
};

/* What could be meant besides the object that the walk went on with. */
struct ambiguity {
    struct candidate *others;
    size_t count, capacity;
};

/* Notes that each of `candidates` but the one at `chosen` could be meant instead of it. */
void walk_note_candidates(struct walk *walk, const struct candidate *candidates, size_t count,
                          size_t chosen);

/* Adds each action on an object of which others were noted for them, too. At the end of a statement. */
void walk_candidates(struct walk *walk);

#endif
