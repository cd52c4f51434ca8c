/*
 * browse.c - reading holds for the pages: see browse.h.
 *
 * Lists are read as numbers first, then row by row: effects are long, and sorting would copy them. A
 * damaged hold is left out and said in the log.
 */
#include "proxy/holds/browse.h"

#include "proxy/base/json_out.h"
#include "proxy/base/limits.h"
#include "proxy/base/log.h"
#include "proxy/holds/operation.h"
#include "proxy/holds/row.h"

enum { OTHERS_MAX = 10 };

static const int64_t day_us = 24 * 3600 * (int64_t)1000000;

/* A list of names for json_each; empty: no limit. */
static struct text names_as_json(struct arena *arena, const struct text *names, size_t count)
{
    struct buffer buffer;
    buffer_init(&buffer, LIMIT_HOLD_LIST_BYTES);
    struct json_out json = json_out_to(&buffer);
    json_open(&json, '[');
    for (size_t i = 0; i < count; i++)
        json_text(&json, names[i]);
    json_close(&json, ']');
    struct text text = count > 0 ? arena_text(arena, buffer_text(&buffer)) : TEXT("");
    buffer_release(&buffer);
    return text;
}

/* The pattern of LIKE that finds the words anywhere. */
static struct text words_as_pattern(struct arena *arena, struct text words)
{
    if (words.size == 0)
        return words;
    char *bytes = arena_allocate(arena, words.size * 2 + 3);
    size_t size = 0;
    bytes[size++] = '%';
    for (size_t i = 0; i < words.size; i++) {
        if (words.bytes[i] == '%' || words.bytes[i] == '_' || words.bytes[i] == '\\')
            bytes[size++] = '\\';
        bytes[size++] = words.bytes[i];
    }
    bytes[size++] = '%';
    return (struct text){bytes, size};
}

static void bind_visible(struct operation *operation, sqlite3_stmt *query)
{
    const struct hold_request *request = operation->request;
    operation_bind_words(
        query, 1, names_as_json(operation->arena, request->policies, request->policy_count));
}

static void bind_filter(struct operation *operation, sqlite3_stmt *query, bool filtered)
{
    const struct hold_request *request = operation->request;
    const struct hold_browse *browse = request->browse;
    static const struct text any = TEXT_INIT("");
    int64_t number = -1;
    bool by_state = filtered && request->filter_state != HOLD_NONE;
    bind_visible(operation, query);
    operation_bind_words(query, 2, filtered ? request->agent : any);
    operation_bind_words(query, 3, filtered ? browse->verb : any);
    operation_bind_words(query, 4,
                         by_state ? text_from(hold_state_name(request->filter_state)) : any);
    operation_bind_words(query, 5,
                         filtered ? words_as_pattern(operation->arena, browse->words) : any);
    sqlite3_bind_int64(query, 6, text_to_int64(browse->words, &number) ? number : -1);
}

static struct text column_text(struct arena *arena, sqlite3_stmt *query, int column)
{
    return arena_text(arena, (struct text){(const char *)sqlite3_column_text(query, column),
                                           (size_t)sqlite3_column_bytes(query, column)});
}

/* Pending holds, first to expire first. */
static bool read_queue(struct operation *operation, bool filtered, const struct queued **queue,
                       size_t *count)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_QUEUE);
    bind_filter(operation, query, filtered);
    void *items = NULL;
    size_t capacity = 0;
    bool failed;
    *count = 0;
    while (database_row(operation->database, query, &failed) && *count < LIMIT_QUEUED_HOLDS) {
        struct queued *queued =
            arena_push(operation->arena, &items, count, &capacity, sizeof *queued);
        queued->id = sqlite3_column_int64(query, 0);
        queued->agent = column_text(operation->arena, query, 1);
        queued->verb = column_text(operation->arena, query, 2);
    }
    sqlite3_reset(query);
    *queue = items;
    return !failed;
}

/* Adds the hold to the answer, if it can be read. False: the store fails. */
static bool add_hold(struct operation *operation, int64_t id)
{
    struct hold_request *request = operation->request;
    sqlite3_stmt *query = database_query(operation->database, QUERY_GET);
    sqlite3_bind_int64(query, 1, id);
    bool failed;
    if (!database_row(operation->database, query, &failed))
        return !failed;
    struct hold *hold = row_read(operation->arena, query);
    sqlite3_reset(query);
    if (hold == NULL) {
        log_error("hold %lld in the store is damaged", (long long)id);
        return true;
    }
    if (!operation_read_approvals(operation, hold))
        return false;
    request->holds[request->hold_count++] = hold;
    return true;
}

