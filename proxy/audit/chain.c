/*
 * chain.c - reads audit files line by line and compares each link with the line before.
 *
 * The first line that does not fit ends the check. What it cannot see is said in the README:
 * records cut off at the very end, and a chain that somebody computed anew as a whole.
 */
#include "proxy/audit/chain.h"

#include "proxy/audit/line.h"
#include "proxy/base/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_BYTES = 8 * 1024 };

struct verifier {
    struct chain_check *check;
    char previous[SHA256_HEX_SIZE]; /* hash of the line before; empty: there is none yet */
    uint64_t seq;                   /* of the line before in this file */
    bool torn;                      /* the line before is no record */
};

static void break_chain(struct verifier *verifier, const char *format, ...) PRINTF_LIKE(2, 3);
static void break_chain(struct verifier *verifier, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verifier->check->problem, sizeof verifier->check->problem, format, arguments);
    va_end(arguments);
    verifier->check->broken = true;
}

static bool follows(struct verifier *verifier, const struct audit_line *line)
{
    if (line->seq != verifier->seq + 1) {
        break_chain(verifier, "record %" PRIu64 " is missing: this one has number %" PRIu64,
                    verifier->seq + 1, line->seq);
        return false;
    }
    if (verifier->previous[0] != '\0' && strcmp(line->previous, verifier->previous) != 0) {
        break_chain(verifier, verifier->seq == 0
                                  ? "this file does not go on where the one before ends"
                                  : "the line before this one was changed, or this one's "
                                    "pgwicket.prev was");
        return false;
    }
    if ((verifier->torn || verifier->seq == 0) && !line->of_the_log) {
        break_chain(verifier, verifier->torn ? "the line before is not a whole record"
                                             : "the file's first record is missing");
        return false;
    }
    return true;
}

static void check_line(struct verifier *verifier, struct text text)
{
    struct audit_line line;
    bool record = audit_line_read(text, &line);
    verifier->check->line++;
    if (record && !follows(verifier, &line))
        return;
    audit_line_hash(text, verifier->previous);
    verifier->torn = !record;
    verifier->seq++;
    verifier->check->records += record ? 1 : 0;
}

/* Appends `part`, which has no newline, to the line that is being collected. */
static bool collect(struct verifier *verifier, struct buffer *line, struct text part)
{
    buffer_append_text(line, part);
    if (line->overflow) {
        verifier->check->line++;
        break_chain(verifier, "this line is longer than any record");
    }
    return !line->overflow;
}

static void check_chunk(struct verifier *verifier, struct buffer *line, struct text chunk)
{
    while (chunk.size > 0 && !verifier->check->broken) {
        const char *newline = memchr(chunk.bytes, '\n', chunk.size);
        size_t size = newline != NULL ? (size_t)(newline - chunk.bytes) : chunk.size;
        if (!collect(verifier, line, (struct text){chunk.bytes, size}))
            return;
        if (newline == NULL)
            return;
        check_line(verifier, buffer_text(line));
        buffer_clear(line);
        chunk.bytes += size + 1;
        chunk.size -= size + 1;
    }
}

static void check_end(struct verifier *verifier, const struct buffer *line, bool last_file)
{
    if (line->size > 0)
        check_line(verifier, buffer_text(line));
    if (!verifier->check->broken && line->size > 0 && !verifier->torn)
        break_chain(verifier, "this line has lost its newline");
    if (!verifier->check->broken && verifier->torn && last_file)
        break_chain(verifier, "this line is not a whole record");
}

static bool verify_file(struct verifier *verifier, const char *path, bool last_file)
{
    struct chain_check *check = verifier->check;
    char chunk[CHUNK_BYTES];
    struct buffer line;
    FILE *file = fopen(path, "re");
    check->file = path;
    check->line = 0;
    verifier->seq = 0;
    if (file == NULL) {
        snprintf(check->problem, sizeof check->problem, "%s", strerror(errno));
        return false;
    }
    buffer_init(&line, LIMIT_AUDIT_RECORD_BYTES);
    for (size_t n; !check->broken && (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
        check_chunk(verifier, &line, (struct text){chunk, n});
    bool read = !ferror(file);
    if (!read)
        snprintf(check->problem, sizeof check->problem, "%s", strerror(errno));
    else if (!check->broken)
        check_end(verifier, &line, last_file);
    buffer_release(&line);
    fclose(file);
    return read;
}

bool chain_verify(const char *const *files, size_t file_count, struct chain_check *check)
{
    *check = (struct chain_check){0};
    struct verifier verifier = {.check = check};
    for (size_t i = 0; i < file_count && !check->broken; i++)
        if (!verify_file(&verifier, files[i], i + 1 == file_count))
            return false;
    return true;
}
