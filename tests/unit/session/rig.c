/* rig.c - see rig.h. */
#include "tests/unit/session/rig.h"

#include "proxy/base/invariant.h"
#include "proxy/wire/backend.h"
#include "proxy/wire/build.h"
#include "proxy/wire/frontend.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_MAX = 32 * 1024 * 1024 };

/* --- the port ------------------------------------------------------------------------------------ */

static void to_client(void *context, struct text bytes)
{
    buffer_append_text(&((struct rig *)context)->to_client, bytes);
}

static void to_server(void *context, struct text bytes)
{
    struct rig *rig = context;
    cr_assert_not(rig->closed, "bytes for the server after the end");
    buffer_append_text(&rig->to_server, bytes);
}

static void close_session(void *context, enum session_end why)
{
    struct rig *rig = context;
    cr_assert_not(rig->closed);
    rig->closed = true;
    rig->end = why;
}

static struct instant now(void *context)
{
    (void)context;
    return (struct instant){1764500000000000};
}

static int64_t monotonic(void *context)
{
    (void)context;
    return 1000;
}

static void set_timer(void *context, int64_t after_us) { ((struct rig *)context)->timer_us = after_us; }

static void view(void *context, struct session_view *out)
{
    struct rig *rig = context;
    rig->views++;
    *out = (struct session_view){.reference = rig,
                                 .policy = &rig->policy,
                                 .catalog = rig->catalog,
                                 .upstream_name = TEXT("shop"),
                                 .generation = rig->generation,
                                 .paused = rig->paused};
}

static void release_view(void *context, void *reference)
{
    cr_assert_eq(context, reference);
    ((struct rig *)context)->views--;
}

static bool refresh_catalog(void *context)
{
    (void)context;
    return false;
}

static bool audit(void *context, const struct audit_record *record)
{
    struct rig *rig = context;
    if (rig->audit_fails)
        return false;
    buffer_printf(&rig->audited, "%.*s %lld;", TEXT_ARGS(record->outcome),
                  (long long)record->statement_number);
    return true;
}

static void cancel_server(void *context) { ((struct rig *)context)->cancels++; }

static bool is_approver(void *context, struct text name, struct text policy)
{
    (void)context;
    (void)policy;
    return text_is(name, "alice");
}

static const struct hold_approval approval = {.by = {"alice", 5}};

static bool post_hold(void *context, struct hold_request *request)
{
    struct rig *rig = context;
    if (rig->has_no_store)
        return false;
    INVARIANT(rig->request_count < RIG_REQUESTS);
    rig->requests[rig->request_count++] = request;
    if (request->operation == HOLD_OP_CREATE) {
        rig->hold = hold_copy(&rig->arena, request->hold);
        rig->hold->id = 17;
        rig->hold->approvals = &approval;
        rig->hold->approval_count = 1;
    }
    return true;
}

static void watch_hold(void *context, int64_t id) { ((struct rig *)context)->watched = id; }

static bool begin_waiting(void *context)
{
    struct rig *rig = context;
    rig->waiting += rig->waiting_refused ? 0 : 1;
    return !rig->waiting_refused;
}

static void end_waiting(void *context) { ((struct rig *)context)->waiting--; }

static int64_t begin_rehearsal(void *context)
{
    struct rig *rig = context;
    rig->rehearsals++;
    return rig->rehearsal_wait_us;
}

static void measured(void *context, enum session_measure what, double value)
{
    struct rig *rig = context;
    cr_assert_geq(value, 0);
    rig->measured[what]++;
}

static void told_error(void *context, struct text sqlstate)
{
    buffer_printf(&((struct rig *)context)->told, "%.*s;", TEXT_ARGS(sqlstate));
}

/* --- policy and catalog ---------------------------------------------------------------------------- */

