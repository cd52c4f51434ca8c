/* problems.c - see problems.h. Beyond LIMIT_CONFIGURATION_PROBLEMS they are counted, not kept. */
#include "proxy/config/problems.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES_MAX = 160, SHOWN_BEFORE_MAX = 100, TEXT_BYTES_MAX = 512, NAME_BYTES_MAX = 40 };

struct problem {
    struct place place;
    size_t order;
    bool is_warning;
    struct text text;
};

static void add(struct problems *problems, struct place place, bool is_warning, const char *format,
                va_list arguments)
{
    char text[TEXT_BYTES_MAX];
    int size = vsnprintf(text, sizeof text, format, arguments);
    INVARIANT(size >= 0);
    if (!is_warning)
        problems->errors++;
    if (problems->count == LIMIT_CONFIGURATION_PROBLEMS)
        return;
    struct problem *added = arena_push(problems->arena, (void **)&problems->items, &problems->count,
                                       &problems->capacity, sizeof *added);
    *added = (struct problem){place, problems->count, is_warning,
                              arena_text(problems->arena, text_from(text))};
}

void problem_error(struct problems *problems, struct place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, place, false, format, arguments);
    va_end(arguments);
}

void problem_warning(struct problems *problems, struct place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, place, true, format, arguments);
    va_end(arguments);
}

static struct text line_of(struct text source, size_t line)
{
    size_t at = 0, number = 1;
    for (; at < source.size && number < line; at++)
        if (source.bytes[at] == '\n')
            number++;
    size_t end = at;
    while (end < source.size && source.bytes[end] != '\n' && source.bytes[end] != '\r')
        end++;
    return (struct text){source.bytes + at, end - at};
}

static size_t byte_of_column(struct text line, size_t column)
{
    size_t at = 0;
    for (size_t number = 1; number < column && at < line.size; number++) {
        at++;
        while (at < line.size && ((unsigned char)line.bytes[at] & 0xC0) == 0x80)
            at++;
    }
    return at;
}

static size_t find(const char *line, size_t size, size_t from, const char *word)
{
    size_t length = strlen(word);
    for (size_t at = from; at + length <= size; at++)
        if (memcmp(line + at, word, length) == 0)
            return at + length;
    return size;
}

/* Stars out what follows `word` up to a byte of `ends`; {file: …} and {env: …} tell nothing. */
static void star_out(char *line, size_t size, const char *word, const char *ends)
{
    for (size_t at = find(line, size, 0, word); at < size; at = find(line, size, at, word)) {
        while (at < size && line[at] == ' ')
            at++;
        for (; at < size && line[at] != '{' && strchr(ends, line[at]) == NULL; at++)
            line[at] = '*';
    }
}

/* Ends in a password only if a colon precedes its host: scheme://user:password@host. */
static void star_out_uri(char *line, size_t size)
{
    size_t at = find(line, size, 0, "://");
    size_t host = find(line, size, at, "@");
    size_t password = find(line, size, at, ":");
    if (host < size)
        for (; password + 1 < host; password++)
            line[password] = '*';
}

/* What follows the server of a receiver's URL may be its secret. */
static void star_out_path(char *line, size_t size)
{
    size_t at = find(line, size, find(line, size, 0, "url:"), "://");
    for (at = find(line, size, at, "/"); at < size && strchr(" ,}\"'", line[at]) == NULL; at++)
        line[at] = '*';
}

static void show_line(const struct problems *problems, struct place place, struct buffer *out)
{
    struct text line = line_of(problems->source, place.line);
    size_t caret = byte_of_column(line, place.column);
    size_t from = caret > SHOWN_BEFORE_MAX ? caret - SHOWN_BEFORE_MAX : 0;
    size_t size = line.size - from < SHOWN_BYTES_MAX ? line.size - from : SHOWN_BYTES_MAX;
    char *shown = memory_allocate(line.size + 1);
    if (line.size > 0)
        memcpy(shown, line.bytes, line.size);
    star_out(shown, line.size, "secret:", ",}");
    star_out(shown, line.size, "password=", " \"'");
    star_out_uri(shown, line.size);
    star_out_path(shown, line.size);
    for (size_t i = 0; i < line.size; i++)
        if ((unsigned char)shown[i] < ' ' && shown[i] != '\t')
            shown[i] = '?';
    buffer_printf(out, "%6zu | %.*s\n       | ", place.line, (int)size, shown + from);
    for (size_t i = from; i < caret; i++)
        if (((unsigned char)shown[i] & 0xC0) != 0x80)
            buffer_append_byte(out, shown[i] == '\t' ? '\t' : ' ');
    buffer_append_string(out, "^\n");
    free(shown);
}

static int compare(const void *a, const void *b)
{
    const struct problem *left = a, *right = b;
    if (left->place.line != right->place.line)
        return left->place.line < right->place.line ? -1 : 1;
    if (left->place.column != right->place.column)
        return left->place.column < right->place.column ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

void problems_print(const struct problems *problems, struct buffer *out)
{
    if (problems->count == 0)
        return;
    qsort(problems->items, problems->count, sizeof *problems->items, compare);
    for (size_t i = 0; i < problems->count; i++) {
        const struct problem *problem = &problems->items[i];
        buffer_append_text(out, problems->path);
        if (problem->place.line > 0)
            buffer_printf(out, ":%zu:%zu", problem->place.line, problem->place.column);
        buffer_printf(out, ": %s: %.*s\n", problem->is_warning ? "warning" : "error",
                      TEXT_ARGS(problem->text));
        if (problem->place.line > 0)
            show_line(problems, problem->place, out);
    }
    if (problems->count == LIMIT_CONFIGURATION_PROBLEMS)
        buffer_append_string(out, "There may be more; these are shown first.\n");
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein's distance, with one row of the table. */
static size_t distance(struct text a, struct text b)
{
    size_t row[NAME_BYTES_MAX + 1];
    for (size_t j = 0; j <= b.size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            size_t above = row[j];
            row[j] = smallest(row[j] + 1, row[j - 1] + 1,
                              diagonal + (a.bytes[i - 1] != b.bytes[j - 1]));
            diagonal = above;
        }
    }
    return row[b.size];
}

const char *problems_nearest_name(struct text written, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t least = written.size > 4 ? 3 : 2;
    for (size_t i = 0; i < count && written.size <= NAME_BYTES_MAX; i++) {
        size_t steps = distance(written, text_from(names[i]));
        if (strlen(names[i]) <= NAME_BYTES_MAX && steps < least) {
            nearest = names[i];
            least = steps;
        }
    }
    return nearest;
}
