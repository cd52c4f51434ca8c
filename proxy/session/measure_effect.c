/*
 * measure_effect.c - two snapshots → what happened between them, table by table, with why each table is
 * in the list.
 *
 * Counters are of the transaction, so only differences count. What the counters cannot have seen
 * (a table emptied or altered in passing, a server that does not count, a tag with more rows than the
 * counters) makes the effect unknown. Where the server knows of foreign keys, partitions or heirs that the catalog
 * does not have, counts are what is bound.
 */
#include "proxy/session/measure.h"

#include "proxy/base/cursor.h"
#include "rules/reach.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Names of ours are qualified, operators, too: nothing on the search path can take their place. */
const char measure_snapshot_sql[] =
    "SELECT pg_catalog.json_build_object("
    "'counting', pg_catalog.current_setting('track_counts'), "
    "'counts', (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(s.relid::pg_catalog.int8, "
    "pg_catalog.format('%I.%I', s.schemaname, s.relname), s.n_tup_ins, s.n_tup_upd, s.n_tup_del)) "
    "FROM pg_catalog.pg_stat_xact_all_tables s WHERE s.schemaname OPERATOR(pg_catalog.<>) ALL "
    "(ARRAY['pg_catalog', 'information_schema', 'pg_toast']::pg_catalog.name[]) AND "
    "(s.n_tup_ins OPERATOR(pg_catalog.+) s.n_tup_upd OPERATOR(pg_catalog.+) s.n_tup_del) "
    "OPERATOR(pg_catalog.>) 0), "
    "'sequences', (SELECT pg_catalog.json_object_agg(pg_catalog.format('%I.%I', q.schemaname, "
    "q.sequencename), pg_catalog.json_build_array(q.start_value, q.increment_by, q.last_value, "
    "(SELECT pg_catalog.has_sequence_privilege(c.oid, 'SELECT, USAGE') FROM pg_catalog.pg_class c JOIN "
    "pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace WHERE n.nspname OPERATOR(pg_catalog.=) "
    "q.schemaname AND c.relname OPERATOR(pg_catalog.=) q.sequencename))) "
    "FROM pg_catalog.pg_sequences q), "
    "'locks', (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(l.relation::pg_catalog.int8, "
    "pg_catalog.format('%I.%I', n.nspname, c.relname), c.relkind::pg_catalog.text, l.mode)) "
    "FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) "
    "l.relation JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace "
    "WHERE l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND l.locktype "
    "OPERATOR(pg_catalog.=) 'relation' AND l.mode OPERATOR(pg_catalog.<>) 'AccessShareLock' AND "
    "n.nspname OPERATOR(pg_catalog.<>) ALL (ARRAY['pg_catalog', 'information_schema', "
    "'pg_toast']::pg_catalog.name[])), "
    "'triggers', (SELECT pg_catalog.json_agg(pg_catalog.json_build_array("
    "t.tgrelid::pg_catalog.int8, pg_catalog.format('%I.%I', n.nspname, c.relname), "
    "pg_catalog.format('%I, %I.%I() in %s', t.tgname, s.nspname, p.proname, g.lanname), "
    "t.tgtype::pg_catalog.int4) ORDER BY n.nspname, c.relname, t.tgname) "
    "FROM (SELECT DISTINCT l.relation FROM pg_catalog.pg_locks l WHERE l.pid "
    "OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND l.locktype OPERATOR(pg_catalog.=) "
    "'relation' AND l.mode OPERATOR(pg_catalog.<>) 'AccessShareLock') locked "
    "JOIN pg_catalog.pg_trigger t ON t.tgrelid OPERATOR(pg_catalog.=) locked.relation "
    "JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.tgrelid "
    "JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace "
    "JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid "
    "JOIN pg_catalog.pg_namespace s ON s.oid OPERATOR(pg_catalog.=) p.pronamespace "
    "JOIN pg_catalog.pg_language g ON g.oid OPERATOR(pg_catalog.=) p.prolang "
    "WHERE NOT t.tgisinternal AND t.tgenabled OPERATOR(pg_catalog.=) ANY "
    "(ARRAY['O', 'A']::pg_catalog.\"char\"[])), "
    "'links', (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(k.parent::pg_catalog.int8, "
    "k.child::pg_catalog.int8, k.name, k.on_delete, k.on_update)) FROM (SELECT DISTINCT l.relation FROM "
    "pg_catalog.pg_locks l WHERE l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND l.locktype "
    "OPERATOR(pg_catalog.=) 'relation' AND l.mode OPERATOR(pg_catalog.<>) 'AccessShareLock') locked JOIN "
    "(SELECT confrelid, conrelid, conname, confdeltype, confupdtype FROM pg_catalog.pg_constraint WHERE contype "
    "OPERATOR(pg_catalog.=) 'f' UNION ALL SELECT inhparent, inhrelid, NULL, NULL, NULL FROM pg_catalog.pg_inherits) "
    "AS k(parent, child, name, on_delete, on_update) ON k.parent OPERATOR(pg_catalog.=) locked.relation))"
    "::pg_catalog.text";

