/*
 * html.c - see html.h. A format that cannot be followed is our own mistake and ends the process;
 * nothing else fails. Bytes that are not UTF-8 are shown as bytes.
 */
#include "proxy/review/html.h"

#include "proxy/base/invariant.h"
#include "proxy/base/unicode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum place { BETWEEN_TAGS, IN_TAG, IN_PLAIN };

static const struct {
    char byte;
    const char *entity;
} entities[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"},
};

static const struct {
    uint32_t code_point;
    const char *name;
} named[] = {{0x00, "NUL"}, {0x09, "TAB"}, {0x0A, "LF"}, {0x0D, "CR"}, {0x1B, "ESC"}};

static void append_box(struct buffer *out, enum place place, const char *name)
{
    buffer_append_string(out, place == BETWEEN_TAGS ? "<span class=\"u\">" : "[");
    buffer_append_string(out, name);
    buffer_append_string(out, place == BETWEEN_TAGS ? "</span>" : "]");
}

static void append_hidden(struct buffer *out, enum place place, uint32_t code_point)
{
    char name[16];
    snprintf(name, sizeof name, "U+%04X", (unsigned)code_point);
    for (size_t i = 0; i < ARRAY_SIZE(named); i++)
        if (named[i].code_point == code_point)
            snprintf(name, sizeof name, "%s", named[i].name);
    append_box(out, place, name);
}

static void append_stray_byte(struct buffer *out, enum place place, char byte)
{
    char name[16];
    snprintf(name, sizeof name, "\\x%02X", (unsigned)(uint8_t)byte);
    append_box(out, place, name);
}

static const char *entity_of(char byte)
{
    for (size_t i = 0; i < ARRAY_SIZE(entities); i++)
        if (entities[i].byte == byte)
            return entities[i].entity;
    return NULL;
}

/* The character at the front; its size. */
static size_t append_character(struct buffer *out, struct text text, enum place place)
{
    uint32_t code_point = 0;
    size_t size = utf8_sequence(text);
    const char *entity = entity_of(text.bytes[0]);
    if (size > 0)
        utf8_decode(text, &code_point);
    if (entity != NULL)
        buffer_append_string(out, entity);
    else if (text.bytes[0] == '\0')
        append_hidden(out, place, 0);
    else if (size == 0)
        append_stray_byte(out, place, text.bytes[0]);
    else if (code_point == '\n' && place == IN_PLAIN)
        buffer_append_byte(out, '\n');
    else if (unicode_is_invisible(code_point))
        append_hidden(out, place, code_point);
    else
        buffer_append(out, text.bytes, size);
    return size > 0 ? size : 1;
}

static void append_escaped(struct buffer *out, struct text text, enum place place)
{
    while (text.size > 0)
        text = text_behind(text, append_character(out, text, place));
}

void html_text(struct buffer *out, struct text text)
{
    append_escaped(out, text, BETWEEN_TAGS);
}

void html_name(struct buffer *out, struct text name)
{
    while (name.size > 0) {
        char byte = name.bytes[0];
        name = text_behind(name, append_character(out, name, BETWEEN_TAGS));
        if (name.size > 0 && (byte == '.' || byte == '_'))
            buffer_append_string(out, "<wbr>");
    }
}

/* Titles and text areas hold text only, up to their closing tag. */
static bool opens_plain(const char *tag)
{
    return strncmp(tag, "<title", 6) == 0 || strncmp(tag, "<textarea", 9) == 0;
}

struct writer {
    struct buffer *out;
    enum place place;
    bool plain; /* the tag that is being written opens plain text */
};

/* One byte of the format that is markup. */
static void append_markup(struct writer *writer, const char *at)
{
    if (*at == '<') {
        writer->plain = opens_plain(at);
        writer->place = IN_TAG;
    } else if (*at == '>' && writer->place == IN_TAG) {
        writer->place = writer->plain ? IN_PLAIN : BETWEEN_TAGS;
    }
    buffer_append_byte(writer->out, (uint8_t)*at);
}

static void append_number(struct writer *writer, long number)
{
    buffer_printf(writer->out, "%ld", number);
}

/* The conversion after a percent sign, with its argument; how many bytes of the format it takes. */
static size_t append_argument(struct writer *writer, const char *conversion, va_list *arguments)
{
    if (conversion[0] == 's') {
        append_escaped(writer->out, text_from(va_arg(*arguments, const char *)), writer->place);
        return 1;
    }
    if (strncmp(conversion, ".*s", 3) == 0) {
        int size = va_arg(*arguments, int);
        const char *bytes = va_arg(*arguments, const char *);
        append_escaped(writer->out, (struct text){bytes, (size_t)size}, writer->place);
        return 3;
    }
    if (conversion[0] == 'd') {
        append_number(writer, va_arg(*arguments, int));
        return 1;
    }
    if (strncmp(conversion, "ld", 2) == 0) {
        append_number(writer, va_arg(*arguments, long));
        return 2;
    }
    INVARIANT(conversion[0] == '%');
    buffer_append_byte(writer->out, '%');
    return 1;
}

void html(struct buffer *out, const char *format, ...)
{
    struct writer writer = {.out = out, .place = BETWEEN_TAGS};
    va_list arguments;
    va_start(arguments, format);
    for (const char *at = format; *at != '\0'; at++) {
        if (*at == '%')
            at += append_argument(&writer, at + 1, &arguments);
        else
            append_markup(&writer, at);
    }
    va_end(arguments);
    INVARIANT(writer.place == BETWEEN_TAGS);
}

static bool is_unreserved(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

struct text html_path(struct arena *arena, struct text segment)
{
    static const char digits[] = "0123456789ABCDEF";
    char *bytes = arena_allocate(arena, segment.size * 3 + 1);
    size_t size = 0;
    for (size_t i = 0; i < segment.size; i++) {
        unsigned char byte = (unsigned char)segment.bytes[i];
        if (is_unreserved((char)byte)) {
            bytes[size++] = (char)byte;
            continue;
        }
        bytes[size++] = '%';
        bytes[size++] = digits[byte >> 4];
        bytes[size++] = digits[byte & 15];
    }
    return (struct text){bytes, size};
}
