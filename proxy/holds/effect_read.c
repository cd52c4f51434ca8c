/* effect_read.c - an effect read back from the JSON that was stored with its hold. Anything that is
 * missing or of another type makes the whole unreadable: then nothing is equal to it. */
#include "proxy/holds/effect.h"

#include <jansson.h>
#include <string.h>

/* What is being read, and whether all of it was as expected so far. */
struct source {
    struct arena *arena;
    bool bad;
};

static struct text word(struct source *source, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) {
        source->bad = true;
        return TEXT("");
    }
    return arena_text(source->arena,
                      (struct text){json_string_value(value), json_string_length(value)});
}

static struct text word_or_none(struct source *source, const json_t *object, const char *key)
{
    return json_is_null(json_object_get(object, key)) ? TEXT("") : word(source, object, key);
}

static int64_t number(struct source *source, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    source->bad = source->bad || !json_is_integer(value);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static int64_t number_or_none(struct source *source, const json_t *object, const char *key)
{
    return json_is_null(json_object_get(object, key)) ? -1 : number(source, object, key);
}

static const json_t *list(struct source *source, const json_t *object, const char *key,
                          size_t *count)
{
    const json_t *value = json_object_get(object, key);
    source->bad = source->bad || !json_is_array(value);
    *count = json_array_size(value);
    return value;
}

static const struct text *words(struct source *source, const json_t *object, const char *key,
                                size_t *count)
{
    const json_t *array = list(source, object, key, count);
    struct text *texts = arena_array(source->arena, *count, sizeof *texts);
    for (size_t i = 0; i < *count; i++) {
        const json_t *item = json_array_get(array, i);
        source->bad = source->bad || !json_is_string(item);
        texts[i] = arena_text(source->arena,
                              (struct text){json_string_value(item), json_string_length(item)});
    }
    return texts;
}

static enum effect_via read_via(struct source *source, const json_t *object)
{
    struct text via = word(source, object, "via");
    if (text_is(via, "target"))
        return VIA_TARGET;
    if (text_is(via, "cascade"))
        return VIA_CASCADE;
    source->bad = source->bad || !text_is(via, "trigger");
    return VIA_TRIGGER;
}

static void read_tables(struct source *source, const json_t *root, struct effect *effect)
{
    const json_t *array = list(source, root, "tables", &effect->table_count);
    struct effect_table *tables = arena_array(source->arena, effect->table_count, sizeof *tables);
    for (size_t i = 0; i < effect->table_count; i++) {
        const json_t *item = json_array_get(array, i);
        tables[i] = (struct effect_table){.table = word(source, item, "table"),
                                          .via = read_via(source, item),
                                          .inserted = number(source, item, "inserted"),
                                          .updated = number(source, item, "updated"),
                                          .deleted = number(source, item, "deleted"),
                                          .total = number_or_none(source, item, "total")};
        if (tables[i].via != VIA_CASCADE)
            continue;
        tables[i].constraint = word(source, item, "constraint");
        tables[i].action = word(source, item, "action");
        tables[i].parent = word(source, item, "parent");
        tables[i].depth = (int)number(source, item, "depth");
    }
    effect->tables = tables;
}

static void read_objects(struct source *source, const json_t *root, struct effect *effect)
{
    const json_t *array = list(source, root, "objects", &effect->object_count);
    struct effect_object *objects =
        arena_array(source->arena, effect->object_count, sizeof *objects);
    for (size_t i = 0; i < effect->object_count; i++) {
        const json_t *item = json_array_get(array, i);
        objects[i] = (struct effect_object){.kind = word(source, item, "kind"),
                                            .name = word(source, item, "name"),
                                            .change = word(source, item, "change"),
                                            .via = word(source, item, "via"),
                                            .parent = word_or_none(source, item, "parent"),
                                            .detail = word_or_none(source, item, "detail"),
                                            .rows = number_or_none(source, item, "rows"),
                                            .bytes = number_or_none(source, item, "bytes")};
    }
    effect->objects = objects;
}

static void read_locks(struct source *source, const json_t *root, struct effect *effect)
{
    const json_t *array = list(source, root, "locks", &effect->lock_count);
    struct effect_lock *locks = arena_array(source->arena, effect->lock_count, sizeof *locks);
    for (size_t i = 0; i < effect->lock_count; i++) {
        const json_t *item = json_array_get(array, i);
        locks[i] = (struct effect_lock){word(source, item, "table"), word(source, item, "mode")};
    }
    effect->locks = locks;
}

static void read_residues(struct source *source, const json_t *root, struct effect *effect)
{
    const json_t *array = list(source, root, "not_undone", &effect->not_undone_count);
    struct effect_residue *residues =
        arena_array(source->arena, effect->not_undone_count, sizeof *residues);
    for (size_t i = 0; i < effect->not_undone_count; i++) {
        const json_t *item = json_array_get(array, i);
        residues[i] = (struct effect_residue){
            word(source, item, "what"), word(source, item, "name"),
            json_is_null(json_object_get(item, "by")) ? 0 : number(source, item, "by")};
    }
    effect->not_undone = residues;
}

static void read_named(struct source *source, const json_t *rows, struct effect *effect)
{
    size_t count, width = 2;
    const json_t *array = list(source, rows, "named", &count);
    struct effect_named *named = arena_array(source->arena, count, sizeof *named);
    for (size_t i = 0; i < count && width == 2; i++) {
        json_t *row = json_pack("{s:O}", "row", json_array_get(array, i));
        const struct text *pair = words(source, row, "row", &width);
        if (width == 2)
            named[i] = (struct effect_named){pair[0], pair[1]};
        json_decref(row);
    }
    source->bad = source->bad || width != 2;
    effect->named = named;
    effect->named_count = count;
}

static void read_rows(struct source *source, const json_t *root, struct effect *effect)
{
    const json_t *rows = json_object_get(root, "rows");
    effect->row_count = -1;
    if (json_is_null(rows))
        return;
    effect->row_count = number(source, rows, "count");
    effect->fingerprint = word(source, rows, "fingerprint");
    effect->key = words(source, rows, "key", &effect->key_count);
    effect->changed = words(source, rows, "changed", &effect->changed_count);
    effect->decided_later =
        words(source, rows, "decided_when_it_runs", &effect->decided_later_count);
    if (json_object_get(rows, "named") != NULL)
        read_named(source, rows, effect);
}

static void read_known(struct source *source, const json_t *root, struct effect *effect)
{
    struct text bound = word(source, root, "bound");
    effect->bound = text_is(bound, "rows") ? EFFECT_BY_ROWS : EFFECT_BY_COUNTS;
    source->bad = source->bad || (!text_is(bound, "rows") && !text_is(bound, "counts"));
    read_tables(source, root, effect);
    read_objects(source, root, effect);
    read_locks(source, root, effect);
    effect->triggers = words(source, root, "triggers", &effect->trigger_count);
    read_rows(source, root, effect);
    read_residues(source, root, effect);
    if (json_object_get(root, "notifies") != NULL)
        effect->notifies = words(source, root, "notifies", &effect->notify_count);
    effect->notices = words(source, root, "notices", &effect->notice_count);
    const json_t *duration = json_object_get(root, "duration_ms");
    source->bad = source->bad || !json_is_number(duration);
    effect->duration_us = (int64_t)(json_number_value(duration) * 1000);
}

bool effect_from_json(struct arena *arena, struct text json, struct effect *effect)
{
    struct source source = {arena, false};
    json_t *root = json_loadb(json.bytes, json.size, JSON_REJECT_DUPLICATES, NULL);
    *effect = (struct effect){.row_count = -1};
    source.bad = !json_is_boolean(json_object_get(root, "known"));
    if (json_is_true(json_object_get(root, "known")))
        read_known(&source, root, effect);
    else if (!source.bad)
        effect->why = word(&source, root, "why");
    json_decref(root);
    if (source.bad)
        *effect = (struct effect){.row_count = -1, .why = TEXT("the stored effect cannot be read")};
    return !source.bad;
}