struct observer {
    struct arena *arena;
    const struct catalog *catalog;
    const struct shape *shape;
    const struct reach *reach;
    json_t *before, *after;
    struct effect *effect;
    struct effect_table *tables;
    size_t table_count, table_capacity;
};

static void unknown(struct observer *observer, struct text why)
{
    *observer->effect = (struct effect){.row_count = -1, .why = why};
}

static struct text text_at(const json_t *array, size_t index)
{
    const json_t *item = json_array_get(array, index);
    return (struct text){json_string_value(item), json_string_length(item)};
}

static int64_t number_at(const json_t *array, size_t index)
{
    return json_integer_value(json_array_get(array, index));
}

/* --- counters --------------------------------------------------------------------------------------- */

static const json_t *counts_before(const struct observer *observer, int64_t oid)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(observer->before, "counts"), i, item)
        if (number_at(item, 0) == oid)
            return item;
    return NULL;
}

static struct effect_table *table_named(struct observer *observer, struct text name)
{
    for (size_t i = 0; i < observer->table_count; i++)
        if (text_equal(observer->tables[i].table, name))
            return &observer->tables[i];
    struct effect_table *table =
        arena_push(observer->arena, (void **)&observer->tables, &observer->table_count,
                   &observer->table_capacity, sizeof *table);
    *table = (struct effect_table){.table = arena_text(observer->arena, name), .total = -1};
    return table;
}

static struct text quoted_name(struct arena *arena, const struct relation *relation)
{
    return arena_printf(arena, "%.*s.%.*s",
                        TEXT_ARGS(form_identifier(arena, relation->schema)),
                        TEXT_ARGS(form_identifier(arena, relation->name)));
}

static void describe_reached(struct observer *observer, struct effect_table *table,
                             const struct reached *reached)
{
    table->via = VIA_TRIGGER;
    if (reached == NULL)
        return;
    table->via = reached->key != NULL ? VIA_CASCADE : VIA_TARGET;
    table->partitioned = reached->shown->kind == 'p';
    table->total = reached->shown->rows >= 0 ? (int64_t)reached->shown->rows : -1;
    if (reached->key == NULL)
        return;
    table->constraint = reached->key->name;
    table->action = text_from(reached->action);
    table->parent = quoted_name(observer->arena, reached->parent);
    table->depth = reached->depth;
}

static void observe_table(struct observer *observer, const json_t *item)
{
    int64_t oid = number_at(item, 0);
    const json_t *before = counts_before(observer, oid);
    int64_t change[3], sum = 0;
    for (size_t i = 0; i < 3; i++) {
        change[i] = number_at(item, i + 2) - number_at(before, i + 2);
        sum += change[i];
    }
    if (sum == 0)
        return;
    const struct reached *reached = reach_find(observer->reach, (uint32_t)oid);
    struct text name = reached != NULL ? quoted_name(observer->arena, reached->shown)
                                       : text_at(item, 1);
    struct effect_table *table = table_named(observer, name);
    describe_reached(observer, table, reached);
    table->inserted += change[0];
    table->updated += change[1];
    table->deleted += change[2];
}

/* A row that an UPDATE moves from one partition to another is deleted there and inserted here. */
static void join_moved_rows(struct observer *observer)
{
    if (!observer->reach->only_updates)
        return;
    for (size_t i = 0; i < observer->table_count; i++) {
        struct effect_table *table = &observer->tables[i];
        if (table->via != VIA_TARGET || !table->partitioned)
            continue;
        int64_t moved = table->inserted < table->deleted ? table->inserted : table->deleted;
        table->inserted -= moved;
        table->deleted -= moved;
        table->updated += moved;
    }
}

static int compare_tables(const void *a, const void *b)
{
    const struct effect_table *left = a, *right = b;
    if (left->via != right->via)
        return (left->via > right->via) - (left->via < right->via);
    if (left->depth != right->depth)
        return (left->depth > right->depth) - (left->depth < right->depth);
    return text_compare(left->table, right->table);
}

