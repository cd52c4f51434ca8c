/* sample.c - see sample.h. What is not as expected is left out; the rest is shown. */
#include "proxy/review/sample.h"

#include "proxy/base/limits.h"

#include <jansson.h>
#include <stdlib.h>

enum { ROWS_MAX = 100 };

static size_t column_at(struct sample *sample, const char *name)
{
    size_t at = 0;
    while (at < sample->column_count && !text_is(sample->columns[at], name))
        at++;
    return at;
}

static void add_columns(struct arena *arena, struct sample *sample, json_t *row)
{
    const char *name;
    json_t *value;
    json_object_foreach(row, name, value)
    {
        if (column_at(sample, name) < sample->column_count ||
            sample->column_count == LIMIT_TABLE_COLUMNS)
            continue;
        sample->columns[sample->column_count++] = arena_text(arena, text_from(name));
    }
}

static struct sample_value read_value(struct arena *arena, const json_t *value)
{
    if (json_is_null(value))
        return (struct sample_value){SAMPLE_NULL, TEXT("")};
    if (json_is_string(value))
        return (struct sample_value){
            SAMPLE_TEXT, arena_text(arena, (struct text){json_string_value(value),
                                                        json_string_length(value)})};
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    struct sample_value read = {SAMPLE_TEXT, arena_text(arena, text_from(dump))};
    free(dump);
    return read;
}

static struct sample_value *read_values(struct arena *arena, struct sample *sample, json_t *row)
{
    struct sample_value *values = arena_array(arena, sample->column_count, sizeof *values);
    const char *name;
    json_t *value;
    json_object_foreach(row, name, value)
    {
        size_t at = column_at(sample, name);
        if (at < sample->column_count)
            values[at] = read_value(arena, value);
    }
    return values;
}

bool sample_values_equal(const struct sample_value *a, const struct sample_value *b)
{
    return a->kind == b->kind && (a->kind != SAMPLE_TEXT || text_equal(a->text, b->text));
}

static void read_row(struct arena *arena, struct sample *sample, const json_t *item)
{
    json_t *old_row = json_object_get(item, "old");
    json_t *new_row = json_object_get(item, "new");
    struct sample_row *row = &sample->rows[sample->row_count++];
    row->has_old = json_is_object(old_row);
    row->has_new = json_is_object(new_row);
    row->old_values = read_values(arena, sample, row->has_old ? old_row : NULL);
    row->new_values = read_values(arena, sample, row->has_new ? new_row : NULL);
    for (size_t i = 0; i < sample->column_count && row->has_old && row->has_new; i++)
        if (!sample_values_equal(&row->old_values[i], &row->new_values[i]))
            sample->changed[i] = true;
}

static void read_keys(struct sample *sample, const json_t *keys)
{
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *name = json_string_value(json_array_get(keys, i));
        size_t at = name != NULL ? column_at(sample, name) : sample->column_count;
        if (at < sample->column_count)
            sample->key[at] = true;
    }
}

static void read_rows(struct arena *arena, struct sample *sample, const json_t *rows)
{
    const json_t *items = json_object_get(rows, "sample");
    size_t count = json_array_size(items) < ROWS_MAX ? json_array_size(items) : ROWS_MAX;
    sample->columns = arena_array(arena, LIMIT_TABLE_COLUMNS, sizeof *sample->columns);
    sample->changed = arena_array(arena, LIMIT_TABLE_COLUMNS, sizeof *sample->changed);
    sample->key = arena_array(arena, LIMIT_TABLE_COLUMNS, sizeof *sample->key);
    sample->rows = arena_array(arena, count, sizeof *sample->rows);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(items, i);
        add_columns(arena, sample, json_object_get(item, "old"));
        add_columns(arena, sample, json_object_get(item, "new"));
    }
    for (size_t i = 0; i < count; i++)
        read_row(arena, sample, json_array_get(items, i));
    read_keys(sample, json_object_get(rows, "key"));
}

struct sample sample_read(struct arena *arena, struct text effect)
{
    struct sample sample = {0};
    json_t *root = json_loadb(effect.bytes, effect.size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *rows = json_object_get(root, "rows");
    if (json_is_object(rows))
        read_rows(arena, &sample, rows);
    json_decref(root);
    return sample;
}