static struct rule make_rule(struct rig *rig, const char *on, enum verdict verdict, enum verb verb, int64_t max_rows)
{
    struct object_pattern *pattern = arena_allocate(&rig->arena, sizeof *pattern);
    const char *problem;
    INVARIANT(object_pattern_parse(&rig->arena, text_from(on), false, pattern, &problem));
    bool writes = verb == VERB_UPDATE || verb == VERB_DELETE;
    struct rule rule = {.name = arena_printf(&rig->arena, "p.%d", (int)verb),
                        .verdict = verdict,
                        .on = pattern,
                        .on_count = 1,
                        .where = writes ? WHERE_REQUIRED : WHERE_ANY,
                        .max_rows = max_rows,
                        .max_effect = LIMIT_NONE,
                        .max_cost = -1,
                        .text = TEXT("a rule")};
    rule.verbs[verb] = true;
    return rule;
}

static void make_policy(struct rig *rig)
{
    static const struct text path[] = {{"shop", 4}};
    struct rule *rules = arena_array(&rig->arena, 6, sizeof *rules);
    rules[0] = make_rule(rig, "shop.t", VERDICT_ALLOW, VERB_SELECT, 2);
    rules[1] = make_rule(rig, "shop.t", VERDICT_ALLOW, VERB_INSERT, LIMIT_NONE);
    rules[2] = make_rule(rig, "shop.t", VERDICT_ALLOW, VERB_UPDATE, 3);
    rules[3] = make_rule(rig, "shop.t", VERDICT_HOLD, VERB_DELETE, LIMIT_NONE);
    rules[4] = make_rule(rig, "shop.coded", VERDICT_ALLOW, VERB_INSERT, LIMIT_NONE);
    rules[5] = make_rule(rig, "role:tenant", VERDICT_ALLOW, VERB_SET, LIMIT_NONE);
    rig->policy = (struct policy){.name = TEXT("p"),
                                  .introspection = true,
                                  .search_path = path,
                                  .search_path_count = 1,
                                  .search_path_pinned = true,
                                  .rules = rules,
                                  .rule_count = 5, /* the role is for who asks for it */
                                  .hold_wait_us = 10000000,
                                  .hold_expire_us = 3600000000,
                                  .hold_run_within_us = 900000000,
                                  .hold_quorum = 1,
                                  .rehearse_max_rows = 10000,
                                  .pending_max = 20,
                                  .waiting_max = 2,
                                  .prepared_statements_max = UNLIMITED};
}

static void make_catalog(struct rig *rig)
{
    static const int16_t first_column[] = {1};
    static const struct column columns[] = {{.name = {"id", 2}, .number = 1, .type = 25},
                                            {.name = {"n", 1}, .number = 2, .type = 25}};
    static const struct key key = {{"t_pkey", 6}, true, first_column, 1};
    static const struct foreign_key child_key = {
        TEXT_INIT("child_fkey"), 20001, 'a', 'c', first_column, first_column, 1};
    const struct relation relation = {.oid = 20000, .schema = TEXT("shop"), .name = TEXT("t"), .kind = 'r',
                                      .persistence = 'p', .rows = 1000, .columns = columns,
                                      .column_count = 2, .keys = &key, .key_count = 1,
                                      .referenced_by = &child_key, .referenced_by_count = 1};
    const struct relation child = {.oid = 20001, .schema = TEXT("shop"), .name = TEXT("child"), .kind = 'r',
                                   .persistence = 'p', .rows = 1000, .columns = columns,
                                   .column_count = 2};
    const struct relation coded = {.oid = 20002, .schema = TEXT("shop"), .name = TEXT("coded"), .kind = 'r',
                                   .persistence = 'p', .rows = 1000, .columns = columns,
                                   .column_count = 2, .moves_session = {[USE_STORE] = true}};
    rig->catalog = catalog_new();
    catalog_add_schema(rig->catalog, TEXT("shop"));
    catalog_add_relation(rig->catalog, &relation);
    catalog_add_relation(rig->catalog, &child);
    catalog_add_relation(rig->catalog, &coded);
    catalog_seal(rig->catalog, (struct instant){0}, 150000);
}