static void make_room(struct operation *operation, size_t count)
{
    struct hold_request *request = operation->request;
    request->holds = arena_array(operation->arena, count + 1, sizeof *request->holds);
    request->hold_count = 0;
}

static bool read_queue_page(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    const struct queued *found;
    size_t count;
    if (!read_queue(operation, true, &found, &count))
        return false;
    size_t first = (size_t)request->browse->offset;
    size_t limit = (size_t)request->limit;
    bool fine = true;
    make_room(operation, limit);
    for (size_t i = first; i < count && i - first < limit && fine; i++)
        fine = add_hold(operation, found[i].id);
    request->browse->total = (int64_t)count;
    return fine;
}

static bool read_history_page(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    int64_t ids[LIMIT_HOLDS_PER_LIST];
    size_t count = 0;
    bool failed;
    sqlite3_stmt *query = database_query(operation->database, QUERY_HISTORY);
    bind_filter(operation, query, true);
    sqlite3_bind_int64(query, 7, request->after > 0 ? request->after : INT64_MAX);
    while (count < (size_t)request->limit && count < LIMIT_HOLDS_PER_LIST &&
           database_row(operation->database, query, &failed))
        ids[count++] = sqlite3_column_int64(query, 0);
    sqlite3_reset(query);
    bool fine = true;
    make_room(operation, count);
    for (size_t i = 0; i < count && fine; i++)
        fine = add_hold(operation, ids[i]);
    query = database_query(operation->database, QUERY_HISTORY_TOTAL);
    bind_filter(operation, query, true);
    if (!fine || !database_row(operation->database, query, &failed))
        return false;
    request->browse->total = sqlite3_column_int64(query, 0);
    sqlite3_reset(query);
    return true;
}

static bool read_others(struct operation *operation, const struct hold *hold)
{
    const struct hold_request *request = operation->request;
    const struct hold_browse *browse = request->browse;
    bool fine = true;
    for (size_t i = 0; i < browse->queue_count && request->hold_count <= OTHERS_MAX && fine; i++)
        if (browse->queue[i].id != hold->id && text_equal(browse->queue[i].agent, hold->agent))
            fine = add_hold(operation, browse->queue[i].id);
    return fine;
}

static enum hold_answer read_one(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    make_room(operation, OTHERS_MAX + 1);
    if (!add_hold(operation, request->id))
        return HOLD_STORE_FAILED;
    if (request->hold_count == 0 ||
        !hold_visible(request->holds[0], request->policies, request->policy_count))
        return HOLD_NOT_FOUND;
    return read_others(operation, request->holds[0]) ? HOLD_OK : HOLD_STORE_FAILED;
}

static bool read_today(struct operation *operation)
{
    struct hold_browse *browse = operation->request->browse;
    sqlite3_stmt *query = database_query(operation->database, QUERY_ENDED_SINCE);
    bind_visible(operation, query);
    sqlite3_bind_int64(query, 2, operation->now.us / day_us * day_us);
    bool failed;
    while (database_row(operation->database, query, &failed)) {
        struct text name = column_text(operation->arena, query, 0);
        browse->today[hold_state_from_name(name)] = sqlite3_column_int64(query, 1);
    }
    return !failed;
}

enum hold_answer operation_browse(struct operation *operation)
{
    struct hold_browse *browse = operation->request->browse;
    if (!read_queue(operation, false, &browse->queue, &browse->queue_count) ||
        (browse->queue_count == 0 && !read_today(operation)))
        return HOLD_STORE_FAILED;
    switch (browse->view) {
    case VIEW_NOTHING:
        return HOLD_OK;
    case VIEW_QUEUE:
        return read_queue_page(operation) ? HOLD_OK : HOLD_STORE_FAILED;
    case VIEW_ONE:
        return read_one(operation);
    case VIEW_HISTORY:
        return read_history_page(operation) ? HOLD_OK : HOLD_STORE_FAILED;
    }
    return HOLD_STORE_FAILED;
}