static void observe_counts(struct observer *observer)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(observer->after, "counts"), i, item)
        observe_table(observer, item);
    join_moved_rows(observer);
    if (observer->table_count > 1)
        qsort(observer->tables, observer->table_count, sizeof *observer->tables, compare_tables);
    observer->effect->tables = observer->tables;
    observer->effect->table_count = observer->table_count;
}

static bool has_text(const struct text *texts, size_t count, struct text text)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(texts[i], text))
            return true;
    return false;
}

/* --- locks and sequences ------------------------------------------------------------------------------ */

static bool held_before(const struct observer *observer, const json_t *lock)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(observer->before, "locks"), i, item)
        if (json_equal(item, lock))
            return true;
    return false;
}

struct text measure_lock_words(struct arena *arena, struct text mode)
{
    struct buffer out;
    buffer_init(&out, 64);
    struct text stem = text_front(mode, mode.size > 4 ? mode.size - 4 : 0);
    for (size_t i = 0; i < stem.size; i++) {
        bool capital = stem.bytes[i] >= 'A' && stem.bytes[i] <= 'Z';
        if (capital && i > 0)
            buffer_append_byte(&out, ' ');
        buffer_append_byte(&out, (uint8_t)(capital ? stem.bytes[i] - 'A' + 'a' : stem.bytes[i]));
    }
    struct text text = arena_text(arena, buffer_text(&out));
    buffer_release(&out);
    return text;
}

/* How often it was drawn from: others who do so at the same time are counted, too. */
static int64_t drawn(const json_t *before, const json_t *after)
{
    int64_t increment = number_at(after, 1);
    if (increment == 0 || json_is_null(json_array_get(after, 2)))
        return 0;
    bool fresh = before == NULL || json_is_null(json_array_get(before, 2));
    int64_t from = fresh ? number_at(after, 0) - increment : number_at(before, 2);
    return (number_at(after, 2) - from) / increment;
}

static bool is_drawn_from(const json_t *lock)
{
    return text_is(text_at(lock, 2), "S") && text_is(text_at(lock, 3), "RowExclusiveLock");
}

static void add_residue(struct observer *observer, const char *what, const char *name, int64_t by)
{
    struct effect *effect = observer->effect;
    struct effect_residue *residues = (struct effect_residue *)(uintptr_t)effect->not_undone;
    residues[effect->not_undone_count++] =
        (struct effect_residue){text_from(what), arena_text(observer->arena, text_from(name)), by};
}

/* Who may read a sequence sees by how much it moved (and locks all of these by looking); else its lock tells that it
 * was used. A sequence that this
 * session draws from is what lastval() tells of. */
static void observe_sequences(struct observer *observer)
{
    json_t *before = json_object_get(observer->before, "sequences");
    json_t *after = json_object_get(observer->after, "sequences");
    const json_t *locks = json_object_get(observer->after, "locks"), *lock;
    observer->effect->not_undone =
        arena_array(observer->arena, json_object_size(after) + json_array_size(locks) + 1,
                    sizeof *observer->effect->not_undone);
    const char *name;
    json_t *sequence;
    bool drew = false;
    json_object_foreach(after, name, sequence)
    {
        int64_t by = drawn(json_object_get(before, name), sequence);
        if (by != 0)
            add_residue(observer, "sequence", name, by);
    }
    size_t i;
    json_array_foreach(locks, i, lock)
    {
        const char *locked = is_drawn_from(lock) ? json_string_value(json_array_get(lock, 1)) : NULL;
        if (locked == NULL || json_object_get(before, locked) == NULL)
            continue; /* none, or one that it has made itself, which goes with the rollback */
        bool unread = json_is_false(json_array_get(json_object_get(after, locked), 3));
        if (unread)
            add_residue(observer, "sequence", locked, 0);
        drew = drew || unread || drawn(json_object_get(before, locked), json_object_get(after, locked)) != 0;
    }
    if (drew)
        add_residue(observer, "lastval", "", 0);
}

/* The catalog knows what the tables' code has in it, with what it calls and reaches. */
static void observe_notifications(struct observer *observer)
{
    const struct shape *shape = observer->shape;
    struct text *tables = arena_array(observer->arena, shape->action_count, sizeof *tables);
    size_t kept = 0;
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct relation *relation = shape->actions[i].relation;
        if (relation == NULL || !relation->notifies[verb_relation_use(shape->actions[i].verb)])
            continue;
        struct text name = quoted_name(observer->arena, relation);
        if (!has_text(tables, kept, name))
            tables[kept++] = name;
    }
    observer->effect->notifies = tables;
    observer->effect->notify_count = kept;
}