void rig_begin(struct rig *rig)
{
    static const struct session_port functions = {
        .to_client = to_client, .to_server = to_server, .close = close_session, .now = now,
        .monotonic_us = monotonic, .set_timer = set_timer, .view = view, .release_view = release_view,
        .refresh_catalog = refresh_catalog, .audit = audit, .cancel_server = cancel_server,
        .is_approver = is_approver, .post_hold = post_hold, .watch_hold = watch_hold, .begin_waiting = begin_waiting,
        .end_waiting = end_waiting,
        .begin_rehearsal = begin_rehearsal,
        .measured = measured,
        .told_error = told_error};
    const struct session_setup setup = {.agent = TEXT("agent"), .session_id = TEXT("0123456789abcdef"),
                                        .client_address = TEXT("127.0.0.1"), .client_port = 4000,
                                        .database = TEXT("shop"), .server_version = 150000};
    *rig = (struct rig){.status = 'I', .timer_us = -1, .deleted_at_once = 1};
    arena_init(&rig->arena);
    struct buffer *buffers[] = {&rig->to_client, &rig->to_server, &rig->replies, &rig->input, &rig->audited,
                                &rig->told};
    for (size_t i = 0; i < ARRAY_SIZE(buffers); i++)
        buffer_init(buffers[i], BUFFER_MAX);
    make_policy(rig);
    make_catalog(rig);
    struct session_port port = functions;
    port.context = rig;
    rig->session = session_new(&port, &setup);
}

void rig_end(struct rig *rig)
{
    session_free(rig->session);
    for (size_t i = 0; i < rig->request_count; i++) {
        arena_release(&rig->requests[i]->arena);
        free(rig->requests[i]);
    }
    cr_assert_eq(rig->views, 0, "a view was not released");
    cr_assert_eq(rig->waiting, 0, "it is still counted as waiting");
    struct buffer *buffers[] = {&rig->to_client, &rig->to_server, &rig->replies, &rig->input, &rig->audited,
                                &rig->told};
    for (size_t i = 0; i < ARRAY_SIZE(buffers); i++)
        buffer_release(buffers[i]);
    catalog_release(rig->catalog);
    arena_release(&rig->arena);
}

/* --- the server -------------------------------------------------------------------------------------- */

static struct rig_name *find_name(struct rig_name *names, struct text name)
{
    for (size_t i = 0; i < RIG_NAMES; i++)
        if (names[i].sql[0] != '\0' && text_is(name, names[i].name))
            return &names[i];
    return NULL;
}

static void set_name(struct rig_name *names, struct text name, const char *sql)
{
    struct rig_name *entry = find_name(names, name);
    for (size_t i = 0; i < RIG_NAMES && entry == NULL; i++)
        if (names[i].sql[0] == '\0')
            entry = &names[i];
    INVARIANT(entry != NULL && name.size < sizeof entry->name);
    *entry = (struct rig_name){{0}, {0}};
    memcpy(entry->name, name.bytes, name.size);
    memcpy(entry->sql, sql, strnlen(sql, sizeof entry->sql - 1));
}

static void answer_error(struct rig *rig, const char *sqlstate)
{
    const struct error_message error = {.severity = "ERROR", .sqlstate = sqlstate, .message = TEXT("no")};
    build_error(&rig->replies, &error);
    if (rig->status == 'T')
        rig->status = 'E';
}

static void fail(struct rig *rig, const char *sqlstate)
{
    answer_error(rig, sqlstate);
    rig->skipping = true;
}

static bool begins(const char *sql, const char *with) { return strncmp(sql, with, strlen(with)) == 0; }

static void answer_rows(struct rig *rig, int rows, uint16_t columns, const char *value)
{
    struct text values[8];
    for (size_t i = 0; i < ARRAY_SIZE(values); i++)
        values[i] = text_from(value);
    for (int i = 0; i < rows; i++)
        build_data_row(&rig->replies, values, columns);
}

/* Its counters: every DELETE so far took one row of the one table. */
static bool answer_snapshot(struct rig *rig, const char *sql)
{
    char json[200];
    if (!begins(sql, "SELECT pg_catalog.json_build_object("))
        return false;
    snprintf(json, sizeof json,
             "{\"counting\": \"on\", \"counts\": [[20000, \"shop.t\", 0, 0, %d]], "
             "\"sequences\": null, \"locks\": null}",
             rig->deleted);
    answer_rows(rig, 1, 1, json);
    build_command_complete(&rig->replies, TEXT("SELECT 1"));
    return true;
}

