/* tail.h - finds the end of an audit file, so that the next record can be chained on it. */
#ifndef PGWICKET_AUDIT_TAIL_H
#define PGWICKET_AUDIT_TAIL_H

#include "proxy/audit/line.h"

struct audit_tail {
    uint64_t seq; /* of the last line, a torn one included; 0: the file is empty */
    char previous[SHA256_HEX_SIZE]; /* hash of the last line */
    bool torn;                      /* the last line has no newline */
};

/* Reads a regular file backwards. False if it cannot be read or is no audit file: a message is then
 * in `problem`. */
MUST_USE bool audit_tail_find(int fd, struct audit_tail *tail, char *problem, size_t size);

#endif