static void observe_locks(struct observer *observer)
{
    const json_t *locks = json_object_get(observer->after, "locks");
    size_t count = json_array_size(locks), kept = 0;
    struct effect_lock *shown = arena_array(observer->arena, count, sizeof *shown);
    for (size_t i = 0; i < count; i++) {
        const json_t *lock = json_array_get(locks, i);
        bool table = text_is(text_at(lock, 2), "r") || text_is(text_at(lock, 2), "p");
        if (table && !held_before(observer, lock))
            shown[kept++] =
                (struct effect_lock){arena_text(observer->arena, text_at(lock, 1)),
                                     measure_lock_words(observer->arena, text_at(lock, 3))};
    }
    observer->effect->locks = shown;
    observer->effect->lock_count = kept;
}

/* --- triggers ------------------------------------------------------------------------------------------- */

enum { ON_INSERT = 4, ON_DELETE = 8, ON_UPDATE = 16, ON_TRUNCATE = 32 }; /* of pg_trigger.tgtype */

static int events_by_counts(const struct observer *observer, int64_t oid)
{
    static const int events[] = {ON_INSERT, ON_UPDATE, ON_DELETE};
    const json_t *before = counts_before(observer, oid), *item;
    size_t i;
    int found = 0;
    json_array_foreach(json_object_get(observer->after, "counts"), i, item)
        for (size_t kind = 0; number_at(item, 0) == oid && kind < ARRAY_SIZE(events); kind++)
            if (number_at(item, kind + 2) != number_at(before, kind + 2))
                found |= events[kind];
    return found;
}

/* Triggers for each statement fire without a row, too. */
static int events_by_statement(const struct observer *observer, int64_t oid)
{
    int found = 0;
    for (size_t i = 0; i < observer->shape->action_count; i++) {
        const struct action *action = &observer->shape->actions[i];
        if (action->relation == NULL || action->relation->oid != oid)
            continue;
        found |= action->verb == VERB_INSERT ? ON_INSERT : 0;
        found |= action->verb == VERB_UPDATE ? ON_UPDATE : 0;
        found |= action->verb == VERB_DELETE ? ON_DELETE : 0;
        found |= action->verb == VERB_TRUNCATE ? ON_TRUNCATE : 0;
    }
    const struct reached *reached = reach_find(observer->reach, (uint32_t)oid);
    if (reached != NULL && reached->key != NULL)
        found |= ON_UPDATE | (text_is(text_from(reached->action), "cascade") ? ON_DELETE : 0);
    return found;
}

/* A partition's copy of a trigger is the trigger of the table that was named. */
static void observe_triggers(struct observer *observer)
{
    const json_t *triggers = json_object_get(observer->after, "triggers"), *item;
    size_t i, kept = 0;
    struct text *names = arena_array(observer->arena, json_array_size(triggers), sizeof *names);
    json_array_foreach(triggers, i, item)
    {
        int64_t oid = number_at(item, 0);
        const struct reached *reached = reach_find(observer->reach, (uint32_t)oid);
        struct text table = reached != NULL ? quoted_name(observer->arena, reached->shown)
                                            : text_at(item, 1);
        struct text name = arena_printf(observer->arena, "%.*s: %.*s", TEXT_ARGS(table),
                                        TEXT_ARGS(text_at(item, 2)));
        int events = events_by_counts(observer, oid) | events_by_statement(observer, oid);
        if ((events & number_at(item, 3)) != 0 && !has_text(names, kept, name))
            names[kept++] = name;
    }
    observer->effect->triggers = names;
    observer->effect->trigger_count = kept;
}

/* --- what the catalog has ---------------------------------------------------------------------------- */

static bool has_foreign_key(const struct relation *parent, const json_t *link)
{
    for (size_t i = 0; i < parent->referenced_by_count; i++) {
        const struct foreign_key *key = &parent->referenced_by[i];
        const char actions[][2] = {{key->on_delete}, {key->on_update}};
        if (key->child == number_at(link, 1) && text_equal(key->name, text_at(link, 2)) &&
            text_is(text_at(link, 3), actions[0]) && text_is(text_at(link, 4), actions[1]))
            return true;
    }
    return false;
}

