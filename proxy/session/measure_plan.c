/*
 * measure_plan.c - the statement with its rows' fingerprints appended to its own RETURNING.
 *
 * The old row comes from a sub-select in RETURNING, which sees the state before the statement, by a key
 * that the statement does not change; behind it the keys of the rows that cascades reach from it. Where
 * there is no such key, where a type has no binary form, or where the statement is no plain write, only
 * the counters tell what it does.
 *
 * Every name of ours is qualified: nothing on the search path can take its place.
 */
#include "proxy/session/measure.h"

#include "proxy/base/limits.h"
#include "proxy/session/measure_children.h"

#define OLD_ROW "pgwicket_old"
#define OWN_NAMES "pgwicket_"

struct planner {
    struct arena *arena;
    const struct catalog *catalog;
    const struct relation *relation;
    struct write_form form;
    const struct key *key; /* finds the old row; NULL: none */
    struct children children;
    struct measure_plan *plan;
};

/* --- what can be told by rows --------------------------------------------------------------------- */

static bool sets_column(const struct planner *planner, struct text name)
{
    for (size_t i = 0; i < planner->form.updated_count; i++)
        if (text_equal(planner->form.updated[i], name))
            return true;
    return false;
}

/* Its columns are never null, of types whose equality is pg_catalog's, and not set by an UPDATE. */
static bool key_finds_old_row(const struct planner *planner, const struct key *key)
{
    for (size_t i = 0; i < key->column_count; i++) {
        const struct column *column =
            relation_column_by_number(planner->relation, key->columns[i]);
        const struct type *type =
            column != NULL ? catalog_type_by_oid(planner->catalog, column->type) : NULL;
        if (type == NULL || !column->not_null || !text_is(type->schema, "pg_catalog") ||
            sets_column(planner, column->name))
            return false;
    }
    return key->column_count > 0;
}

static const struct key *choose_key(const struct planner *planner)
{
    const struct key *chosen = NULL;
    for (size_t i = 0; i < planner->relation->key_count; i++) {
        const struct key *key = &planner->relation->keys[i];
        if (key_finds_old_row(planner, key) && (chosen == NULL || key->primary))
            chosen = key;
    }
    return chosen;
}

/* The view's column of that name and type, through which a key's column seems to be seen; NULL: none. */
static const struct column *shown_column(const struct planner *planner,
                                         const struct column *of_table)
{
    for (size_t i = 0; of_table != NULL && i < planner->relation->column_count; i++) {
        const struct column *column = &planner->relation->columns[i];
        if (text_equal(column->name, of_table->name) && column->type == of_table->type)
            return column;
    }
    return NULL;
}

static const struct key *shown_key(const struct planner *planner, const struct relation *table,
                                   const struct key *key)
{
    int16_t *columns = arena_array(planner->arena, key->column_count, sizeof *columns);
    struct key *shown = arena_allocate(planner->arena, sizeof *shown);
    for (size_t i = 0; i < key->column_count; i++) {
        const struct column *of_table = relation_column_by_number(table, key->columns[i]);
        const struct column *column = shown_column(planner, of_table);
        const struct type *type =
            column != NULL ? catalog_type_by_oid(planner->catalog, column->type) : NULL;
        if (type == NULL || !of_table->not_null || !text_is(type->schema, "pg_catalog") ||
            sets_column(planner, column->name))
            return NULL;
        columns[i] = column->number;
    }
    *shown = (struct key){.primary = key->primary, .columns = columns, .column_count = key->column_count};
    return key->column_count > 0 ? shown : NULL;
}

/* A view's definition is not taken apart: that a column is a key is proved by each row that is looked
 * for, of which there must be one. */
static const struct key *choose_key_of_view(const struct planner *planner)
{
    for (size_t i = 0; i < planner->relation->source_count; i++) {
        const struct relation *table =
            catalog_relation_by_oid(planner->catalog, planner->relation->sources[i].relation);
        for (size_t k = 0; table != NULL && k < table->key_count; k++) {
            const struct key *shown = shown_key(planner, table, &table->keys[k]);
            if (shown != NULL)
                return shown;
        }
    }
    return NULL;
}

static bool is_view(const struct planner *planner) { return planner->relation->kind == 'v'; }

static bool needs_old_row(const struct planner *planner)
{
    return planner->form.verb == VERB_UPDATE || planner->form.conflict_updates;
}

static bool can_tell_rows(struct planner *planner, struct text sql)
{
    if (planner->relation == NULL || !write_form(planner->arena, sql, &planner->form) ||
        text_starts_with(planner->form.target, OWN_NAMES) ||
        !relation_has_binary_form(planner->catalog, planner->relation))
        return false;
    /* Triggers of a view decide which row is returned; no old row may be an inserted one, or several. */
    if (is_view(planner) && (planner->relation->has_triggers || planner->form.conflict_updates))
        return false;
    planner->key = is_view(planner) ? choose_key_of_view(planner) : choose_key(planner);
    return planner->key != NULL || !needs_old_row(planner);
}

/* --- the appended columns -------------------------------------------------------------------------- */