/* Those of the tables that foreign keys reach: rows, and the tables' files. */
static bool answer_counters(struct rig *rig, const char *sql)
{
    char rows[20];
    if (!begins(sql, "SELECT CASE WHEN pg_catalog.current_setting('track_counts')"))
        return false;
    snprintf(rows, sizeof rows, "%d", rig->carried);
    const struct text values[] = {text_from(rows), TEXT("20001")};
    build_data_row(&rig->replies, values, ARRAY_SIZE(values));
    build_command_complete(&rig->replies, TEXT("SELECT 1"));
    return true;
}

static bool answer_pins(struct rig *rig, const char *sql)
{
    const struct rig_pins *pins = &rig->pins;
    const char *const shown[] = {pins->temporary, pins->names, pins->role, "agent", pins->path, "on", "UTF8", "on",
                                 "origin", "18"};
    size_t count = ARRAY_SIZE(shown) - (strstr(sql, "app.tenant") == NULL);
    struct text values[ARRAY_SIZE(shown)];
    if (!begins(sql, "SELECT (SELECT pg_catalog.string_agg(c.relname"))
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = text_from(shown[i] != NULL ? shown[i] : "");
    if (!rig->no_pins)
        build_data_row(&rig->replies, values, (uint16_t)count);
    build_command_complete(&rig->replies, TEXT("SELECT 1"));
    return true;
}

static void follow_pins(struct rig *rig, const char *sql)
{
    if (begins(sql, "SET LOCAL ROLE"))
        rig->pins.role = "tenant";
    if (begins(sql, "COMMIT") || begins(sql, "ROLLBACK"))
        rig->pins.role = NULL;
    if (rig->moving != NULL && begins(sql, rig->moving))
        rig->pins = rig->moved;
}

static bool is_poison(const char *sql) { return begins(sql, "pgwicket_: "); }

/* False with an error's answer. */
static bool answer_statement(struct rig *rig, const char *sql)
{
    static const struct canned usual[] = {
        {.begins = "BEGIN", .tag = "BEGIN"}, {.begins = "COMMIT", .tag = "COMMIT"},
        {.begins = "ROLLBACK", .tag = "ROLLBACK"}, {.begins = "SAVEPOINT", .tag = "SAVEPOINT"},
        {.begins = "RELEASE", .tag = "RELEASE"}, {.begins = "SET", .tag = "SET"},
        {.begins = "EXPLAIN", .tag = "EXPLAIN", .rows = 1}, {.begins = "SELECT", .tag = "SELECT 1", .rows = 1},
        {.begins = "INSERT", .tag = "INSERT 0 1"}, {.begins = "UPDATE", .tag = "UPDATE 1"},
        {.begins = "DELETE", .tag = "DELETE 1"}, {0}};
    const struct canned *found = rig->canned;
    while (found != NULL && found->begins != NULL && !begins(sql, found->begins))
        found++;
    if (found == NULL || found->begins == NULL)
        for (found = usual; found->begins != NULL && !begins(sql, found->begins);)
            found++;
    if (rig->status == 'E' && !begins(sql, "ROLLBACK") && !begins(sql, "COMMIT"))
        found = &(const struct canned){.begins = "", .error = "25P02"};
    follow_pins(rig, sql);
    if (found->begins == NULL || found->error != NULL) {
        answer_error(rig, found->error != NULL ? found->error : "42601");
        return false;
    }
    bool explains = begins(sql, "EXPLAIN");
    if (answer_snapshot(rig, sql) || answer_counters(rig, sql) || answer_pins(rig, sql))
        return true;
    if (begins(sql, "UPDATE"))
        rig->carried += rig->carried_at_once;
    if (begins(sql, "DELETE") && strcmp(found->tag, "DELETE 0") != 0)
        rig->deleted += rig->deleted_at_once;
    answer_rows(rig, found->rows, explains ? 1 : 7,
                explains ? "[{\"Plan\": {\"Node Type\": \"ModifyTable\", \"Total Cost\": 1}}]" : "7");
    if (begins(sql, "BEGIN"))
        rig->status = 'T';
    if (begins(sql, "COMMIT") || (begins(sql, "ROLLBACK") && !begins(sql, "ROLLBACK TO")))
        rig->status = 'I';
    else if (begins(sql, "ROLLBACK TO"))
        rig->status = 'T';
    build_command_complete(&rig->replies, text_from(found->tag));
    return true;
}

