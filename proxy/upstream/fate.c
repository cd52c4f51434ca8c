/* fate.c - see fate.h. An answer that cannot be read is UNKNOWN, so that nothing is run again. */
#include "proxy/upstream/fate.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN_SAME_CLUSTER, COLUMN_SAME_COUNTERS, COLUMN_RESTARTED, COLUMN_GIVEN_BEFORE };

#define MICROSECONDS(time)                                                                         \
    "(EXTRACT(epoch FROM " time                                                                    \
    ") OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8::pg_catalog.text"

#define SAME_CLUSTER                                                                               \
    "s.system_identifier::pg_catalog.text OPERATOR(pg_catalog.=) "                                 \
    "pg_catalog.split_part($2, ' ', 1) "                                                           \
    "AND c.timeline_id::pg_catalog.text OPERATOR(pg_catalog.=) $3"

#define SAME_COUNTERS                                                                              \
    "pg_catalog.split_part($2, ' ', 2) OPERATOR(pg_catalog.=) " MICROSECONDS(                      \
        "pg_catalog.pg_stat_get_bgwriter_stat_reset_time()")

#define RESTARTED                                                                                  \
    "pg_catalog.split_part($2, ' ', 3) OPERATOR(pg_catalog.<>) ALL (ARRAY['', " MICROSECONDS(      \
        "pg_catalog.pg_postmaster_start_time()") "])"

/* next_xid is 'epoch:xid'. */
#define GIVEN_BEFORE                                                                               \
    "pg_catalog.split_part(c.next_xid, ':', 1)::pg_catalog.numeric "                               \
    "OPERATOR(pg_catalog.*) 4294967296 "                                                           \
    "OPERATOR(pg_catalog.+) pg_catalog.split_part(c.next_xid, ':', 2)::pg_catalog.numeric "        \
    "OPERATOR(pg_catalog.>) $1::pg_catalog.numeric"

static const char server_sql[] =
    "SELECT " SAME_CLUSTER ", " SAME_COUNTERS ", " RESTARTED ", " GIVEN_BEFORE
    " FROM pg_catalog.pg_control_system() s, pg_catalog.pg_control_checkpoint() c";

static const char status_sql[] = "SELECT pg_catalog.pg_xact_status($1::pg_catalog.xid8)";

/* The backend that still holds the transaction open has nobody to talk to any more. */
static const char terminate_sql[] =
    "SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_get_activity($1) a "
    "WHERE " MICROSECONDS("a.backend_start") " OPERATOR(pg_catalog.=) $2";

static bool is_true(const PGresult *result, int column)
{
    return strcmp(PQgetvalue(result, 0, column), "t") == 0;
}

static enum upstream_fate read_status(const PGresult *result)
{
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (sqlstate != NULL && strcmp(sqlstate, "22023") == 0)
        return UPSTREAM_FATE_ABORTED; /* in the future: forgotten in a crash, and not given again
                                         yet */
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
        return UPSTREAM_FATE_UNKNOWN;
    const char *status = PQgetvalue(result, 0, 0);
    if (strcmp(status, "committed") == 0)
        return UPSTREAM_FATE_COMMITTED;
    if (strcmp(status, "aborted") == 0)
        return UPSTREAM_FATE_ABORTED;
    return strcmp(status, "in progress") == 0 ? UPSTREAM_FATE_IN_PROGRESS : UPSTREAM_FATE_UNKNOWN;
}

/* A crash forgets the ids of which nothing had reached the disk. Such an id is given again, and then it is another's
 * transaction that is open or committed; after more crashes than one nothing tells it from ours. Counters begin
 * anew with each crash, but not only then. A restart has ended every transaction, and has a checkpoint at
 * its end or beginning: an id that had not been given by then was forgotten. */
static enum upstream_fate after_crash(const PGresult *server, enum upstream_fate fate)
{
    bool restarted = is_true(server, COLUMN_RESTARTED);
    if (restarted && (fate == UPSTREAM_FATE_IN_PROGRESS || !is_true(server, COLUMN_GIVEN_BEFORE)))
        return UPSTREAM_FATE_ABORTED;
    return fate == UPSTREAM_FATE_COMMITTED ? UPSTREAM_FATE_UNKNOWN : fate;
}

static void terminate(PGconn *connection, const struct upstream_run *run)
{
    char pid[24];
    snprintf(pid, sizeof pid, "%lld", (long long)run->backend_pid);
    const char *const values[] = {pid, run->backend_start.bytes};
    PQclear(PQexecParams(connection, terminate_sql, 2, NULL, values, NULL, NULL, 0));
}

static enum upstream_fate ask(PGconn *connection, const struct upstream_run *run)
{
    char timeline[24];
    snprintf(timeline, sizeof timeline, "%lld", (long long)run->timeline);
    const char *const values[] = {run->xid.bytes, run->system_identifier.bytes, timeline};
    PGresult *server = PQexecParams(connection, server_sql, 3, NULL, values, NULL, NULL, 0);
    enum upstream_fate fate = UPSTREAM_FATE_UNKNOWN;
    if (PQresultStatus(server) == PGRES_TUPLES_OK && PQntuples(server) == 1 &&
        is_true(server, COLUMN_SAME_CLUSTER)) {
        PGresult *status = PQexecParams(connection, status_sql, 1, NULL, values, NULL, NULL, 0);
        fate = read_status(status);
        PQclear(status);
        if (!is_true(server, COLUMN_SAME_COUNTERS))
            fate = after_crash(server, fate);
    }
    PQclear(server);
    return fate;
}

enum upstream_fate upstream_fate(const char *connection_string, const struct upstream_run *run)
{
    PGconn *connection = PQconnectdb(connection_string);
    enum upstream_fate fate = UPSTREAM_FATE_UNREACHABLE;
    if (PQstatus(connection) == CONNECTION_OK) {
        fate = ask(connection, run);
        if (PQstatus(connection) != CONNECTION_OK)
            fate = UPSTREAM_FATE_UNREACHABLE;
        if (fate == UPSTREAM_FATE_IN_PROGRESS)
            terminate(connection, run);
    }
    PQfinish(connection);
    return fate;
}
