/*
 * catalog_views.c - what the definitions of views read and call.
 *
 * pg_depend has the columns and the user functions. It has neither whole-row references nor
 * anything about PostgreSQL's own tables and functions; these are found in the node tree, without
 * knowing which of the view's relations they belong to, so there the answer is rather too much than
 * too little.
 */
#include "proxy/upstream/catalog_rows.h"

#include "parser/builtins.h"

/* Objects below are pinned: pg_depend does not record what depends on them. */
enum { FIRST_UNPINNED_OID = 12000 };

static void add_source(struct reading *reading, struct relation_draft *view, uint32_t relation,
                       int16_t column)
{
    struct view_source *source =
        arena_push(reading->arena, &view->sources.items, &view->sources.count,
                   &view->sources.capacity, sizeof *source);
    *source = (struct view_source){relation, column};
}

static void read_source_run(struct reading *reading, struct relation_draft *view,
                            const PGresult *result, int from, int to)
{
    for (int row = from; row < to; row++) {
        int16_t column = row_int16(reading, result, row, 2);
        add_source(reading, view, row_oid(reading, result, row, 1),
                   column != 0 ? column : VIEW_SOURCE_ROWS_ONLY);
    }
}

void read_view_sources(struct reading *reading, const PGresult *result)
{
    for_each_relation(reading, result, read_source_run);
}

/* PostgreSQL's own functions count where an agent would need a rule to call them. */
static bool needs_call(const struct reading *reading, uint32_t oid)
{
    if (is_user_function(reading, oid))
        return true;
    struct builtin_function function = builtin_function(find_function(reading, oid)->name);
    return function.strictest == FUNCTION_UNKNOWN || function.strictest == FUNCTION_GUARDED;
}

static void read_reference_run(struct reading *reading, struct relation_draft *view,
                               const PGresult *result, int from, int to)
{
    for (int row = from; row < to; row++) {
        uint32_t oid = row_oid(reading, result, row, 2);
        if (row_bool(result, row, 1))
            add_checks_of_type(reading, &view->functions, oid);
        else if (needs_call(reading, oid))
            add_function(reading, &view->functions, oid);
    }
}

void read_view_references(struct reading *reading, const PGresult *result)
{
    for_each_relation(reading, result, read_reference_run);
}

/* Every relation that the view reads, as a whole. */
static void widen_sources(struct reading *reading, struct relation_draft *view)
{
    size_t count = view->sources.count;
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t relation = ((const struct view_source *)view->sources.items)[i].relation;
        if (relation != last)
            add_source(reading, view, relation, VIEW_SOURCE_EVERY_COLUMN);
        last = relation;
    }
}

static void add_pinned_source(struct reading *reading, struct relation_draft *view, uint32_t oid)
{
    if (oid < FIRST_UNPINNED_OID)
        add_source(reading, view, oid, VIEW_SOURCE_EVERY_COLUMN);
}

static void read_node_run(struct reading *reading, struct relation_draft *view,
                          const PGresult *result, int from, int to)
{
    bool whole_row = false;
    for (int row = from; row < to; row++) {
        struct text field = text_from(PQgetvalue(result, row, 1));
        uint32_t oid = row_oid(reading, result, row, 2);
        if (text_is(field, ":varattno"))
            whole_row = true;
        else if (text_is(field, ":relid"))
            add_pinned_source(reading, view, oid);
        else if (needs_call(reading, oid))
            add_function(reading, &view->functions, oid);
    }
    if (whole_row)
        widen_sources(reading, view);
}

void read_view_nodes(struct reading *reading, const PGresult *result)
{
    for_each_relation(reading, result, read_node_run);
}
