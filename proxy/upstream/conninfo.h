/*
 * conninfo.h - a connection string and the settings of a session, as libpq's arrays of keywords.
 */
#ifndef PGWICKET_UPSTREAM_CONNINFO_H
#define PGWICKET_UPSTREAM_CONNINFO_H

#include "proxy/base/buffer.h"
#include "proxy/upstream/login.h"

enum { CONNINFO_KEYWORDS_MAX = 80 }; /* libpq 15 knows 43 */

struct conninfo {
    const char *keywords[CONNINFO_KEYWORDS_MAX]; /* end with NULL, for PQconnectStartParams */
    const char *values[CONNINFO_KEYWORDS_MAX];
    size_t count;
    void *parsed; /* PQconninfoOption *, owns most values */
    char *application_name;
    struct buffer options;
};

/* See upstream_login_start. conninfo_release is needed in any case. */
MUST_USE bool conninfo_build(struct conninfo *info, const char *connection_string,
                             const struct upstream_parameter *settings, size_t setting_count,
                             char *problem, size_t problem_size);

/* Sets a keyword, if the connection string did not. Both texts must outlive `info`. */
void conninfo_default(struct conninfo *info, const char *keyword, const char *value);

void conninfo_release(struct conninfo *info);

#endif