static const char *copy_text(struct rig *rig, struct text text)
{
    char *copy = arena_allocate(&rig->arena, text.size + 1);
    memcpy(copy, text.bytes, text.size);
    return copy;
}

static void on_query(struct rig *rig, struct text body)
{
    struct query_message message;
    cr_assert(decode_query(body, &message));
    const char *sql = copy_text(rig, message.sql);
    if (is_poison(sql) && !rig->poison_succeeds) {
        answer_error(rig, "42601");
    } else {
        const struct text column = TEXT("c");
        if (begins(sql, "SELECT"))
            build_row_description(&rig->replies, &column, 1);
        (void)(is_poison(sql) || answer_statement(rig, sql));
    }
    build_ready(&rig->replies, rig->status);
}

static void on_bind(struct rig *rig, struct text body)
{
    struct bind_message message;
    cr_assert(decode_bind(body, &message));
    const struct rig_name *statement = find_name(rig->statements, message.statement);
    if (statement == NULL && !rig->poison_succeeds) {
        fail(rig, "26000");
        return;
    }
    set_name(rig->portals, message.portal, statement != NULL ? statement->sql : "SELECT");
    build_empty_message(&rig->replies, BACKEND_BIND_COMPLETE);
}

static void on_execute(struct rig *rig, struct text body)
{
    struct execute_message message;
    cr_assert(decode_execute(body, &message));
    const struct rig_name *portal = find_name(rig->portals, message.portal);
    if (portal == NULL)
        fail(rig, "34000");
    else if (!answer_statement(rig, portal->sql))
        rig->skipping = true;
}

static void on_sync(struct rig *rig)
{
    if (rig->sync_fails && !rig->skipping)
        answer_error(rig, "23503");
    rig->skipping = false;
    build_ready(&rig->replies, rig->status);
}

static void on_parse(struct rig *rig, struct text body)
{
    struct parse_message message;
    cr_assert(decode_parse(body, &message));
    if (rig->status == 'E' && !text_starts_with(message.sql, "ROLLBACK")) {
        fail(rig, "25P02");
        return;
    }
    set_name(rig->statements, message.name, copy_text(rig, message.sql));
    build_empty_message(&rig->replies, rig->parse_answers_wrongly ? BACKEND_BIND_COMPLETE : BACKEND_PARSE_COMPLETE);
}

static void on_close(struct rig *rig, struct text body)
{
    struct named_message message;
    cr_assert(decode_named(body, &message));
    struct rig_name *entry =
        find_name(message.kind == 'S' ? rig->statements : rig->portals, message.name);
    if (entry != NULL)
        entry->sql[0] = '\0';
    build_empty_message(&rig->replies, BACKEND_CLOSE_COMPLETE);
}

static void serve(struct rig *rig, const struct frame *frame)
{
    if (rig->skipping && frame->type != FRONTEND_SYNC)
        return;
    switch (frame->type) {
    case FRONTEND_QUERY: on_query(rig, frame->body); break;
    case FRONTEND_PARSE: on_parse(rig, frame->body); break;
    case FRONTEND_BIND: on_bind(rig, frame->body); break;
    case FRONTEND_DESCRIBE: build_empty_message(&rig->replies, BACKEND_NO_DATA); break;
    case FRONTEND_EXECUTE: on_execute(rig, frame->body); break;
    case FRONTEND_CLOSE: on_close(rig, frame->body); break;
    case FRONTEND_SYNC: on_sync(rig); break;
    case FRONTEND_FLUSH: break;
    default: cr_assert_fail("message %c for the server", frame->type);
    }
}

/* --- moving bytes -------------------------------------------------------------------------------------- */

static bool offer(struct rig *rig)
{
    size_t used = session_client_bytes(rig->session, buffer_text(&rig->input));
    cr_assert_leq(used, rig->input.size);
    buffer_consume(&rig->input, used);
    return used > 0;
}

