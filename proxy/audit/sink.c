/*
 * sink.c - appends records to the audit file, each with one write(2) and chained to the line
 * before.
 *
 * What can go wrong is a write that fails or is short (a full file system, a closed pipe). A short
 * write is cut off again where the file allows it; else the torn bytes count as a line of the
 * chain, and the next write ends that line and reports it. Nothing is relayed meanwhile: write
 * returns false.
 */
#include "proxy/audit/sink.h"

#include "proxy/audit/tail.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The open file and the end of its chain. */
struct audit_file {
    int fd;
    bool regular;
    struct audit_tail tail;
    bool torn_unreported;
    bool begun;
};

struct audit_sink {
    pthread_mutex_t lock;
    struct audit_file file; /* this and the rest under the lock */
    struct buffer line;
    uint64_t missing; /* records since the last that was written */
    struct audit_service service;
    char *texts; /* the service's */
    atomic_bool failing;
    atomic_uint_fast64_t records;
    atomic_uint_fast64_t errors;
};

static void copy_service(struct audit_sink *sink, const struct audit_service *service)
{
    const struct text parts[] = {service->name, service->version, service->instance};
    struct text *copies[] = {&sink->service.name, &sink->service.version, &sink->service.instance};
    char *at = memory_allocate(parts[0].size + parts[1].size + parts[2].size + 1);
    sink->texts = at;
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        if (parts[i].size > 0)
            memcpy(at, parts[i].bytes, parts[i].size);
        *copies[i] = (struct text){at, parts[i].size};
        at += parts[i].size;
    }
}

/* Opening. */

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0;
}

static int open_path(const char *path)
{
    if (is_standard_output(path))
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    return open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
}

static bool load_file(struct audit_file *file, const char *path, char *problem, size_t size)
{
    struct stat status;
    if (fstat(file->fd, &status) != 0) {
        snprintf(problem, size, "%s", strerror(errno));
        return false;
    }
    file->regular = S_ISREG(status.st_mode) && !is_standard_output(path);
    if (!file->regular) {
        memcpy(file->tail.previous, AUDIT_NO_LINE, sizeof file->tail.previous);
        return true;
    }
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        snprintf(problem, size, "another process writes it");
        return false;
    }
    if (!audit_tail_find(file->fd, &file->tail, problem, size))
        return false;
    file->torn_unreported = file->tail.torn;
    file->begun = file->tail.seq > 0;
    return true;
}

static bool open_file(struct audit_file *file, const char *path, char *problem, size_t size)
{
    *file = (struct audit_file){.fd = open_path(path)};
    if (file->fd < 0) {
        snprintf(problem, size, "%s", strerror(errno));
        return false;
    }
    if (!load_file(file, path, problem, size)) {
        close(file->fd);
        return false;
    }
    return true;
}

/* Writing. */

static ssize_t write_once(int fd, struct text bytes)
{
    for (;;) {
        ssize_t n = write(fd, bytes.bytes, bytes.size);
        if (n >= 0 || errno != EINTR)
            return n;
    }
}

static bool take_back(const struct audit_file *file, size_t written)
{
    struct stat status;
    if (!file->regular || fstat(file->fd, &status) != 0 || status.st_size < (off_t)written)
        return false;
    return ftruncate(file->fd, status.st_size - (off_t)written) == 0;
}

static void extend_chain(struct audit_tail *tail, struct text line, bool torn)
{
    audit_line_hash(line, tail->previous);
    tail->seq++;
    tail->torn = torn;
}

/* The first `written` bytes of sink->line are in the file for good. */
static void keep_torn(struct audit_sink *sink, size_t written)
{
    struct audit_tail *tail = &sink->file.tail;
    size_t skip = tail->torn ? 1 : 0;
    tail->torn = false;
    if (written > skip) {
        struct text part = {buffer_text(&sink->line).bytes + skip, written - skip};
        extend_chain(tail, part, true);
        sink->file.torn_unreported = true;
    }
}

/* One record, one write. A newline that a torn line lacks goes with it. */
static bool append(struct audit_sink *sink, const struct audit_record *record)
{
    struct audit_tail *tail = &sink->file.tail;
    buffer_clear(&sink->line);
    if (tail->torn)
        buffer_append_byte(&sink->line, '\n');
    size_t start = sink->line.size;
    audit_record_write(&sink->line, &sink->service, record, tail->seq + 1,
                       text_from(tail->previous));
    INVARIANT(!sink->line.overflow);
    struct text bytes = buffer_text(&sink->line);
    ssize_t n = write_once(sink->file.fd, bytes);
    if (n == (ssize_t)bytes.size) {
        extend_chain(tail, (struct text){bytes.bytes + start, bytes.size - start - 1}, false);
        return true;
    }
    if (n > 0 && !take_back(&sink->file, (size_t)n))
        keep_torn(sink, (size_t)n);
    return false;
}

