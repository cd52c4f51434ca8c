/* path.h - the search path as the server uses it: without the schemas that the session's role may not use. */
#ifndef PGWICKET_RULES_PATH_H
#define PGWICKET_RULES_PATH_H

#include "rules/decide.h"

struct used_path {
    const struct text *schemas; /* the policy's, or some of them, in `arena` */
    size_t count;
    bool open; /* which of them the server passes over depends on a role that the agent may take */
};

/* Source: PostgreSQL manual, search_path: schemas without USAGE are left out. */
struct used_path path_in_use(struct arena *arena, const struct decide_context *context);

#endif
