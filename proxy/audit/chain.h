/* chain.h - checks the hash chain of audit files: `pgwicket verify`. */
#ifndef PGWICKET_AUDIT_CHAIN_H
#define PGWICKET_AUDIT_CHAIN_H

#include "proxy/base/buffer.h"

struct chain_check {
    uint64_t records;
    bool broken;
    const char *file; /* where it breaks */
    uint64_t line;
    char problem[256];
};

/* Files in order, oldest first. False if a file cannot be read (then `problem` says so). */
MUST_USE bool chain_verify(const char *const *files, size_t file_count, struct chain_check *check);

#endif
