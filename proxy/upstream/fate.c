/* fate.c - see fate.h. An answer that cannot be read is UNKNOWN, so that nothing is run again. */
#include "proxy/upstream/fate.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN_STATUS, COLUMN_SYSTEM, COLUMN_TIMELINE };

static const char status_sql[] =
    "SELECT pg_catalog.pg_xact_status($1::pg_catalog.xid8), "
    "(SELECT c.system_identifier::pg_catalog.text FROM pg_catalog.pg_control_system() c), "
    "(SELECT c.timeline_id::pg_catalog.text FROM pg_catalog.pg_control_checkpoint() c)";

/* The backend that still holds the transaction open has nobody to talk to any more. */
static const char terminate_sql[] =
    "SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_get_activity($1) a "
    "WHERE a.backend_start::pg_catalog.text OPERATOR(pg_catalog.=) $2";

static bool is_same_cluster(const PGresult *result, const struct upstream_run *run)
{
    char timeline[24];
    snprintf(timeline, sizeof timeline, "%lld", (long long)run->timeline);
    return text_is(run->system_identifier, PQgetvalue(result, 0, COLUMN_SYSTEM)) &&
           strcmp(timeline, PQgetvalue(result, 0, COLUMN_TIMELINE)) == 0;
}

static enum upstream_fate read_status(const PGresult *result, const struct upstream_run *run)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1 ||
        PQgetisnull(result, 0, COLUMN_STATUS) || !is_same_cluster(result, run))
        return UPSTREAM_FATE_UNKNOWN;
    const char *status = PQgetvalue(result, 0, COLUMN_STATUS);
    if (strcmp(status, "committed") == 0)
        return UPSTREAM_FATE_COMMITTED;
    if (strcmp(status, "aborted") == 0)
        return UPSTREAM_FATE_ABORTED;
    return strcmp(status, "in progress") == 0 ? UPSTREAM_FATE_IN_PROGRESS : UPSTREAM_FATE_UNKNOWN;
}

static void terminate(PGconn *connection, const struct upstream_run *run)
{
    char pid[24];
    snprintf(pid, sizeof pid, "%lld", (long long)run->backend_pid);
    const char *const values[] = {pid, run->backend_start.bytes};
    PQclear(PQexecParams(connection, terminate_sql, 2, NULL, values, NULL, NULL, 0));
}

enum upstream_fate upstream_fate(const char *connection_string, const struct upstream_run *run)
{
    PGconn *connection = PQconnectdb(connection_string);
    enum upstream_fate fate = UPSTREAM_FATE_UNREACHABLE;
    if (PQstatus(connection) == CONNECTION_OK) {
        const char *const values[] = {run->xid.bytes};
        PGresult *result = PQexecParams(connection, status_sql, 1, NULL, values, NULL, NULL, 0);
        fate = PQstatus(connection) == CONNECTION_OK ? read_status(result, run)
                                                     : UPSTREAM_FATE_UNREACHABLE;
        PQclear(result);
        if (fate == UPSTREAM_FATE_IN_PROGRESS)
            terminate(connection, run);
    }
    PQfinish(connection);
    return fate;
}
