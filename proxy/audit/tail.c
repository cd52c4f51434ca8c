/*
 * tail.c - walks from the end of an audit file to the last line that has a sequence number.
 *
 * That is the last line, or, after a crash in mid-write, one of the few before it. A file in which
 * no such line is near its end is not ours, and nothing is appended to it.
 */
#include "proxy/audit/tail.h"

#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024, TORN_LINES_MAX = 16 };

static bool read_exactly(int fd, void *bytes, size_t size, off_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, (char *)bytes + done, size - done, offset + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Where the line starts that ends before `end`; -1 when it is too long or cannot be read. */
static off_t find_line_start(int fd, off_t end)
{
    static _Thread_local char chunk[CHUNK_BYTES];
    off_t at = end;
    while (at > 0 && end - at <= LIMIT_AUDIT_RECORD_BYTES) {
        size_t size = at < CHUNK_BYTES ? (size_t)at : CHUNK_BYTES;
        at -= (off_t)size;
        if (!read_exactly(fd, chunk, size, at))
            return -1;
        const char *newline = memrchr(chunk, '\n', size);
        if (newline != NULL)
            return at + (newline - chunk) + 1;
    }
    return at == 0 ? 0 : -1;
}

/* The line before `*end`, which moves to its start. */
static bool read_line_before(int fd, off_t *end, struct buffer *line)
{
    off_t start = find_line_start(fd, *end);
    buffer_clear(line);
    if (start < 0)
        return false;
    size_t size = (size_t)(*end - start);
    uint8_t *room = buffer_reserve(line, size);
    if (room == NULL || !read_exactly(fd, room, size, start))
        return false;
    line->size += size;
    *end = start;
    return true;
}

/* `end` is behind the last newline; the tail has what is known of a torn line behind it. */
static bool find_sequence(int fd, off_t end, struct audit_tail *tail, struct buffer *line)
{
    uint64_t skipped = tail->torn ? 1 : 0;
    bool hashed = tail->torn;
    while (end > 0 && skipped <= TORN_LINES_MAX) {
        off_t before_newline = end - 1;
        if (!read_line_before(fd, &before_newline, line))
            return false;
        end = before_newline;
        if (!hashed)
            audit_line_hash(buffer_text(line), tail->previous);
        hashed = true;
        struct audit_line read;
        if (audit_line_read(buffer_text(line), &read)) {
            tail->seq = read.seq + skipped;
            return true;
        }
        skipped++;
    }
    /* Only the first record of a file, torn, may be all there is. */
    tail->seq = skipped;
    return end == 0 && skipped == 1 && text_starts_with(buffer_text(line), "{\"timestamp\"");
}

static bool find_tail(int fd, off_t end, struct audit_tail *tail, struct buffer *line)
{
    char last = '\n';
    if (end == 0)
        return true;
    if (!read_exactly(fd, &last, 1, end - 1))
        return false;
    tail->torn = last != '\n';
    if (tail->torn) {
        if (!read_line_before(fd, &end, line))
            return false;
        audit_line_hash(buffer_text(line), tail->previous);
    }
    return find_sequence(fd, end, tail, line);
}

bool audit_tail_find(int fd, struct audit_tail *tail, char *problem, size_t size)
{
    struct stat status;
    *tail = (struct audit_tail){0};
    memcpy(tail->previous, AUDIT_NO_LINE, sizeof tail->previous);
    if (fstat(fd, &status) != 0) {
        snprintf(problem, size, "%s", strerror(errno));
        return false;
    }
    struct buffer line;
    buffer_init(&line, LIMIT_AUDIT_RECORD_BYTES);
    bool found = find_tail(fd, status.st_size, tail, &line);
    buffer_release(&line);
    if (!found)
        snprintf(problem, size, "its last lines are not records of pgwicket");
    return found;
}
