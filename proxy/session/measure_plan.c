/*
 * measure_plan.c - the statement with its rows' fingerprints appended to its own RETURNING.
 *
 * The old row comes from a sub-select in RETURNING, which sees the state before the statement, by a key
 * that the statement does not change. Where there is no such key, where a type has no binary form, or
 * where the statement is no plain write, only the counters tell what it does.
 *
 * Every name of ours is qualified: nothing on the search path can take its place.
 */
#include "proxy/session/measure.h"

#include "proxy/base/limits.h"

#define OLD_ROW "pgwicket_old"

struct planner {
    struct arena *arena;
    const struct catalog *catalog;
    const struct relation *relation;
    struct write_form form;
    const struct key *key; /* finds the old row; NULL: none */
    struct measure_plan *plan;
};

/* --- what can be told by rows --------------------------------------------------------------------- */

static bool has_binary_form(const struct catalog *catalog, uint32_t oid, int depth);

static bool composite_has_binary_form(const struct catalog *catalog, const struct type *type,
                                      int depth)
{
    const struct relation *relation = catalog_relation_by_oid(catalog, type->relation);
    for (size_t i = 0; relation != NULL && i < relation->column_count; i++)
        if (!has_binary_form(catalog, relation->columns[i].type, depth))
            return false;
    return relation != NULL;
}

/* Of the types that PostgreSQL comes with only these have none. */
static bool is_without_send(const struct type *type)
{
    return text_is(type->name, "aclitem") || text_is(type->name, "gtsvector");
}

static bool has_binary_form(const struct catalog *catalog, uint32_t oid, int depth)
{
    enum { NESTING_MAX = 8 };
    const struct type *type = catalog_type_by_oid(catalog, oid);
    if (type == NULL || depth > NESTING_MAX || type->user_input || is_without_send(type))
        return false;
    if (type->kind == 'c')
        return composite_has_binary_form(catalog, type, depth + 1);
    return type->base == 0 || has_binary_form(catalog, type->base, depth + 1);
}

static bool relation_has_binary_form(const struct planner *planner)
{
    for (size_t i = 0; i < planner->relation->column_count; i++)
        if (!has_binary_form(planner->catalog, planner->relation->columns[i].type, 0))
            return false;
    return planner->relation->column_count > 0;
}

static bool sets_column(const struct planner *planner, struct text name)
{
    for (size_t i = 0; i < planner->form.column_count; i++)
        if (text_equal(planner->form.columns[i].name, name))
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
            (planner->form.verb == VERB_UPDATE && sets_column(planner, column->name)))
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

static bool needs_old_row(const struct planner *planner)
{
    return planner->form.verb == VERB_UPDATE || planner->form.conflict_updates;
}

static bool can_tell_rows(struct planner *planner, struct text sql)
{
    if (planner->relation == NULL || !write_form(planner->arena, sql, &planner->form) ||
        text_is(planner->form.target, OLD_ROW) || !relation_has_binary_form(planner))
        return false;
    planner->key = choose_key(planner);
    return planner->key != NULL || !needs_old_row(planner);
}

/* --- the appended columns -------------------------------------------------------------------------- */