static bool answer(struct rig *rig)
{
    bool any = false;
    struct frame frame;
    while (rig->seen < rig->to_server.size) {
        struct text rest = text_behind(buffer_text(&rig->to_server), rig->seen);
        cr_assert_eq(frame_read(rest, BUFFER_MAX, &frame), FRAME_COMPLETE);
        serve(rig, &frame);
        rig->seen += frame.size;
    }
    /* Byte by byte: however they come, they mean the same. */
    while (rig->replies.size > 0 && !rig->closed) {
        any = true;
        size_t offered = 1;
        while (offered <= rig->replies.size) {
            size_t used = session_server_bytes(rig->session, text_front(buffer_text(&rig->replies), offered));
            buffer_consume(&rig->replies, used);
            offered = used > 0 ? 1 : offered + 1;
            if (rig->closed)
                break;
        }
    }
    return any;
}

static void answer_request(struct rig *rig, enum hold_answer answer, enum hold_state state)
{
    cr_assert_gt(rig->request_count, 0, "nothing was asked of the store");
    struct hold_request *request = rig->requests[0];
    rig->request_count--;
    memmove(rig->requests, rig->requests + 1, rig->request_count * sizeof rig->requests[0]);
    request->answer = answer;
    if (rig->hold != NULL && answer != HOLD_STORE_FAILED && answer != HOLD_NOT_FOUND) {
        request->holds = arena_array(&request->arena, 1, sizeof *request->holds);
        request->holds[0] = hold_copy(&request->arena, rig->hold);
        request->holds[0]->state = state;
        request->hold_count = 1;
    }
    session_hold_answer(rig->session, request);
}

static bool answer_join(struct rig *rig)
{
    if (rig_asked(rig) != HOLD_OP_JOIN)
        return false;
    answer_request(rig, rig->joined != HOLD_NONE ? HOLD_JOINED : HOLD_NOT_FOUND, rig->joined);
    return true;
}

void rig_settle(struct rig *rig)
{
    bool moved = true;
    while (moved && !rig->closed) {
        moved = answer(rig);
        moved = offer(rig) || moved;
        moved = answer_join(rig) || moved;
        moved = moved || rig->seen < rig->to_server.size;
    }
}

void rig_send(struct rig *rig, struct text bytes)
{
    buffer_append_text(&rig->input, bytes);
    (void)offer(rig);
}

void rig_send_cut(struct rig *rig, struct text bytes, size_t piece, size_t cut)
{
    size_t at = 0;
    while (at < bytes.size) {
        size_t size = piece > 0 ? piece : (at == 0 ? cut : bytes.size - at);
        size = size < bytes.size - at ? size : bytes.size - at;
        rig_send(rig, (struct text){bytes.bytes + at, size});
        at += size;
    }
}

void rig_run(struct rig *rig, struct text bytes)
{
    rig_send(rig, bytes);
    rig_settle(rig);
}

/* --- the store -------------------------------------------------------------------------------------------- */

enum hold_operation rig_asked(const struct rig *rig)
{
    return rig->request_count > 0 ? rig->requests[0]->operation : (enum hold_operation)0;
}

void rig_answer(struct rig *rig, enum hold_answer answer, enum hold_state state)
{
    answer_request(rig, answer, state);
    rig_settle(rig);
}

void rig_hold_changed(struct rig *rig, enum hold_state state)
{
    struct hold *hold = hold_copy(&rig->arena, rig->hold);
    hold->state = state;
    hold->decision_reason = TEXT("wrong customer");
    session_hold_changed(rig->session, hold);
    rig_settle(rig);
}

/* --- what has passed ------------------------------------------------------------------------------------------ */

const char *rig_client(struct rig *rig)
{
    struct buffer seen;
    buffer_init(&seen, BUFFER_MAX);
    struct frame frame;
    for (size_t at = 0; at < rig->to_client.size; at += frame.size) {
        struct text rest = text_behind(buffer_text(&rig->to_client), at);
        cr_assert_eq(frame_read(rest, BUFFER_MAX, &frame), FRAME_COMPLETE, "half a message for the client");
        struct error_fields fields;
        buffer_append_byte(&seen, frame.type);
        if (frame.type == BACKEND_ERROR && decode_error(frame.body, &fields))
            buffer_printf(&seen, "(%.*s)", TEXT_ARGS(fields.sqlstate));
        if (frame.type == BACKEND_READY)
            buffer_append_byte(&seen, (uint8_t)frame.body.bytes[0]);
    }
    const char *text = copy_text(rig, buffer_text(&seen));
    buffer_release(&seen);
    return text;
}

