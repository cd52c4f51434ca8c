/*
 * loader.c - connects, keeps the connection, runs SQL.
 *
 * search_path is empty, so that every unqualified function, operator and type can only be
 * pg_catalog's; relations are always written with their schema, because pg_temp comes first for
 * them.
 */
#include "proxy/upstream/loader.h"

#include "proxy/base/invariant.h"
#include "proxy/upstream/conninfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool build_conninfo(struct conninfo *info, const char *connection_string, char *problem,
                           size_t problem_size)
{
    const struct upstream_parameter settings[] = {
        {TEXT("application_name"), TEXT("pgwicket catalog")},
        {TEXT("search_path"), TEXT("")},
        {TEXT("default_transaction_read_only"), TEXT("on")},
        {TEXT("statement_timeout"), TEXT("30s")},
        {TEXT("lock_timeout"), TEXT("5s")},
        {TEXT("idle_in_transaction_session_timeout"), TEXT("60s")},
        {TEXT("jit"), TEXT("off")}, /* compiling takes longer than the queries */
    };
    if (!conninfo_build(info, connection_string, settings, ARRAY_SIZE(settings), problem,
                        problem_size))
        return false;
    conninfo_default(info, "connect_timeout", "10");
    return true;
}

struct catalog_loader *catalog_loader_new(const char *connection_string)
{
    struct catalog_loader *loader = memory_allocate_zeroed(1, sizeof *loader);
    loader->connection_string = memory_copy_string(connection_string);
    return loader;
}

static void disconnect(struct catalog_loader *loader)
{
    PQfinish(loader->connection);
    loader->connection = NULL;
}

void catalog_loader_free(struct catalog_loader *loader)
{
    if (loader == NULL)
        return;
    disconnect(loader);
    explicit_bzero(loader->connection_string, strlen(loader->connection_string));
    free(loader->connection_string);
    free(loader);
}

/* libpq's texts have several lines and name hosts and users, but no password. */
static void copy_problem(char *problem, size_t problem_size, const char *libpq_text)
{
    struct text text = text_from(libpq_text);
    while (text.size > 0 && text.bytes[text.size - 1] == '\n')
        text.size--;
    text = text_cut(text, problem_size - 1);
    for (size_t i = 0; i < text.size; i++)
        problem[i] = (unsigned char)text.bytes[i] < ' ' ? ' ' : text.bytes[i];
    problem[text.size] = '\0';
}

static void drop_notice(void *argument, const PGresult *result)
{
    (void)argument;
    (void)result;
}

bool loader_connect(struct catalog_loader *loader, char *problem, size_t problem_size)
{
    if (loader->connection != NULL && PQstatus(loader->connection) == CONNECTION_OK)
        return true;
    disconnect(loader);
    struct conninfo info;
    bool built = build_conninfo(&info, loader->connection_string, problem, problem_size);
    if (built)
        loader->connection = PQconnectdbParams(info.keywords, info.values, 0);
    conninfo_release(&info);
    if (!built)
        return false;
    if (PQstatus(loader->connection) != CONNECTION_OK) {
        copy_problem(problem, problem_size, PQerrorMessage(loader->connection));
        disconnect(loader);
        return false;
    }
    PQsetNoticeReceiver(loader->connection, drop_notice, NULL);
    return true;
}

PGresult *loader_run(struct catalog_loader *loader, const char *sql, char *problem,
                     size_t problem_size)
{
    PGresult *result = PQexec(loader->connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
        return result;
    copy_problem(problem, problem_size, PQerrorMessage(loader->connection));
    PQclear(result);
    return NULL;
}
