/*
 * measure_objects.h - what DDL does to objects, measured on the server: the SQL that describes them, the
 * rows that go, and the effect that two descriptions tell (gate.md 5). Pure; internal to proxy/session/.
 *
 *   rows of what goes (if it is known what goes), description, statement, description
 */
#ifndef PGWICKET_SESSION_MEASURE_OBJECTS_H
#define PGWICKET_SESSION_MEASURE_OBJECTS_H

#include "parser/shape.h"
#include "proxy/holds/effect.h"

/* One row with one column, JSON: every object of the database that is not built in, what depends on what,
 * own locks. */
struct text measure_objects_sql(struct arena *arena);

/* Does something of it go, or is written anew, so that its rows are counted? */
bool object_loses_rows(const struct effect_object *object);

/* LOCK TABLE of the tables that `effect` empties or drops, so that none of their rows comes or goes between
 * counting and losing them; empty: none. */
struct text measure_losses_lock_sql(struct arena *arena, const struct effect *effect);

/* One row with one column, JSON: rows and bytes of what `effect` takes; empty: nothing of that kind. */
struct text measure_losses_sql(struct arena *arena, const struct effect *effect);

/* Is everything counted that is lost? */
bool measure_losses_known(const struct effect *effect);

struct measured_objects {
    struct text before, after; /* what measure_objects_sql gave */
    struct text losses;        /* what measure_losses_sql gave; may be empty */
};

/* Fills objects and locks of `effect`; what cannot be read makes it unknown. Texts live in `arena`. */
void measure_objects(struct arena *arena, const struct shape *shape,
                     const struct measured_objects *measured, struct effect *effect);

#endif