/* (SELECT expression FROM t AS pgwicket_old WHERE its key is the row's) */
static struct text from_old_row(struct planner *planner, const char *expression)
{
    struct buffer out;
    buffer_init(&out, LIMIT_HELD_BYTES);
    buffer_printf(&out, "(SELECT %s FROM %.*s AS " OLD_ROW " WHERE ", expression,
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
    buffer_append_byte(&out, ')');
    struct text text = arena_text(planner->arena, buffer_text(&out));
    buffer_release(&out);
    return text;
}

static struct text column_name(const struct planner *planner, size_t index)
{
    struct text name = planner->form.columns[index].name;
    if (name.size > 0 || index >= planner->relation->column_count)
        return name;
    return planner->relation->columns[index].name;
}

/* The new values that the text decides, as one row; empty if there are none. A trigger may put others in
 * their place; they are left out where the old row and the text say it all. */
static struct text bound_values(struct planner *planner)
{
    if (planner->relation->has_triggers && !planner->form.reads_others)
        return TEXT("");
    struct buffer out;
    bool any = false;
    buffer_init(&out, LIMIT_HELD_BYTES);
    buffer_append_string(&out, "pg_catalog.sha256(pg_catalog.record_send(ROW(");
    for (size_t i = 0; i < planner->form.column_count; i++) {
        struct text name = column_name(planner, i);
        if (!planner->form.columns[i].bound || name.size == 0)
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

/* Digests of what is bound, one behind the other: 32 bytes each, so that their border is clear. */
static struct text fingerprint(struct planner *planner)
{
    static const char digest_of_old[] =
        "pg_catalog.sha256(pg_catalog.record_send(" OLD_ROW ".*))";
    struct arena *arena = planner->arena;
    struct text target = planner->form.target;
    struct text values = bound_values(planner);
    if (planner->form.verb == VERB_DELETE)
        return arena_printf(arena,
                            "pg_catalog.encode(pg_catalog.sha256(pg_catalog.record_send(%.*s.*)), "
                            "'hex')",
                            TEXT_ARGS(target));
    struct text old_row = {0};
    if (planner->form.conflict_updates)
        old_row = arena_printf(arena, "COALESCE(%.*s, pg_catalog.sha256('')) OPERATOR(pg_catalog.||) ",
                               TEXT_ARGS(from_old_row(planner, digest_of_old)));
    else if (planner->form.verb == VERB_UPDATE)
        old_row = arena_printf(arena, "%.*s OPERATOR(pg_catalog.||) ",
                               TEXT_ARGS(from_old_row(planner, digest_of_old)));
    if (values.size == 0)
        values = TEXT("pg_catalog.sha256('')");
    return arena_printf(arena, "pg_catalog.encode(%.*s%.*s, 'hex')", TEXT_ARGS(old_row),
                        TEXT_ARGS(values));
}

static struct text image(struct planner *planner)
{
    static const char old_as_json[] = "pg_catalog.row_to_json(" OLD_ROW ".*)";
    struct text own = arena_printf(planner->arena, "pg_catalog.row_to_json(%.*s.*)",
                                   TEXT_ARGS(planner->form.target));
    struct text old_row = TEXT("NULL"), new_row = own;
    if (planner->form.verb == VERB_DELETE) {
        old_row = own;
        new_row = TEXT("NULL");
    } else if (needs_old_row(planner)) {
        old_row = from_old_row(planner, old_as_json);
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

static const struct relation *only_target(const struct shape *shape)
{
    if (shape->kind != STATEMENT_WRITE || !shape->tag_counts_writes)
        return NULL;
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct action *action = &shape->actions[i];
        bool writes = action->verb == VERB_INSERT || action->verb == VERB_UPDATE ||
                      action->verb == VERB_DELETE;
        if (writes && action->part == PART_STATEMENT)
            return action->relation;
    }
    return NULL;
}

void measure_plan(struct arena *arena, const struct shape *shape, const struct catalog *catalog,
                  struct text sql, bool rows, bool images, struct measure_plan *plan)
{
    struct planner planner = {.arena = arena,
                              .catalog = catalog,
                              .relation = only_target(shape),
                              .plan = plan};
    *plan = (struct measure_plan){.sql = sql};
    if (catalog == NULL || !can_tell_rows(&planner, sql))
        return;
    describe_columns(&planner);
    if (!rows)
        return;
    describe_key(&planner);
    plan->select_rows = planner.form.select_rows;
    plan->appended = images ? 2 : 1;
    plan->sql = arena_printf(arena, "%.*s%s%.*s AS pgwicket_row%s%.*s%s", TEXT_ARGS(sql),
                             planner.form.has_returning ? ", " : " RETURNING ",
                             TEXT_ARGS(fingerprint(&planner)), images ? ", " : "",
                             TEXT_ARGS(images ? image(&planner) : TEXT("")),
                             images ? " AS pgwicket_image" : "");
}
