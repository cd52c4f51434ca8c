/*
 * database.c - see database.h. WAL with synchronous FULL: a commit that was reported survives a
 * crash of process and machine. A file that is damaged, of another program, or of a later version
 * is refused.
 */
#include "proxy/holds/database.h"

#include "proxy/base/invariant.h"
#include "proxy/holds/row.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCHEMA_VERSION = 4, BUSY_MS = 1000 };

#define APPLICATION_ID 1885828968 /* "pgwh" */

#define NEWEST_FIRST " ORDER BY id DESC"
#define SOME_OLD     "SELECT id FROM hold WHERE finished BETWEEN 1 AND ? LIMIT 100"

/* What whoever asks may see, and what they look for: empty texts stand for anything. */
#define VISIBLE "(?1 = '' OR policy IN (SELECT value FROM json_each(?1)))"
#define WANTED                                                                                     \
    VISIBLE " AND (?2 = '' OR agent = ?2) AND (?3 = '' OR verb = ?3) AND (?4 = '' OR state = ?4)"  \
            " AND (?5 = '' OR id = ?6 OR statement LIKE ?5 ESCAPE '\\' OR agent LIKE ?5 ESCAPE '\\'" \
            " OR rules LIKE ?5 ESCAPE '\\' OR decided_by LIKE ?5 ESCAPE '\\'"                      \
            " OR decision_reason LIKE ?5 ESCAPE '\\' OR EXISTS (SELECT 1 FROM approval a WHERE a.hold ="  \
            " hold.id AND approver LIKE ?5 ESCAPE '\\'))"

static const char *const query_texts[QUERY_COUNT] = {
    [QUERY_BEGIN] = "BEGIN IMMEDIATE",
    [QUERY_COMMIT] = "COMMIT",
    [QUERY_ROLLBACK] = "ROLLBACK",
    [QUERY_INSERT] = ROW_INSERT,
    [QUERY_UPDATE] = ROW_UPDATE,
    [QUERY_GET] = ROW_SELECT " WHERE id = ?",
    [QUERY_LIST] = ROW_SELECT " WHERE id < ?" NEWEST_FIRST,
    [QUERY_LIST_AGENT] = ROW_SELECT " WHERE id < ? AND agent = ?" NEWEST_FIRST,
    [QUERY_LIST_STATE] = ROW_SELECT " WHERE id < ? AND state = ?" NEWEST_FIRST,
    [QUERY_LIST_STATE_AGENT] = ROW_SELECT " WHERE id < ? AND state = ? AND agent = ?" NEWEST_FIRST,
    [QUERY_OPEN_MATCH] = ROW_SELECT
    " WHERE \"match\" = ? AND state IN ('pending', 'released', 'running')" NEWEST_FIRST,
    [QUERY_EXECUTED_MATCH] = "SELECT max(id) FROM hold WHERE \"match\" = ? AND state = 'executed'",
    [QUERY_PENDING_COUNT] = "SELECT count(*) FROM hold WHERE state = 'pending' AND agent = ?",
    [QUERY_INSERT_COPIED] = "INSERT INTO copied (hold, data) VALUES (?, ?)",
    [QUERY_COPIED] = "SELECT data FROM copied WHERE hold = ?",
    [QUERY_APPROVALS] = "SELECT approver, at FROM approval WHERE hold = ? ORDER BY at, rowid",
    [QUERY_APPROVE] = "INSERT INTO approval (hold, approver, at) VALUES (?, ?, ?)",
    [QUERY_SET_REPLACED_BY] = "UPDATE hold SET replaced_by = ?2 WHERE id = ?1",
    [QUERY_DUE] = "SELECT id FROM (SELECT id FROM hold WHERE state = 'pending' AND expires"
                  " BETWEEN 1 AND ?1 UNION ALL SELECT id FROM hold WHERE state = 'released'"
                  " AND run_until BETWEEN 1 AND ?1) WHERE id > ?2 ORDER BY id LIMIT 1",
    [QUERY_DELETE_OLD] = "DELETE FROM hold WHERE id IN (" SOME_OLD ") RETURNING state",
    [QUERY_COUNTS] = "SELECT state, count(*) FROM hold GROUP BY state",
    [QUERY_OLDEST] = "SELECT min(created) FROM hold WHERE state = 'pending'",
    [QUERY_QUEUE] = "SELECT id, agent, verb FROM hold WHERE state = 'pending' AND " WANTED
                    " ORDER BY expires <= 0, expires, id",
    [QUERY_HISTORY] = "SELECT id FROM hold WHERE id < ?7 AND state <> 'pending' AND " WANTED
                      NEWEST_FIRST,
    [QUERY_HISTORY_TOTAL] = "SELECT count(*) FROM hold WHERE state <> 'pending' AND " WANTED,
    [QUERY_ENDED_SINCE] = "SELECT state, count(*) FROM hold WHERE finished >= ?2 AND " VISIBLE
                          " GROUP BY state",
    [QUERY_MESSAGE_ADD] = "INSERT INTO message (target, name, body, created, due, attempts)"
                          " VALUES (?, ?, ?, ?, ?, 0)",
    [QUERY_MESSAGE_COUNT] = "SELECT count(*) FROM message WHERE target = ?",
    [QUERY_MESSAGE_DUE] = "SELECT id, name, body, created, due, attempts FROM message"
                          " WHERE target = ? AND due <= ? ORDER BY due, id LIMIT ?",
    [QUERY_MESSAGE_NEXT] = "SELECT min(due) FROM message WHERE target = ? AND due > ?",
    [QUERY_MESSAGE_AGAIN] = "UPDATE message SET attempts = attempts + 1, due = ?2 WHERE id = ?1",
    [QUERY_MESSAGE_DONE] = "DELETE FROM message WHERE id = ?",
    [QUERY_MESSAGE_STALE] = "DELETE FROM message WHERE created < ?",
};

