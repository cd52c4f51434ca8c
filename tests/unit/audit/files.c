/* files.c - see files.h. */
#include "files.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void folder_create(struct audit_folder *folder)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder->path, sizeof folder->path, "%.30s/pgwicket-audit-XXXXXX",
             parent != NULL ? parent : "/tmp");
    cr_assert_not_null(mkdtemp(folder->path));
    snprintf(folder->file, sizeof folder->file, "%s/audit.jsonl", folder->path);
    snprintf(folder->older, sizeof folder->older, "%s/audit.jsonl.1", folder->path);
}

void folder_remove(struct audit_folder *folder)
{
    unlink(folder->file);
    unlink(folder->older);
    rmdir(folder->path);
}

struct audit_sink *open_sink(const char *path)
{
    const struct audit_service service = {TEXT("pgwicket"), TEXT("1"), TEXT("here")};
    char problem[256] = "";
    struct audit_sink *sink = audit_sink_open(path, &service, problem, sizeof problem);
    cr_assert_not_null(sink, "%s", problem);
    return sink;
}

bool try_record(struct audit_sink *sink, const char *reason)
{
    struct audit_record record;
    audit_record_init(&record, AUDIT_STATEMENT, clock_now());
    record.reason = text_from(reason);
    return audit_sink_write(sink, &record);
}

void write_record(struct audit_sink *sink, const char *reason)
{
    cr_assert(try_record(sink, reason), "record %s was not written", reason);
}

char *read_file(const char *path, size_t *size)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    cr_assert(fd >= 0 && fstat(fd, &status) == 0, "%s", path);
    *size = (size_t)status.st_size;
    char *bytes = malloc(*size + 1);
    cr_assert_not_null(bytes);
    cr_assert_eq(read(fd, bytes, *size), (ssize_t)*size);
    bytes[*size] = '\0';
    close(fd);
    return bytes;
}

void write_file(const char *path, const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

struct chain_check verify_one(const char *path)
{
    struct chain_check check;
    cr_assert(chain_verify(&path, 1, &check), "%s", check.problem);
    return check;
}

struct chain_check verify_two(const char *older, const char *newer)
{
    const char *files[] = {older, newer};
    struct chain_check check;
    cr_assert(chain_verify(files, 2, &check), "%s", check.problem);
    return check;
}