const char *rig_told(struct rig *rig)
{
    struct frame frame;
    struct error_fields fields = {0};
    for (size_t at = 0; at < rig->to_client.size; at += frame.size) {
        struct text rest = text_behind(buffer_text(&rig->to_client), at);
        cr_assert_eq(frame_read(rest, BUFFER_MAX, &frame), FRAME_COMPLETE, "half a message for the client");
        if (frame.type == BACKEND_ERROR)
            cr_assert(decode_error(frame.body, &fields));
    }
    return copy_text(rig, fields.message);
}

static void show_to_server(struct buffer *seen, const struct frame *frame)
{
    struct query_message query;
    struct parse_message parse;
    struct bind_message bind;
    struct text sql = TEXT("");
    bool poison = false;
    if (frame->type == FRONTEND_FLUSH)
        return;
    if (frame->type == FRONTEND_QUERY && decode_query(frame->body, &query)) {
        sql = query.sql;
        poison = text_starts_with(sql, "pgwicket_: ");
    }
    if (frame->type == FRONTEND_PARSE && decode_parse(frame->body, &parse))
        sql = parse.sql;
    if (frame->type == FRONTEND_BIND && decode_bind(frame->body, &bind))
        poison = text_starts_with(bind.statement, "pgwicket_: ");
    size_t word = 0;
    while (word < sql.size && sql.bytes[word] != ' ')
        word++;
    buffer_append_byte(seen, poison ? 'X' : frame->type);
    if (word > 0 && !poison)
        buffer_printf(seen, "(%.*s)", (int)word, sql.bytes);
}

const char *rig_server(struct rig *rig)
{
    struct buffer seen;
    buffer_init(&seen, BUFFER_MAX);
    struct frame frame;
    for (size_t at = 0; at < rig->to_server.size; at += frame.size) {
        struct text rest = text_behind(buffer_text(&rig->to_server), at);
        cr_assert_eq(frame_read(rest, BUFFER_MAX, &frame), FRAME_COMPLETE, "half a message for the server");
        show_to_server(&seen, &frame);
    }
    const char *text = copy_text(rig, buffer_text(&seen));
    buffer_release(&seen);
    return text;
}

int rig_times(struct rig *rig, const char *what)
{
    int count = 0;
    for (const char *at = rig_server(rig); (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

void rig_forget(struct rig *rig)
{
    cr_assert_eq(rig->seen, rig->to_server.size);
    buffer_clear(&rig->to_client);
    buffer_clear(&rig->to_server);
    buffer_clear(&rig->audited);
    buffer_clear(&rig->told);
    rig->seen = 0;
}

/* --- the client's messages --------------------------------------------------------------------------------------- */

static struct text keep(struct rig *rig, struct buffer *buffer)
{
    struct text text = arena_text(&rig->arena, buffer_text(buffer));
    buffer_release(buffer);
    return text;
}

struct text rig_query(struct rig *rig, const char *sql)
{
    struct buffer out;
    buffer_init(&out, BUFFER_MAX);
    build_query(&out, text_from(sql));
    return keep(rig, &out);
}

struct text rig_extended(struct rig *rig, const char *sql)
{
    struct buffer out;
    buffer_init(&out, BUFFER_MAX);
    build_parse(&out, TEXT(""), text_from(sql), NULL, 0);
    build_bind(&out, TEXT(""), TEXT(""), TEXT(""));
    build_describe(&out, 'P', TEXT(""));
    build_execute(&out, TEXT(""), 0);
    build_sync(&out);
    return keep(rig, &out);
}

struct text rig_join(struct rig *rig, struct text a, struct text b)
{
    char *both = arena_allocate(&rig->arena, a.size + b.size);
    memcpy(both, a.bytes, a.size);
    memcpy(both + a.size, b.bytes, b.size);
    return (struct text){both, a.size + b.size};
}
