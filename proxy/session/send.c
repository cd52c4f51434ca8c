/*
 * send.c - everything that goes upstream: each message together with its entry in the queue.
 *
 * Nothing else in the session calls port->to_server. Texts come from judged statements, from the
 * constants in this folder, or (Bind's values, Close's names) from decoded messages.
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"

#include <stdlib.h>
#include <string.h>

static void flush_out(struct session *s)
{
    INVARIANT(!s->server_out.overflow);
    s->port.to_server(s->port.context, buffer_text(&s->server_out));
    buffer_clear(&s->server_out);
}

struct request *send_request(struct session *s, enum request_kind kind, enum request_role role)
{
    struct request *request = queue_push(&s->queue);
    request->kind = kind;
    request->role = role;
    s->batch_open = kind != REQUEST_SYNC && kind != REQUEST_QUERY;
    s->flushed = !s->batch_open;
    if (!s->batch_open) {
        s->batch_binds = 0;
        s->batch_executes = 0;
        s->batch_writes = false;
        s->skipping = false;
    }
    return request;
}

struct request *send_query(struct session *s, struct text sql)
{
    struct request *request = send_request(s, REQUEST_QUERY, ROLE_CLIENT);
    build_query(&s->server_out, sql);
    flush_out(s);
    return request;
}

struct request *send_parse(struct session *s, enum request_role role, struct text name,
                           struct text sql, struct text types, uint16_t type_count)
{
    struct request *request = send_request(s, REQUEST_PARSE, role);
    build_parse(&s->server_out, name, sql, (const uint8_t *)types.bytes, type_count);
    flush_out(s);
    return request;
}

struct request *send_bind(struct session *s, enum request_role role, struct text portal,
                          struct text statement, struct text rest)
{
    struct request *request = send_request(s, REQUEST_BIND, role);
    build_bind(&s->server_out, portal, statement, rest);
    flush_out(s);
    return request;
}

struct request *send_execute(struct session *s, enum request_role role, struct text portal,
                             uint32_t rows_max)
{
    struct request *request = send_request(s, REQUEST_EXECUTE, role);
    build_execute(&s->server_out, portal, rows_max);
    flush_out(s);
    return request;
}

struct request *send_describe(struct session *s, enum request_role role, uint8_t kind,
                              struct text name)
{
    struct request *request = send_request(
        s, kind == 'S' ? REQUEST_DESCRIBE_STATEMENT : REQUEST_DESCRIBE_PORTAL, role);
    build_describe(&s->server_out, kind, name);
    flush_out(s);
    return request;
}

struct request *send_close(struct session *s, enum request_role role, uint8_t kind, struct text name)
{
    struct request *request = send_request(s, REQUEST_CLOSE, role);
    build_close(&s->server_out, kind, name);
    flush_out(s);
    return request;
}

void send_copy(struct session *s, struct text whole)
{
    s->port.to_server(s->port.context, whole);
}

/* It commits, where no transaction was begun, and so runs what code has deferred. */
void send_sync(struct session *s, enum request_role role)
{
    struct request *request = send_request(s, REQUEST_SYNC, role);
    request_changes(s, request, s->code_ran && s->status != 'T' ? CHANGES_BY_CODE : 0);
    build_sync(&s->server_out);
    flush_out(s);
}

void send_flush(struct session *s)
{
    build_flush(&s->server_out);
    flush_out(s);
    s->flushed = true;
}

/* After an error the trailing Closes are skipped, so the names are closed first, too (gate.md 0). */
void send_injected_bound(struct session *s, enum injected_purpose purpose, struct text sql,
                         struct text types, uint16_t type_count, struct text bind_rest)
{
    struct text own = text_from(s->prefix);
    send_close(s, ROLE_INJECTED, 'P', own);
    send_close(s, ROLE_INJECTED, 'S', own);
    send_parse(s, ROLE_INJECTED, own, sql, types, type_count);
    send_bind(s, ROLE_INJECTED, own, own, bind_rest);
    send_execute(s, ROLE_INJECTED, own, 0)->purpose = purpose;
    send_close(s, ROLE_INJECTED, 'P', own);
    send_close(s, ROLE_INJECTED, 'S', own);
}

void send_injected(struct session *s, enum injected_purpose purpose, struct text sql)
{
    send_injected_bound(s, purpose, sql, TEXT(""), 0, TEXT(""));
}

static void set_poison(struct request *request, struct text error_body)
{
    if (error_body.size == 0)
        return;
    request->poison = memory_allocate(error_body.size);
    memcpy(request->poison, error_body.bytes, error_body.size);
    request->poison_size = error_body.size;
}

/* The name of a prepared statement that cannot exist: names that begin with pgwicket_ are refused to
 * clients, in Parse and in PREPARE, and pgwicket never prepares anything under this one. It leads from the
 * server's log to the audit record. */
static struct text impossible_name(struct session *s, struct buffer *name)
{
    buffer_init(name, 256);
    buffer_printf(name, "pgwicket_: rejected (session %.*s, statement %lld)",
                  TEXT_ARGS(s->setup.session_id), (long long)s->statement_number);
    return buffer_text(name);
}

struct request *send_poison(struct session *s, struct text error)
{
    struct request *request = send_request(s, REQUEST_BIND, ROLE_POISON);
    set_poison(request, error);
    struct buffer name;
    build_bind(&s->server_out, TEXT(""), impossible_name(s, &name), TEXT(""));
    buffer_release(&name);
    flush_out(s);
    return request;
}

struct request *send_poison_query(struct session *s, struct text error)
{
    struct request *request = send_request(s, REQUEST_QUERY, ROLE_POISON);
    set_poison(request, error);
    struct buffer text;
    build_query(&s->server_out, impossible_name(s, &text));
    buffer_release(&text);
    flush_out(s);
    return request;
}

void request_release(struct request *request)
{
    free(request->name);
    free(request->poison);
    judged_release(request->judged);
    portal_release(request->portal);
    execution_free(request->execution);
    memset(request, 0, sizeof *request);
}

void request_changes(struct session *s, struct request *request, unsigned changes)
{
    request->changes = changes;
    if (changes != 0)
        s->outstanding_changes++;
}
