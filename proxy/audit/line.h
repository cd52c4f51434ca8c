/* line.h - a line of an audit file as the chain sees it: its place, its link, its hash. Pure. */
#ifndef PGWICKET_AUDIT_LINE_H
#define PGWICKET_AUDIT_LINE_H

#include "proxy/base/attributes.h"
#include "proxy/base/digest.h"

struct audit_line {
    uint64_t seq;
    char previous[SHA256_HEX_SIZE];
    bool of_the_log; /* event.name is pgwicket.audit: it may begin a file or follow a torn line */
};

/* What the first line of a file without a predecessor is chained on. */
extern const char AUDIT_NO_LINE[SHA256_HEX_SIZE];

/* False if the text (without its newline) is not a whole record of a chain. */
MUST_USE bool audit_line_read(struct text text, struct audit_line *line);

/* What the next line has in pgwicket.prev: SHA-256 of the line without its newline. */
void audit_line_hash(struct text text, char hash[SHA256_HEX_SIZE]);

#endif