/* (SELECT expression FROM t AS pgwicket_old WHERE its key is the row's) */
static struct text from_old_row(struct planner *planner, struct text expression)
{
    struct buffer out;
    buffer_init(&out, LIMIT_PRINT_BYTES);
    buffer_printf(&out, "(SELECT %.*s FROM %.*s AS " OLD_ROW " WHERE ", TEXT_ARGS(expression),
                  TEXT_ARGS(planner->form.relation));
    for (size_t i = 0; i < planner->key->column_count; i++) {
        const struct column *column =
            relation_column_by_number(planner->relation, planner->key->columns[i]);
        struct text name = form_identifier(planner->arena, column->name);
        buffer_printf(&out, "%s" OLD_ROW ".%.*s OPERATOR(pg_catalog.=) %.*s.%.*s",
                      i > 0 ? " AND " : "", TEXT_ARGS(name), TEXT_ARGS(planner->form.target),
                      TEXT_ARGS(name));
    }
    if (planner->relation->has_children)
        buffer_printf(&out, " AND " OLD_ROW ".tableoid OPERATOR(pg_catalog.=) %.*s.tableoid",
                      TEXT_ARGS(planner->form.target));
    buffer_append_string(&out, is_view(planner) ? " LIMIT 1)" : ")");
    struct text text = arena_text(planner->arena, buffer_text(&out));
    buffer_release(&out);
    return text;
}

/* With the keys of the rows that its cascades reach. */
static struct text digest_of_row(const struct planner *planner, struct text row)
{
    struct text children = planner->children.sql;
    return arena_printf(planner->arena, "pg_catalog.sha256(pg_catalog.record_send(%.*s.*))%s%.*s",
                        TEXT_ARGS(row), children.size > 0 ? " OPERATOR(pg_catalog.||) " : "",
                        TEXT_ARGS(children));
}

/* Of a view NULL where there are several such rows. */
static struct text digest_of_old_row(struct planner *planner)
{
    struct text digest = digest_of_row(planner, TEXT(OLD_ROW));
    if (is_view(planner))
        digest = arena_printf(planner->arena,
                              "CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.=) 1 THEN "
                              "pg_catalog.string_agg(%.*s, '') END",
                              TEXT_ARGS(digest));
    return from_old_row(planner, digest);
}

static struct text column_name(const struct planner *planner, size_t index)
{
    struct text name = planner->form.columns[index].name;
    if (name.size > 0 || index >= planner->relation->column_count)
        return name;
    return planner->relation->columns[index].name;
}

/* A trigger may put others in their place; they are left out where the old row and the text say it all. */
static bool is_compared(const struct planner *planner, const struct form_column *column)
{
    return column->bound && (column->reads_others || !planner->relation->has_triggers);
}

/* The new values that text and data decide, as one row; empty if there are none. */
static struct text bound_values(struct planner *planner)
{
    struct buffer out;
    bool any = false;
    buffer_init(&out, LIMIT_HELD_BYTES);
    buffer_append_string(&out, "pg_catalog.sha256(pg_catalog.record_send(ROW(");
    for (size_t i = 0; i < planner->form.column_count; i++) {
        struct text name = column_name(planner, i);
        if (!is_compared(planner, &planner->form.columns[i]) || name.size == 0)
            continue;
        buffer_printf(&out, "%s%.*s.%.*s", any ? ", " : "", TEXT_ARGS(planner->form.target),
                      TEXT_ARGS(form_identifier(planner->arena, name)));
        any = true;
    }
    buffer_append_string(&out, ")))");
    struct text text = any ? arena_text(planner->arena, buffer_text(&out)) : (struct text){0};
    buffer_release(&out);
    return text;
}

/* Digests of what is bound, one behind the other: 32 bytes each, those of children with their foreign key
 * in them, so that it is clear which is which. */
static struct text fingerprint(struct planner *planner)
{
    struct arena *arena = planner->arena;
    struct text values = bound_values(planner);
    if (planner->form.verb == VERB_DELETE)
        return arena_printf(arena, "pg_catalog.encode(%.*s, 'hex')",
                            TEXT_ARGS(digest_of_row(planner, planner->form.target)));
    struct text old_row = {0};
    if (planner->form.conflict_updates)
        old_row = arena_printf(arena, "COALESCE(%.*s, pg_catalog.sha256('')) OPERATOR(pg_catalog.||) ",
                               TEXT_ARGS(digest_of_old_row(planner)));
    else if (planner->form.verb == VERB_UPDATE)
        old_row = arena_printf(arena, "%.*s OPERATOR(pg_catalog.||) ",
                               TEXT_ARGS(digest_of_old_row(planner)));
    if (values.size == 0)
        values = TEXT("pg_catalog.sha256('')");
    return arena_printf(arena, "pg_catalog.encode(%.*s%.*s, 'hex')", TEXT_ARGS(old_row),
                        TEXT_ARGS(values));
}

