/*
 * measure_children.c - see measure_children.h.
 *
 * For each foreign key whose action the statement sets off a sub-select, correlated with the parent's
 * row, gives a digest of the keys of its children (where they have none: of their rows), and within it
 * likewise those of their own children:
 *
 *   (SELECT digest of all k, NULL if one is, '' if none
 *      FROM (SELECT digest of (oid, attnums, key) || … AS k FROM ONLY child WHERE child's columns = parent's))
 *
 * That is what the server's own queries for the action look up, so it costs about as much as they do.
 * What row security would hide from the agent, or what cannot be compared as the server does, makes
 * the children unknown.
 */
#include "proxy/session/measure_children.h"

#include "parser/form.h"
#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"

#include <inttypes.h>
#include <string.h>

#define EQUALS " OPERATOR(pg_catalog.=) "
#define JOINED " OPERATOR(pg_catalog.||) "

/* Circles of foreign keys never end: behind so many levels it is only looked whether there is more. */
enum { DEPTH_MAX = 6 };

struct tracer {
    struct arena *arena;
    const struct catalog *catalog;
    struct children *children;
    size_t nodes;
};

/* --- which foreign keys ------------------------------------------------------------------------------- */

static bool changes_one_of(const struct written_row *row, const int16_t *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < row->column_count; j++)
            if (columns[i] == row->columns[j])
                return true;
    return false;
}

static bool is_action(char letter) { return letter == 'c' || letter == 'n' || letter == 'd'; }

static bool acts(const struct written_row *row, const struct foreign_key *key)
{
    if (row->verb == VERB_DELETE)
        return is_action(key->on_delete);
    return is_action(key->on_update) && changes_one_of(row, key->parent_columns, key->column_count);
}

