/* files.h - temporary audit files for the tests of sink and chain. */
#ifndef PGWICKET_TESTS_AUDIT_FILES_H
#define PGWICKET_TESTS_AUDIT_FILES_H

#include "proxy/audit/chain.h"
#include "proxy/audit/sink.h"

struct audit_folder {
    char path[64];
    char file[96];  /* of the sink */
    char older[96]; /* where rotation moves it */
};

void folder_create(struct audit_folder *folder);
void folder_remove(struct audit_folder *folder);

struct audit_sink *open_sink(const char *path);

/* A record with the given reason; asserts that it could be written. */
void write_record(struct audit_sink *sink, const char *reason);
bool try_record(struct audit_sink *sink, const char *reason);

/* The file's content and a NUL, allocated. */
char *read_file(const char *path, size_t *size);
void write_file(const char *path, const char *bytes, size_t size);

struct chain_check verify_one(const char *path);
struct chain_check verify_two(const char *older, const char *newer);

#endif
