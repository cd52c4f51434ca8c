/*
 * outbox.c - messages for receivers outside, kept in the transaction of what they tell of until they
 * are settled. See operation.h. A target whose receiver takes nothing has only so many; what comes on
 * top is dropped and counted, never the change itself.
 */
#include "proxy/holds/operation.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

static bool has_room(struct operation *operation, struct text target, bool *room)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_MESSAGE_COUNT);
    operation_bind_words(query, 1, target);
    bool failed;
    if (!database_row(operation->database, query, &failed))
        return false;
    *room = sqlite3_column_int64(query, 0) < LIMIT_OUTBOX_MESSAGES;
    sqlite3_reset(query);
    return true;
}

static bool put(struct operation *operation, const struct hold_message *message)
{
    bool room;
    INVARIANT(message->body.size <= LIMIT_OUTBOX_BODY_BYTES);
    if (!has_room(operation, message->target, &room))
        return false;
    if (!room) {
        operation->changes.dropped++;
        return true;
    }
    sqlite3_stmt *query = database_query(operation->database, QUERY_MESSAGE_ADD);
    operation_bind_words(query, 1, message->target);
    operation_bind_words(query, 2, message->name);
    operation_bind_words(query, 3, message->body);
    sqlite3_bind_int64(query, 4, operation->now.us);
    sqlite3_bind_int64(query, 5, operation->now.us);
    return database_run(operation->database, query);
}

static bool put_all(struct operation *operation, const struct hold_message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!put(operation, &messages[i]))
            return false;
    return true;
}

bool operation_compose(struct operation *operation, const struct hold *hold, enum hold_state before)
{
    const struct hold_hooks *hooks = operation->hooks;
    const struct hold_message *messages = NULL;
    if (hooks->compose == NULL)
        return true;
    size_t count = hooks->compose(hooks->context, operation->arena, hold, before, &messages);
    return put_all(operation, messages, count);
}

enum hold_answer operation_tell(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    return put_all(operation, request->messages, request->message_count) ? HOLD_OK
                                                                         : HOLD_STORE_FAILED;
}

static struct text column_text(struct arena *arena, sqlite3_stmt *query, int at)
{
    return arena_text(arena, (struct text){(const char *)sqlite3_column_text(query, at),
                                           (size_t)sqlite3_column_bytes(query, at)});
}

/* Appends what is due for one target. */
static bool read_due(struct operation *operation, struct text target,
                     struct hold_message *messages, size_t *count)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_MESSAGE_DUE);
    operation_bind_words(query, 1, target);
    sqlite3_bind_int64(query, 2, operation->now.us);
    sqlite3_bind_int64(query, 3, operation->request->limit);
    bool failed;
    while (database_row(operation->database, query, &failed))
        messages[(*count)++] = (struct hold_message){
            .id = sqlite3_column_int64(query, 0),
            .target = target,
            .name = column_text(operation->arena, query, 1),
            .body = column_text(operation->arena, query, 2),
            .created = {sqlite3_column_int64(query, 3)},
            .due = {sqlite3_column_int64(query, 4)},
            .attempts = sqlite3_column_int64(query, 5),
        };
    return !failed;
}

/* Takes the first that is due later into account. */
static bool read_next(struct operation *operation, struct text target)
{
    struct instant *next = &operation->request->next_due;
    sqlite3_stmt *query = database_query(operation->database, QUERY_MESSAGE_NEXT);
    operation_bind_words(query, 1, target);
    sqlite3_bind_int64(query, 2, operation->now.us);
    bool failed;
    if (!database_row(operation->database, query, &failed))
        return false;
    int64_t due = sqlite3_column_int64(query, 0);
    sqlite3_reset(query);
    if (due > 0 && (next->us == 0 || due < next->us))
        next->us = due;
    return true;
}

static bool delete_stale(struct operation *operation)
{
    struct hold_request *request = operation->request;
    sqlite3_stmt *query = database_query(operation->database, QUERY_MESSAGE_STALE);
    sqlite3_bind_int64(query, 1, request->stale_before.us);
    if (!database_run(operation->database, query))
        return false;
    request->stale_count = sqlite3_changes(operation->database->handle);
    return true;
}

enum hold_answer operation_due(struct operation *operation)
{
    struct hold_request *request = operation->request;
    INVARIANT(request->limit > 0);
    size_t room = request->target_count * (size_t)request->limit;
    struct hold_message *messages = arena_array(operation->arena, room, sizeof *messages);
    request->messages = messages;
    request->message_count = 0;
    request->next_due.us = 0;
    if (!delete_stale(operation))
        return HOLD_STORE_FAILED;
    for (size_t i = 0; i < request->target_count; i++)
        if (!read_due(operation, request->targets[i], messages, &request->message_count) ||
            !read_next(operation, request->targets[i]))
            return HOLD_STORE_FAILED;
    return HOLD_OK;
}

enum hold_answer operation_settle(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    bool again = request->due.us > 0;
    sqlite3_stmt *query = database_query(operation->database,
                                         again ? QUERY_MESSAGE_AGAIN : QUERY_MESSAGE_DONE);
    sqlite3_bind_int64(query, 1, request->id);
    if (again)
        sqlite3_bind_int64(query, 2, request->due.us);
    if (!database_run(operation->database, query))
        return HOLD_STORE_FAILED;
    return sqlite3_changes(operation->database->handle) == 1 ? HOLD_OK : HOLD_NOT_FOUND;
}