#define COPIED_CREATE                                                                              \
    "CREATE TABLE copied (hold INTEGER PRIMARY KEY REFERENCES hold ON DELETE CASCADE,"             \
    " data BLOB NOT NULL) STRICT"

#define APPROVAL_CREATE                                                                            \
    "CREATE TABLE approval (hold INTEGER NOT NULL REFERENCES hold ON DELETE CASCADE,"              \
    " approver TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (hold, approver)) STRICT"

/* The outbox. It names no hold: a message may outlive the hold that it tells of. */
#define MESSAGE_CREATE                                                                             \
    "CREATE TABLE message (id INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL,"            \
    " name TEXT NOT NULL, body TEXT NOT NULL, created INTEGER NOT NULL, due INTEGER NOT NULL,"     \
    " attempts INTEGER NOT NULL) STRICT",                                                          \
        "CREATE INDEX message_due ON message (target, due)",                                       \
        "CREATE INDEX message_created ON message (created)"

#define TEXT_OF(number)        TEXT_OF_VALUE(number)
#define TEXT_OF_VALUE(number)  #number

static const char *const schema_texts[] = {
    "PRAGMA application_id = " TEXT_OF(APPLICATION_ID),
    "CREATE TABLE schema (version INTEGER NOT NULL) STRICT",
    ROW_CREATE,
    "CREATE INDEX hold_state ON hold (state, agent)",
    "CREATE INDEX hold_match ON hold (\"match\")",
    "CREATE INDEX hold_finished ON hold (finished)",
    APPROVAL_CREATE,
    COPIED_CREATE,
    MESSAGE_CREATE,
    "INSERT INTO schema VALUES (4)",
};

/* A file of version 2 has no outbox, one of version 3 nothing for COPY. */
static const char *const upgrade_texts[] = {
    MESSAGE_CREATE,
    COPIED_CREATE,
    "ALTER TABLE hold ADD COLUMN copy_bytes INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE hold ADD COLUMN copy_sha256 TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE hold ADD COLUMN copy_head BLOB NOT NULL DEFAULT x''",
    "UPDATE schema SET version = 4",
};

static bool fail(struct database *database, const char *what, const char *why)
{
    snprintf(database->problem, sizeof database->problem, "%s: %s", what, why);
    return false;
}

static bool fail_sqlite(struct database *database, const char *what)
{
    return fail(database, what,
                database->handle != NULL ? sqlite3_errmsg(database->handle) : "out of memory");
}

/* Makes the file before SQLite does, because of its mode (SQLite gives -wal and -shm the same), and
 * locks it. SQLite's own locks are of another kind and stay untouched as long as `file` is open. */
