/* lines.c - see lines.h. An error of reading is the end of the input. */
#include "proxy/commands/lines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024 };

void lines_init(struct lines *lines, size_t line_bytes_max)
{
    *lines = (struct lines){0};
    buffer_init(&lines->input, line_bytes_max + 2 + READ_BYTES);
}

void lines_release(struct lines *lines)
{
    buffer_release(&lines->input);
}

static void read_more(struct lines *lines)
{
    buffer_consume(&lines->input, lines->at);
    lines->at = 0;
    uint8_t *room = buffer_reserve(&lines->input, READ_BYTES);
    if (room == NULL) {
        buffer_clear(&lines->input);
        lines->skipping = true;
        room = buffer_reserve(&lines->input, READ_BYTES);
    }
    ssize_t size;
    fflush(stdout);
    do
        size = read(STDIN_FILENO, room, READ_BYTES);
    while (size < 0 && errno == EINTR);
    lines->at_end = size <= 0;
    lines->input.size += size > 0 ? (size_t)size : 0;
}

/* Up to the newline, or to the end of the input. */
static bool take_line(struct lines *lines, struct text *line)
{
    struct text rest = text_behind(buffer_text(&lines->input), lines->at);
    const char *end = rest.size > 0 ? memchr(rest.bytes, '\n', rest.size) : NULL;
    if (end == NULL && (!lines->at_end || rest.size == 0))
        return false;
    size_t size = end != NULL ? (size_t)(end - rest.bytes) : rest.size;
    lines->at += size + (end != NULL);
    if (size > 0 && end != NULL && rest.bytes[size - 1] == '\r')
        size--;
    *line = text_front(rest, size);
    return true;
}

bool lines_next(struct lines *lines, struct text *line, bool *too_long)
{
    bool found;
    while (!(found = take_line(lines, line)) && !lines->at_end)
        read_more(lines);
    *too_long = lines->skipping;
    if (lines->skipping)
        *line = TEXT("");
    found = found || lines->skipping;
    lines->skipping = false;
    return found;
}
