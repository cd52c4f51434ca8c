/*
 * prepare.c - would the server take this statement? It is prepared on the loader's connection, and forgotten.
 *
 * Preparing runs nothing and needs no right on the tables. An error that is not about the statement (a
 * lock, a broken connection, a server that is stopping) is no answer.
 */
#include "proxy/upstream/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SQLSTATE classes of a server that cannot answer now. */
static bool is_passing(const char *sqlstate)
{
    static const char *const classes[] = {"08", "25", "40", "53", "55", "57", "58", "XX"};
    for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
        if (sqlstate == NULL || strncmp(sqlstate, classes[i], 2) == 0)
            return true;
    return false;
}

static void describe(const PGresult *result, char *problem, size_t size)
{
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *position = PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION);
    snprintf(problem, size, "%s%s%s%s", primary != NULL ? primary : "no answer",
             position != NULL ? " (at character " : "", position != NULL ? position : "",
             position != NULL ? ")" : "");
}

enum prepare_answer catalog_loader_prepare(struct catalog_loader *loader, const char *sql,
                                           const uint32_t *types, size_t type_count, char *problem,
                                           size_t problem_size)
{
    if (!loader_connect(loader, problem, problem_size))
        return PREPARE_NO_ANSWER;
    PGresult *result = PQprepare(loader->connection, "", sql, (int)type_count, types);
    enum prepare_answer answer = PREPARE_NO_ANSWER;
    if (PQresultStatus(result) == PGRES_COMMAND_OK) {
        answer = PREPARE_FINE;
    } else {
        describe(result, problem, problem_size);
        if (!is_passing(PQresultErrorField(result, PG_DIAG_SQLSTATE)))
            answer = PREPARE_REFUSED;
    }
    PQclear(result);
    return answer;
}