static bool same_columns(const int16_t *a, const int16_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool is_parent_of(uint32_t oid, const struct relation *child)
{
    for (size_t i = 0; i < child->parent_count; i++)
        if (child->parents[i] == oid)
            return true;
    return false;
}

/* A partition has its own copy of the foreign key of its table, which has its rows. */
static bool is_copy(const struct written_row *row, const struct foreign_key *key,
                    const struct relation *child)
{
    for (size_t i = 0; child->is_partition && i < row->table->referenced_by_count; i++) {
        const struct foreign_key *other = &row->table->referenced_by[i];
        if (is_parent_of(other->child, child) && other->column_count == key->column_count &&
            same_columns(other->parent_columns, key->parent_columns, key->column_count))
            return true;
    }
    return false;
}

static bool has_likewise(const struct relation *table, const struct foreign_key *key)
{
    for (size_t i = 0; i < table->referenced_by_count; i++) {
        const struct foreign_key *own = &table->referenced_by[i];
        if (own->child == key->child && own->column_count == key->column_count &&
            same_columns(own->child_columns, key->child_columns, key->column_count))
            return true;
    }
    return false;
}

static bool has_no_others(const struct written_row *row, const struct relation *descendant)
{
    for (size_t i = 0; i < descendant->referenced_by_count; i++) {
        const struct foreign_key *key = &descendant->referenced_by[i];
        char letter = row->verb == VERB_DELETE ? key->on_delete : key->on_update;
        if (is_action(letter) && !has_likewise(row->table, key))
            return false;
    }
    return true;
}

/* Are the foreign keys that point at its partitions and heirs its own? The server's actions leave heirs
 * alone. */
static bool speaks_for_descendants(struct tracer *tracer, const struct written_row *row)
{
    size_t count = 0;
    if (!row->table->has_children || (row->depth > 0 && row->table->kind != 'p'))
        return true;
    const struct relation *const *descendants =
        catalog_children(tracer->catalog, tracer->arena, row->table, &count);
    for (size_t i = 0; i < count; i++)
        if (!has_no_others(row, descendants[i]))
            return false;
    return true;
}

/* --- their text ----------------------------------------------------------------------------------------- */

static struct text unknown(struct tracer *tracer)
{
    tracer->children->unknown = true;
    return TEXT("''");
}

static struct text taken(struct tracer *tracer, struct buffer *out)
{
    tracer->children->unknown = tracer->children->unknown || out->overflow;
    struct text text = arena_text(tracer->arena, buffer_text(out));
    buffer_release(out);
    return text;
}

static bool has_plain_equality(const struct catalog *catalog, const struct column *column)
{
    const struct type *type = column != NULL ? catalog_type_by_oid(catalog, column->type) : NULL;
    if (type != NULL && type->kind == 'd')
        type = catalog_type_by_oid(catalog, type->base);
    return type != NULL && (type->kind == 'e' || text_is(type->schema, "pg_catalog"));
}

/* FROM ONLY shop.order_items AS pgwicket_c1 WHERE pgwicket_c1.order_id = orders.id */
static struct text from_children(struct tracer *tracer, const struct written_row *parent,
                                 const struct foreign_key *key, const struct written_row *child)
{
    struct buffer out;
    buffer_init(&out, LIMIT_HELD_BYTES);
    buffer_printf(&out, "FROM %s%.*s.%.*s AS %.*s WHERE ", child->table->kind == 'p' ? "" : "ONLY ",
                  TEXT_ARGS(form_identifier(tracer->arena, child->table->schema)),
                  TEXT_ARGS(form_identifier(tracer->arena, child->table->name)),
                  TEXT_ARGS(child->alias));
    for (size_t i = 0; i < key->column_count; i++) {
        const struct column *to = relation_column_by_number(parent->table, key->parent_columns[i]);
        const struct column *from = relation_column_by_number(child->table, key->child_columns[i]);
        if (!has_plain_equality(tracer->catalog, to) || !has_plain_equality(tracer->catalog, from)) {
            (void)unknown(tracer);
            break;
        }
        buffer_printf(&out, "%s%.*s.%.*s" EQUALS "%.*s.%.*s", i > 0 ? " AND " : "",
                      TEXT_ARGS(child->alias),
                      TEXT_ARGS(form_identifier(tracer->arena, from->name)),
                      TEXT_ARGS(parent->alias), TEXT_ARGS(form_identifier(tracer->arena, to->name)));
    }
    return taken(tracer, &out);
}

static bool is_usable(const struct catalog *catalog, const struct relation *table,
                      const struct key *key)
{
    for (size_t i = 0; i < key->column_count; i++) {
        const struct column *column = relation_column_by_number(table, key->columns[i]);
        if (column == NULL || !column->not_null || !type_has_binary_form(catalog, column->type))
            return false;
    }
    return key->column_count > 0;
}

/* The primary key comes first in the list. */
static const struct key *key_of(const struct catalog *catalog, const struct relation *table)
{
    for (size_t i = 0; i < table->key_count; i++)
        if (is_usable(catalog, table, &table->keys[i]))
            return &table->keys[i];
    return NULL;
}

/* The digest of what tells a child from others: its foreign key, and its key or all of it. */
static struct text identity(struct tracer *tracer, const struct foreign_key *foreign,
                            const struct written_row *child)
{
    struct buffer out;
    const struct key *key = key_of(tracer->catalog, child->table);
    if (key == NULL && !relation_has_binary_form(tracer->catalog, child->table))
        return unknown(tracer);
    buffer_init(&out, LIMIT_HELD_BYTES);
    buffer_printf(&out, "pg_catalog.sha256(pg_catalog.record_send(ROW(%" PRIu32, foreign->child);
    for (size_t i = 0; i < foreign->column_count; i++)
        buffer_printf(&out, ", %d", foreign->child_columns[i]);
    for (size_t i = 0; key != NULL && i < key->column_count; i++) {
        const struct column *column = relation_column_by_number(child->table, key->columns[i]);
        buffer_printf(&out, ", %.*s.%.*s", TEXT_ARGS(child->alias),
                      TEXT_ARGS(form_identifier(tracer->arena, column->name)));
    }
    if (key == NULL)
        buffer_printf(&out, ", %.*s.*", TEXT_ARGS(child->alias));
    buffer_append_string(&out, ")))");
    return taken(tracer, &out);
}

static struct text children_of(struct tracer *tracer, const struct written_row *row);

static struct text through_key(struct tracer *tracer, const struct written_row *row,
                               const struct foreign_key *key, const struct relation *table)
{
    size_t number = ++tracer->nodes;
    if (number > LIMIT_CASCADES_FOLLOWED || table->row_security)
        return unknown(tracer);
    const struct written_row child = {
        .table = table,
        .alias = arena_printf(tracer->arena, "pgwicket_c%zu", number),
        .verb = row->verb == VERB_DELETE && key->on_delete == 'c' ? VERB_DELETE : VERB_UPDATE,
        .columns = key->child_columns,
        .column_count = key->column_count,
        .depth = row->depth + 1};
    struct text from = from_children(tracer, row, key, &child);
    if (row->depth == DEPTH_MAX) {
        tracer->children->may_be_null = true;
        return arena_printf(tracer->arena,
                            "CASE WHEN NOT EXISTS (SELECT 1 %.*s) THEN ''::pg_catalog.bytea END",
                            TEXT_ARGS(from));
    }
    struct text own = identity(tracer, key, &child);
    struct text next = children_of(tracer, &child);
    return arena_printf(tracer->arena,
                        "(SELECT CASE WHEN pg_catalog.count(*)" EQUALS
                        "pg_catalog.count(pgwicket_r.k) THEN COALESCE(pg_catalog.sha256("
                        "pg_catalog.string_agg(pgwicket_r.k, '' ORDER BY pgwicket_r.k)), '') END FROM (SELECT %.*s%s%.*s AS k %.*s) AS pgwicket_r)",
                        TEXT_ARGS(own), next.size > 0 ? JOINED : "", TEXT_ARGS(next),
                        TEXT_ARGS(from));
}

static struct text children_of(struct tracer *tracer, const struct written_row *row)
{
    struct buffer out;
    buffer_init(&out, LIMIT_HELD_BYTES);
    if (!speaks_for_descendants(tracer, row))
        (void)unknown(tracer);
    for (size_t i = 0; i < row->table->referenced_by_count && !tracer->children->unknown; i++) {
        const struct foreign_key *key = &row->table->referenced_by[i];
        const struct relation *child = catalog_relation_by_oid(tracer->catalog, key->child);
        if (!acts(row, key) || (child != NULL && is_copy(row, key, child)))
            continue;
        if (out.size > 0)
            buffer_append_string(&out, JOINED);
        buffer_append_text(&out, child != NULL ? through_key(tracer, row, key, child)
                                               : unknown(tracer));
    }
    return taken(tracer, &out);
}

void measure_children(struct arena *arena, const struct catalog *catalog, const struct written_row *row,
                      struct children *children)
{
    struct tracer tracer = {.arena = arena, .catalog = catalog, .children = children};
    *children = (struct children){0};
    children->sql = children_of(&tracer, row);
    if (children->unknown)
        children->sql = (struct text){0};
}