static bool has_parent(const struct relation *child, uint32_t parent)
{
    for (size_t i = 0; child != NULL && i < child->parent_count; i++)
        if (child->parents[i] == parent)
            return true;
    return false;
}

static bool is_in_catalog(const struct observer *observer, const json_t *link)
{
    uint32_t parent = (uint32_t)number_at(link, 0);
    const struct relation *relation = catalog_relation_by_oid(observer->catalog, parent);
    if (!json_is_null(json_array_get(link, 2)))
        return relation != NULL && has_foreign_key(relation, link);
    return has_parent(catalog_relation_by_oid(observer->catalog, (uint32_t)number_at(link, 1)), parent);
}

/* Tables that only triggers write are bound by counts anyway, and what led nowhere needs nothing. */
static void bind_what_is_known(struct observer *observer)
{
    size_t i;
    const json_t *link;
    json_array_foreach(json_object_get(observer->after, "links"), i, link)
        if (reach_find(observer->reach, (uint32_t)number_at(link, 0)) != NULL &&
            events_by_counts(observer, number_at(link, 1)) != 0 && !is_in_catalog(observer, link))
            observer->effect->bound = EFFECT_BY_COUNTS;
}

/* --- what the counters cannot have seen --------------------------------------------------------------- */

static struct text emptied_in_passing(const struct effect *effect)
{
    for (size_t i = 0; i < effect->lock_count; i++)
        if (text_is(effect->locks[i].mode, "access exclusive"))
            return effect->locks[i].table;
    return TEXT("");
}

static bool tag_exceeds_counts(const struct observer *observer, int64_t tag_rows)
{
    int64_t counted = 0;
    for (size_t i = 0; i < observer->table_count; i++) {
        const struct effect_table *table = &observer->tables[i];
        if (table->via == VIA_TARGET)
            counted += table->inserted + table->updated + table->deleted;
    }
    return observer->shape->tag_counts_writes && observer->reach->counted && tag_rows > counted;
}

static bool explain_all(struct observer *observer, const struct measurement *measurement)
{
    bool ddl = observer->shape->ddl != DDL_NONE;
    struct text emptied = ddl ? TEXT("") : emptied_in_passing(observer->effect);
    if (emptied.size > 0)
        unknown(observer, arena_printf(observer->arena,
                                       "%.*s was emptied or altered by a trigger or function",
                                       TEXT_ARGS(emptied)));
    else if (tag_exceeds_counts(observer, measurement->tag_rows))
        unknown(observer, TEXT("the server reports more rows than its counters have"));
    else
        return true;
    return false;
}

/* --- objects --------------------------------------------------------------------------------------------- */

static const struct effect_object *table_object(const struct effect *effect, struct text table)
{
    for (size_t i = 0; i < effect->object_count; i++)
        if (text_equal(effect->objects[i].name, table))
            return &effect->objects[i];
    return NULL;
}

/* What is emptied or dropped is told as that; the counters then say nothing. */
static void observe_objects(struct observer *observer, const struct measurement *measurement)
{
    struct effect *effect = observer->effect;
    size_t kept = 0;
    measure_objects(observer->arena, observer->shape, &measurement->objects, effect);
    if (effect->bound == EFFECT_UNKNOWN)
        return;
    for (size_t i = 0; i < observer->table_count; i++) {
        struct effect_table table = observer->tables[i];
        const struct effect_object *object = table_object(effect, table.table);
        bool lost = object != NULL &&
                    (text_is(object->change, "emptied") || text_is(object->change, "dropped"));
        if (object != NULL && text_is(object->change, "created"))
            table.via = VIA_TARGET;
        if (!lost)
            observer->tables[kept++] = table;
    }
    effect->table_count = observer->table_count = kept;
}

/* --- rows ----------------------------------------------------------------------------------------------- */

static int compare_digests(const void *a, const void *b) { return memcmp(a, b, SHA256_SIZE); }