static bool append_of_the_log(struct audit_sink *sink, const char *reason)
{
    struct audit_record record;
    audit_record_init(&record, AUDIT_LOG, clock_now());
    record.reason = text_from(reason);
    return append(sink, &record);
}

/* Writes what must stand before the next record. */
static bool settle(struct audit_sink *sink)
{
    struct audit_file *file = &sink->file;
    if (file->torn_unreported) {
        if (!append_of_the_log(sink, "the line before is incomplete: its write was interrupted"))
            return false;
        file->torn_unreported = false;
        file->begun = true;
    }
    if (!file->begun) {
        bool first = strcmp(file->tail.previous, AUDIT_NO_LINE) == 0;
        file->begun = append_of_the_log(sink, first ? "the log begins"
                                                    : "the log goes on from the file before");
        if (!file->begun)
            return false;
    }
    if (sink->missing > 0) {
        char reason[80];
        snprintf(reason, sizeof reason, "%" PRIu64 " records before this one could not be written",
                 sink->missing);
        if (!append_of_the_log(sink, reason))
            return false;
        sink->missing = 0;
    }
    return true;
}

struct audit_sink *audit_sink_open(const char *path, const struct audit_service *service,
                                   char *problem, size_t size)
{
    struct audit_file file;
    if (!open_file(&file, path, problem, size))
        return NULL;
    struct audit_sink *sink = memory_allocate_zeroed(1, sizeof *sink);
    INVARIANT(pthread_mutex_init(&sink->lock, NULL) == 0);
    sink->file = file;
    buffer_init(&sink->line, LIMIT_AUDIT_RECORD_BYTES);
    copy_service(sink, service);
    atomic_store(&sink->failing, !settle(sink));
    return sink;
}

void audit_sink_close(struct audit_sink *sink)
{
    if (sink == NULL)
        return;
    close(sink->file.fd);
    pthread_mutex_destroy(&sink->lock);
    buffer_release(&sink->line);
    free(sink->texts);
    free(sink);
}

static bool is_same_file(int fd, const char *path)
{
    struct stat mine, named;
    int found = is_standard_output(path) ? fstat(STDOUT_FILENO, &named) : stat(path, &named);
    return found == 0 && fstat(fd, &mine) == 0 && mine.st_dev == named.st_dev &&
           mine.st_ino == named.st_ino;
}

bool audit_sink_reopen(struct audit_sink *sink, const char *path)
{
    char problem[256];
    struct audit_file file;
    pthread_mutex_lock(&sink->lock);
    /* A second lock on the same file would meet our own. */
    bool done = is_same_file(sink->file.fd, path);
    if (!done && open_file(&file, path, problem, sizeof problem)) {
        if (!file.begun)
            memcpy(file.tail.previous, sink->file.tail.previous, sizeof file.tail.previous);
        close(sink->file.fd);
        sink->file = file;
        atomic_store(&sink->failing, !settle(sink));
        done = true;
    }
    pthread_mutex_unlock(&sink->lock);
    return done;
}

bool audit_sink_write(struct audit_sink *sink, const struct audit_record *record)
{
    pthread_mutex_lock(&sink->lock);
    bool written = settle(sink) && append(sink, record);
    if (!written)
        sink->missing++;
    atomic_store(&sink->failing, !written);
    pthread_mutex_unlock(&sink->lock);
    atomic_fetch_add(written ? &sink->records : &sink->errors, 1);
    return written;
}

bool audit_sink_failing(const struct audit_sink *sink)
{
    return atomic_load(&sink->failing);
}

struct audit_sink_counts audit_sink_count(struct audit_sink *sink)
{
    struct audit_sink_counts counts = {
        .records = atomic_load(&sink->records),
        .errors = atomic_load(&sink->errors),
    };
    struct statvfs status;
    pthread_mutex_lock(&sink->lock);
    counts.has_free_bytes = sink->file.regular && fstatvfs(sink->file.fd, &status) == 0;
    pthread_mutex_unlock(&sink->lock);
    if (counts.has_free_bytes)
        counts.free_bytes = (uint64_t)status.f_bavail * status.f_frsize;
    return counts;
}
