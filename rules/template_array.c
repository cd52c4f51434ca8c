/*
 * template_array.c - PostgreSQL's array literals of one dimension, read and written.
 *
 * Read as the server reads them, but for what a list of values never needs: bounds, more dimensions.
 */
#include "rules/template_value.h"

#include "proxy/base/limits.h"

struct reader {
    struct arena *arena;
    struct text text;
    size_t at;
};

/* What array_in skips around items. */
static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->text.size && is_blank(reader->text.bytes[reader->at]))
        reader->at++;
}

static bool take(struct reader *reader, char byte)
{
    if (reader->at >= reader->text.size || reader->text.bytes[reader->at] != byte)
        return false;
    reader->at++;
    return true;
}

/* Where the closing quote stands; the text's size if there is none. */
static size_t closing_quote(const struct reader *reader)
{
    size_t at = reader->at;
    while (at < reader->text.size && reader->text.bytes[at] != '"')
        at += reader->text.bytes[at] == '\\' ? 2 : 1;
    return at < reader->text.size ? at : reader->text.size;
}

/* Behind the opening quote. */
static bool read_quoted(struct reader *reader, struct array_item *item)
{
    size_t end = closing_quote(reader), size = 0;
    if (end == reader->text.size)
        return false;
    char *bytes = arena_allocate(reader->arena, end - reader->at + 1);
    while (reader->at < end) {
        if (reader->text.bytes[reader->at] == '\\')
            reader->at++;
        bytes[size++] = reader->text.bytes[reader->at++];
    }
    reader->at++;
    item->text = (struct text){bytes, size};
    return true;
}

static bool read_bare(struct reader *reader, struct array_item *item)
{
    size_t start = reader->at;
    while (reader->at < reader->text.size &&
           !text_has_byte(TEXT(",{}\"\\"), reader->text.bytes[reader->at]))
        reader->at++;
    size_t end = reader->at;
    while (end > start && is_blank(reader->text.bytes[end - 1]))
        end--;
    item->text = (struct text){reader->text.bytes + start, end - start};
    item->is_null = text_is_ignoring_case(item->text, "null");
    return end > start;
}

static bool read_item(struct reader *reader, struct array_items *items)
{
    struct array_item *item = arena_push(reader->arena, (void **)&items->items, &items->count,
                                         &items->capacity, sizeof *item);
    skip_blanks(reader);
    bool fine = take(reader, '"') ? read_quoted(reader, item) : read_bare(reader, item);
    skip_blanks(reader);
    return fine;
}

bool array_parse(struct arena *arena, struct text text, struct array_items *items)
{
    struct reader reader = {.arena = arena, .text = text};
    *items = (struct array_items){0};
    skip_blanks(&reader);
    if (!take(&reader, '{'))
        return false;
    skip_blanks(&reader);
    if (!take(&reader, '}')) {
        do {
            if (items->count > LIMIT_TEMPLATE_ITEMS)
                return true;
            if (!read_item(&reader, items))
                return false;
        } while (take(&reader, ','));
        if (!take(&reader, '}'))
            return false;
    }
    skip_blanks(&reader);
    return reader.at == text.size;
}

struct text array_literal(struct arena *arena, const struct text *items, size_t count)
{
    size_t size_max = 2, size = 0;
    for (size_t i = 0; i < count; i++)
        size_max += 2 * items[i].size + 3;
    char *bytes = arena_allocate(arena, size_max);
    bytes[size++] = '{';
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            bytes[size++] = ',';
        bytes[size++] = '"';
        for (size_t at = 0; at < items[i].size; at++) {
            char byte = items[i].bytes[at];
            if (byte == '"' || byte == '\\')
                bytes[size++] = '\\';
            bytes[size++] = byte;
        }
        bytes[size++] = '"';
    }
    bytes[size++] = '}';
    return (struct text){bytes, size};
}
