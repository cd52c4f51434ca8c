/*
 * template_json.c - is a text one JSON value that the server's jsonb takes as it is?
 *
 * Nothing is built: a reader walks over the bytes once, with a limit on its depth.
 */
#include "rules/template_value.h"

#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <string.h>

struct reader {
    struct text text;
    size_t at;
    int depth;
    struct arena numbers;
};

static bool read_value(struct reader *reader);

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->text.size &&
           text_has_byte(TEXT(" \t\n\r"), reader->text.bytes[reader->at]))
        reader->at++;
}

static bool take(struct reader *reader, char byte)
{
    if (reader->at >= reader->text.size || reader->text.bytes[reader->at] != byte)
        return false;
    reader->at++;
    return true;
}

static bool take_word(struct reader *reader, const char *word)
{
    if (!text_starts_with(text_behind(reader->text, reader->at), word))
        return false;
    reader->at += strlen(word);
    return true;
}

static bool read_hex4(struct reader *reader, unsigned *value)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    *value = 0;
    for (int i = 0; i < 4; i++, reader->at++) {
        char byte = reader->at < reader->text.size ? reader->text.bytes[reader->at] : '\0';
        const char *digit = byte != '\0' ? strchr(digits, byte) : NULL;
        if (digit == NULL)
            return false;
        unsigned index = (unsigned)(digit - digits);
        *value = *value << 4 | (index < 16 ? index : index - 6);
    }
    return true;
}

/* The server has no character 0, and no halves of characters. */
static bool read_unicode_escape(struct reader *reader)
{
    unsigned first, second;
    if (!read_hex4(reader, &first) || first == 0 || (first >= 0xDC00 && first <= 0xDFFF))
        return false;
    if (first < 0xD800 || first > 0xDBFF)
        return true;
    return take_word(reader, "\\u") && read_hex4(reader, &second) && second >= 0xDC00 &&
           second <= 0xDFFF;
}

static bool read_escape(struct reader *reader)
{
    if (take(reader, 'u'))
        return read_unicode_escape(reader);
    for (const char *plain = "\"\\/bfnrt"; *plain != '\0'; plain++)
        if (take(reader, *plain))
            return true;
    return false;
}

static bool read_string(struct reader *reader)
{
    if (!take(reader, '"'))
        return false;
    while (reader->at < reader->text.size) {
        unsigned char byte = (unsigned char)reader->text.bytes[reader->at++];
        if (byte == '"')
            return true;
        if (byte < ' ' || (byte == '\\' && !read_escape(reader)))
            return false;
    }
    return false;
}

/* The number's end is where no byte of a number follows; what it is, decimals know. */
static bool read_number(struct reader *reader)
{
    size_t start = reader->at;
    while (reader->at < reader->text.size &&
           text_has_byte(TEXT("+-.0123456789eE"), reader->text.bytes[reader->at]))
        reader->at++;
    struct text number = {reader->text.bytes + start, reader->at - start};
    struct decimal decimal;
    bool fits = decimal_parse(&reader->numbers, number, &decimal) && decimal_fits_numeric(&decimal);
    arena_reset(&reader->numbers);
    return fits;
}

static bool read_member(struct reader *reader)
{
    skip_blanks(reader);
    if (!read_string(reader))
        return false;
    skip_blanks(reader);
    return take(reader, ':') && read_value(reader);
}

static bool read_members(struct reader *reader, char close, bool (*member)(struct reader *))
{
    reader->at++;
    skip_blanks(reader);
    if (take(reader, close))
        return true;
    do {
        if (!member(reader))
            return false;
        skip_blanks(reader);
    } while (take(reader, ','));
    return take(reader, close);
}

static bool read_inside(struct reader *reader)
{
    switch (reader->text.bytes[reader->at]) {
    case '{':
        return read_members(reader, '}', read_member);
    case '[':
        return read_members(reader, ']', read_value);
    case '"':
        return read_string(reader);
    case 't':
        return take_word(reader, "true");
    case 'f':
        return take_word(reader, "false");
    case 'n':
        return take_word(reader, "null");
    default:
        return read_number(reader);
    }
}

static bool read_value(struct reader *reader)
{
    skip_blanks(reader);
    if (reader->at == reader->text.size || reader->depth == LIMIT_TEMPLATE_JSON_DEPTH)
        return false;
    reader->depth++;
    bool fine = read_inside(reader);
    reader->depth--;
    return fine;
}

bool json_is_valid(struct text text)
{
    struct reader reader = {.text = text};
    arena_init(&reader.numbers);
    bool fine = utf8_valid(text) && read_value(&reader);
    arena_release(&reader.numbers);
    skip_blanks(&reader);
    return fine && reader.at == text.size;
}