/* The order in which rows come is nobody's promise. */
static struct text fingerprint_of(struct arena *arena, struct measured_rows *rows)
{
    uint8_t all[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    if (rows->digests.size > SHA256_SIZE)
        qsort(rows->digests.bytes, rows->digests.size / SHA256_SIZE, SHA256_SIZE, compare_digests);
    sha256(rows->digests.bytes, rows->digests.size, all);
    hex_from_bytes(all, sizeof all, hex);
    return arena_text(arena, text_from(hex));
}

static void take_sample(struct arena *arena, const struct measured_rows *rows,
                        struct effect *effect)
{
    struct effect_row *sample = arena_array(arena, rows->sample_count, sizeof *sample);
    for (size_t i = 0; i < rows->sample_count; i++)
        sample[i] = (struct effect_row){arena_text(arena, text_from(rows->sample[i].old_row)),
                                        arena_text(arena, text_from(rows->sample[i].new_row))};
    effect->sample = sample;
    effect->sample_count = rows->sample_count;
}

/* By key and digest, "7" and 16 hexadecimal digits. */
static void take_named(struct arena *arena, const struct measured_rows *rows, struct effect *effect)
{
    struct effect_named *named = arena_array(arena, rows->named_count, sizeof *named);
    struct cursor cursor = cursor_over(rows->named.bytes, rows->named.size);
    for (size_t i = 0; i < rows->named_count; i++) {
        struct text key = cursor_string(&cursor), digest = cursor_string(&cursor);
        named[i] = (struct effect_named){arena_text(arena, key), arena_text(arena, digest)};
    }
    effect->named = named;
    effect->named_count = rows->named_count;
}

static void take_rows(struct arena *arena, const struct measure_plan *plan,
                      struct measured_rows *rows, struct effect *effect)
{
    effect->row_count = -1;
    effect->bound = EFFECT_BY_COUNTS;
    if (plan->appended == 0)
        return;
    effect->key = plan->key;
    effect->key_count = plan->key_count;
    effect->changed = plan->changed;
    effect->changed_count = plan->changed_count;
    effect->decided_later = plan->decided_later;
    effect->decided_later_count = plan->decided_later_count;
    effect->row_count = rows->count;
    take_sample(arena, rows, effect);
    if (rows->incomplete)
        return;
    take_named(arena, rows, effect);
    effect->bound = plan->children_unknown ? EFFECT_BY_COUNTS : EFFECT_BY_ROWS;
    effect->fingerprint = fingerprint_of(arena, rows);
}

/* Which table is behind a view is not known: whatever else changes is not its row. */
static void bind_what_is_seen(const struct measure_plan *plan, struct effect *effect)
{
    if (plan->through_view && effect->table_count > 1)
        effect->bound = EFFECT_BY_COUNTS;
}

/* --- all ------------------------------------------------------------------------------------------------ */

static json_t *load(struct text json)
{
    return json_loadb(json.bytes, json.size, 0, NULL);
}

static bool is_counting(const json_t *snapshot)
{
    const char *value = json_string_value(json_object_get(snapshot, "counting"));
    return value != NULL && strcmp(value, "on") == 0;
}

static void observe(struct observer *observer, const struct measure_plan *plan,
                    const struct measurement *measurement)
{
    struct effect *effect = observer->effect;
    if (!is_counting(observer->before) || !is_counting(observer->after)) {
        unknown(observer, TEXT("the server does not count rows: track_counts is off"));
        return;
    }
    take_rows(observer->arena, plan, measurement->rows, effect);
    observe_counts(observer);
    bind_what_is_seen(plan, effect);
    bind_what_is_known(observer);
    observe_sequences(observer);
    observe_triggers(observer);
    observe_notifications(observer);
    if (observer->shape->ddl != DDL_NONE)
        observe_objects(observer, measurement);
    else
        observe_locks(observer);
    if (effect->bound == EFFECT_UNKNOWN || !explain_all(observer, measurement))
        return;
    effect->notices = measurement->notices;
    effect->notice_count = measurement->notice_count;
    effect->duration_us = measurement->duration_us;
    bool writes = observer->shape->kind == STATEMENT_WRITE ||
                  observer->shape->kind == STATEMENT_COPY_IN;
    if (!measurement->only_numbers && effect->bound == EFFECT_BY_COUNTS && effect->fingerprint.size == 0 && writes &&
        observer->shape->volatile_functions)
        unknown(observer, TEXT("it is bound by counts only, and calls functions that may give something "
                               "else each time"));
}

void measure_effect(struct arena *arena, const struct shape *shape, const struct catalog *catalog,
                    const struct measure_plan *plan, const struct measurement *measurement,
                    struct effect *effect)
{
    struct reach reach;
    reach_find_all(arena, shape, catalog, REACH_ANY_KEY, &reach);
    *effect = (struct effect){.row_count = -1};
    struct observer observer = {.arena = arena,
                                .catalog = catalog,
                                .shape = shape,
                                .reach = &reach,
                                .before = load(measurement->before),
                                .after = load(measurement->after),
                                .effect = effect};
    observe(&observer, plan, measurement);
    json_decref(observer.before);
    json_decref(observer.after);
}
