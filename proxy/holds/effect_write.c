/* effect_write.c - an effect as JSON. The rows of a sample are JSON already. */
#include "proxy/holds/effect.h"

#include "proxy/base/json_out.h"

static void count_or_null(struct json_out *json, const char *key, int64_t value)
{
    json_key(json, key);
    if (value >= 0)
        json_int(json, value);
    else
        json_null(json);
}

static const char *via_name(enum effect_via via)
{
    switch (via) {
    case VIA_TARGET:
        return "target";
    case VIA_CASCADE:
        return "cascade";
    case VIA_TRIGGER:
        break;
    }
    return "trigger";
}

static void write_table(struct json_out *json, const struct effect_table *table)
{
    json_open(json, '{');
    json_key_text(json, "table", table->table);
    json_key_string(json, "via", via_name(table->via));
    if (table->via == VIA_CASCADE) {
        json_key_text(json, "constraint", table->constraint);
        json_key_text(json, "action", table->action);
        json_key_text(json, "parent", table->parent);
        json_key_int(json, "depth", table->depth);
    }
    json_key_int(json, "inserted", table->inserted);
    json_key_int(json, "updated", table->updated);
    json_key_int(json, "deleted", table->deleted);
    count_or_null(json, "total", table->total);
    json_close(json, '}');
}

static void write_object(struct json_out *json, const struct effect_object *object)
{
    json_open(json, '{');
    json_key_text(json, "kind", object->kind);
    json_key_text(json, "name", object->name);
    json_key_text(json, "change", object->change);
    json_key_text(json, "via", object->via);
    json_key_text_or_null(json, "parent", object->parent);
    json_key_text_or_null(json, "detail", object->detail);
    count_or_null(json, "rows", object->rows);
    count_or_null(json, "bytes", object->bytes);
    json_close(json, '}');
}

static void write_lock(struct json_out *json, const struct effect_lock *lock)
{
    json_open(json, '{');
    json_key_text(json, "table", lock->table);
    json_key_text(json, "mode", lock->mode);
    json_close(json, '}');
}

static void write_residue(struct json_out *json, const struct effect_residue *residue)
{
    json_open(json, '{');
    json_key_text(json, "what", residue->what);
    json_key_text(json, "name", residue->name);
    json_key(json, "by");
    if (residue->by != 0)
        json_int(json, residue->by);
    else
        json_null(json);
    json_close(json, '}');
}

static void row_or_null(struct json_out *json, const char *key, struct text row)
{
    json_key(json, key);
    if (row.size == 0) {
        json_null(json);
        return;
    }
    buffer_append_text(json->buffer, row);
    json->need_comma = true;
}

static void write_rows(struct json_out *json, const struct effect *effect)
{
    json_key(json, "rows");
    if (effect->row_count < 0) {
        json_null(json);
        return;
    }
    json_open(json, '{');
    json_key_int(json, "count", effect->row_count);
    json_key_text(json, "fingerprint", effect->fingerprint);
    json_key_texts(json, "key", effect->key, effect->key_count);
    json_key_texts(json, "changed", effect->changed, effect->changed_count);
    json_key_texts(json, "decided_when_it_runs", effect->decided_later, effect->decided_later_count);
    json_key_open(json, "sample", '[');
    for (size_t i = 0; i < effect->sample_count; i++) {
        json_open(json, '{');
        row_or_null(json, "old", effect->sample[i].old_row);
        row_or_null(json, "new", effect->sample[i].new_row);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_key_open(json, "named", '[');
    for (size_t i = 0; i < effect->named_count; i++) {
        json_open(json, '[');
        json_text(json, effect->named[i].key);
        json_text(json, effect->named[i].digest);
        json_close(json, ']');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_known(struct json_out *json, const struct effect *effect)
{
    json_key_string(json, "bound", effect->bound == EFFECT_BY_ROWS ? "rows" : "counts");
    json_key_open(json, "tables", '[');
    for (size_t i = 0; i < effect->table_count; i++)
        write_table(json, &effect->tables[i]);
    json_close(json, ']');
    json_key_open(json, "objects", '[');
    for (size_t i = 0; i < effect->object_count; i++)
        write_object(json, &effect->objects[i]);
    json_close(json, ']');
    json_key_open(json, "locks", '[');
    for (size_t i = 0; i < effect->lock_count; i++)
        write_lock(json, &effect->locks[i]);
    json_close(json, ']');
    json_key_texts(json, "triggers", effect->triggers, effect->trigger_count);
    write_rows(json, effect);
    json_key_open(json, "not_undone", '[');
    for (size_t i = 0; i < effect->not_undone_count; i++)
        write_residue(json, &effect->not_undone[i]);
    json_close(json, ']');
    json_key_texts(json, "notifies", effect->notifies, effect->notify_count);
    json_key_texts(json, "notices", effect->notices, effect->notice_count);
    json_key_number(json, "duration_ms", (double)effect->duration_us / 1000);
}

void effect_to_json(struct buffer *out, const struct effect *effect)
{
    struct json_out json = json_out_to(out);
    bool known = effect->bound != EFFECT_UNKNOWN;
    json_open(&json, '{');
    json_key_bool(&json, "known", known);
    if (known)
        write_known(&json, effect);
    else
        json_key_text(&json, "why", effect->why);
    json_close(&json, '}');
}