static bool open_file(struct database *database, const char *path)
{
    database->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat status;
    if (database->file < 0 || fstat(database->file, &status) != 0)
        return fail(database, path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail(database, path, "is not a regular file");
    if (flock(database->file, LOCK_EX | LOCK_NB) != 0)
        return fail(database, path, "is in use by another pgwicket");
    if ((status.st_mode & 077) != 0 && fchmod(database->file, 0600) != 0)
        return fail(database, path, "others may read it, and its mode cannot be changed");
    return true;
}

static bool execute(struct database *database, const char *sql)
{
    return sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK ||
           fail_sqlite(database, "hold store");
}

/* The one integer or text that a query gives; false if it gives none. */
static bool ask_text(struct database *database, const char *sql, char *answer, size_t size)
{
    sqlite3_stmt *statement = NULL;
    bool got = sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW;
    if (got)
        snprintf(answer, size, "%s", (const char *)sqlite3_column_text(statement, 0));
    else
        fail_sqlite(database, "hold store");
    sqlite3_finalize(statement);
    return got;
}

static bool expect(struct database *database, const char *sql, const char *expected,
                   const char *problem)
{
    char answer[64];
    return ask_text(database, sql, answer, sizeof answer) &&
           (strcmp(answer, expected) == 0 || fail(database, "hold store", problem));
}

static bool configure(struct database *database)
{
    sqlite3_busy_timeout(database->handle, BUSY_MS);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return expect(database, "PRAGMA quick_check(1)", "ok", "the file is damaged") &&
           expect(database, "PRAGMA journal_mode = WAL", "wal", "write-ahead logging is refused") &&
           execute(database, "PRAGMA synchronous = FULL") &&
           execute(database, "PRAGMA foreign_keys = ON") &&
           execute(database, "PRAGMA trusted_schema = OFF") &&
           execute(database, "PRAGMA cell_size_check = ON") &&
           execute(database, "PRAGMA secure_delete = ON");
}

static bool execute_all(struct database *database, const char *const *texts, size_t count)
{
    bool good = execute(database, "BEGIN IMMEDIATE");
    for (size_t i = 0; i < count && good; i++)
        good = execute(database, texts[i]);
    if (good && execute(database, "COMMIT"))
        return true;
    sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

static bool check_schema(struct database *database)
{
    char text[64];
    if (!ask_text(database, "SELECT count(*) FROM sqlite_schema", text, sizeof text))
        return false;
    if (strcmp(text, "0") == 0)
        return execute_all(database, schema_texts, ARRAY_SIZE(schema_texts));
    snprintf(text, sizeof text, "%d", APPLICATION_ID);
    if (!expect(database, "PRAGMA application_id", text, "the file belongs to another program") ||
        !ask_text(database, "SELECT version FROM schema", text, sizeof text))
        return false;
    if (strcmp(text, "2") == 0)
        return execute_all(database, upgrade_texts, ARRAY_SIZE(upgrade_texts));
    if (strcmp(text, "3") == 0)
        return execute_all(database, upgrade_texts + 1, ARRAY_SIZE(upgrade_texts) - 1);
    snprintf(text, sizeof text, "%d", SCHEMA_VERSION);
    return expect(database, "SELECT version FROM schema", text,
                  "the file was made by another version of pgwicket");
}

static bool prepare_all(struct database *database)
{
    for (size_t i = 0; i < QUERY_COUNT; i++)
        if (sqlite3_prepare_v3(database->handle, query_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &database->statements[i], NULL) != SQLITE_OK)
            return fail_sqlite(database, "hold store");
    return true;
}

bool database_open(struct database *database, const char *path)
{
    *database = (struct database){.file = -1};
    if (!open_file(database, path))
        return false;
    if (sqlite3_open_v2(path, &database->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return fail_sqlite(database, path);
    return configure(database) && check_schema(database) && prepare_all(database);
}

void database_close(struct database *database)
{
    for (size_t i = 0; i < QUERY_COUNT; i++)
        sqlite3_finalize(database->statements[i]);
    sqlite3_close(database->handle);
    if (database->file >= 0)
        close(database->file);
    database->handle = NULL;
    database->file = -1;
}

sqlite3_stmt *database_query(struct database *database, enum query query)
{
    sqlite3_stmt *statement = database->statements[query];
    INVARIANT(statement != NULL);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return statement;
}

bool database_row(struct database *database, sqlite3_stmt *statement, bool *failed)
{
    int result = sqlite3_step(statement);
    *failed = result != SQLITE_ROW && result != SQLITE_DONE;
    if (*failed)
        fail_sqlite(database, "hold store");
    if (result != SQLITE_ROW)
        sqlite3_reset(statement);
    return result == SQLITE_ROW;
}

bool database_run(struct database *database, sqlite3_stmt *statement)
{
    bool failed;
    bool row = database_row(database, statement, &failed);
    INVARIANT(!row);
    return !failed;
}

bool database_begin(struct database *database)
{
    return database_run(database, database_query(database, QUERY_BEGIN));
}

bool database_commit(struct database *database)
{
    return database_run(database, database_query(database, QUERY_COMMIT));
}

void database_rollback(struct database *database)
{
    /* A statement that is still open would make ROLLBACK fail; SQLite rolls back by itself on a
     * full disk. */
    for (size_t i = 0; i < QUERY_COUNT; i++)
        sqlite3_reset(database->statements[i]);
    if (sqlite3_get_autocommit(database->handle) == 0)
        sqlite3_step(database_query(database, QUERY_ROLLBACK));
    sqlite3_reset(database->statements[QUERY_ROLLBACK]);
}