static struct text image(struct planner *planner)
{
    struct text own = arena_printf(planner->arena, "pg_catalog.row_to_json(%.*s.*)",
                                   TEXT_ARGS(planner->form.target));
    struct text old_row = TEXT("NULL"), new_row = own;
    if (planner->form.verb == VERB_DELETE) {
        old_row = own;
        new_row = TEXT("NULL");
    } else if (needs_old_row(planner)) {
        old_row = from_old_row(planner, TEXT("pg_catalog.row_to_json(" OLD_ROW ".*)"));
    }
    return arena_printf(planner->arena,
                        "pg_catalog.json_build_object('old', %.*s, 'new', %.*s)::pg_catalog.text",
                        TEXT_ARGS(old_row), TEXT_ARGS(new_row));
}

/* --- the plan --------------------------------------------------------------------------------------- */

static void describe_key(struct planner *planner)
{
    size_t count = planner->key != NULL ? planner->key->column_count : 0;
    struct text *names = arena_array(planner->arena, count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = relation_column_by_number(planner->relation, planner->key->columns[i])->name;
    planner->plan->key = names;
    planner->plan->key_count = count;
}

static void describe_columns(struct planner *planner)
{
    size_t count = planner->form.column_count, later = 0, kept = 0;
    struct text *changed = arena_array(planner->arena, count, sizeof *changed);
    struct text *decided_later = arena_array(planner->arena, count, sizeof *decided_later);
    for (size_t i = 0; i < count; i++) {
        struct text name = column_name(planner, i);
        if (name.size == 0)
            continue;
        changed[kept++] = name;
        if (!planner->form.columns[i].bound)
            decided_later[later++] = name;
    }
    planner->plan->changed = changed;
    planner->plan->changed_count = kept;
    planner->plan->decided_later = decided_later;
    planner->plan->decided_later_count = later;
}

/* What the statement does to rows that are there, and through their foreign keys to others. */
static void plan_children(struct planner *planner)
{
    const struct relation *table = planner->relation;
    bool deletes = planner->form.verb == VERB_DELETE;
    int16_t *columns = arena_array(planner->arena, table->column_count, sizeof *columns);
    struct written_row row = {.table = table,
                              .alias = deletes ? planner->form.target : TEXT(OLD_ROW),
                              .verb = deletes ? VERB_DELETE : VERB_UPDATE,
                              .columns = columns};
    for (size_t i = 0; i < table->column_count; i++)
        if (sets_column(planner, table->columns[i].name))
            columns[row.column_count++] = table->columns[i].number;
    if (deletes || needs_old_row(planner))
        measure_children(planner->arena, planner->catalog, &row, &planner->children);
    /* Of an upsert, no old row says that it was inserted. */
    if (planner->form.conflict_updates && planner->children.may_be_null)
        planner->children = (struct children){.unknown = true};
}

static const struct action *only_write(const struct shape *shape)
{
    if (shape->kind != STATEMENT_WRITE || !shape->tag_counts_writes)
        return NULL;
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct action *action = &shape->actions[i];
        bool writes = action->verb == VERB_INSERT || action->verb == VERB_UPDATE ||
                      action->verb == VERB_DELETE;
        if (writes && action->part == PART_STATEMENT)
            return action;
    }
    return NULL;
}

/* INSERT of SELECT * fills as many leading columns as the walk has found. */
static void count_stars(struct planner *planner, const struct action *write)
{
    struct write_form *form = &planner->form;
    if (!form->star_bound)
        return;
    struct form_column *columns = arena_array(planner->arena, write->column_count, sizeof *columns);
    for (size_t i = 0; i < write->column_count; i++)
        columns[i] = (struct form_column){.bound = true, .reads_others = true};
    form->columns = columns;
    form->column_count = write->column_count;
}

void measure_plan(struct arena *arena, const struct shape *shape, const struct catalog *catalog,
                  struct text sql, enum measured_part part, struct measure_plan *plan)
{
    const struct action *write = only_write(shape);
    struct planner planner = {.arena = arena,
                              .catalog = catalog,
                              .relation = write != NULL ? write->relation : NULL,
                              .plan = plan};
    *plan = (struct measure_plan){.sql = sql};
    if (catalog == NULL || !can_tell_rows(&planner, sql))
        return;
    count_stars(&planner, write);
    describe_columns(&planner);
    if (part == MEASURED_COUNTS)
        return;
    describe_key(&planner);
    plan_children(&planner);
    plan->with_children = planner.children.sql.size > 0;
    plan->children_unknown = planner.children.unknown;
    if (part == MEASURED_TARGET && plan->with_children) {
        plan->children_unknown = true;
        planner.children.sql = (struct text){0};
    }
    plan->through_view = is_view(&planner);
    plan->relation = planner.relation;
    plan->select_rows = planner.form.select_rows;
    plan->appended = 2;
    plan->sql = arena_printf(arena, "%.*s%s%.*s AS pgwicket_row, %.*s AS pgwicket_image",
                             TEXT_ARGS(sql), planner.form.has_returning ? ", " : " RETURNING ",
                             TEXT_ARGS(fingerprint(&planner)), TEXT_ARGS(image(&planner)));
}
