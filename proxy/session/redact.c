/*
 * redact.c - a server's error in the words that an agent may read.
 *
 * A MESSAGE quotes what it is about: names that the policy does not open, or values of rows. So
 * quoted pieces stay only if they are known to be the agent's own or open to it; from the first
 * that is not, up to the last quote, "..." stands instead. What is not recognised is left out: in
 * doubt a text says less.
 */
#include "proxy/session/redact.h"

#include "rules/open.h"

#include <string.h>
#include <strings.h>

enum { PIECES_MAX = 8 }; /* no message of PostgreSQL quotes more */

static const char left_out[] = "\"...\"";

struct redacting {
    struct arena *arena;
    const struct redact_scope *scope;
    const struct error_fields *fields;
};

/* --- which words an agent may read ---------------------------------------------------------------
 */

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

static bool is_in(struct text text, struct text word)
{
    for (size_t at = 0; word.size > 0 && at + word.size <= text.size; at++)
        if (strncasecmp(text.bytes + at, word.bytes, word.size) == 0 &&
            (at == 0 || !is_word_byte(text.bytes[at - 1])) &&
            (at + word.size == text.size || !is_word_byte(text.bytes[at + word.size])))
            return true;
    return false;
}

static bool has_class(struct text sqlstate, const char *const *classes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_starts_with(sqlstate, classes[i]))
            return true;
    return false;
}

/* Errors about names and definitions, which quote no row: here the agent's words may be said again.
 * Of others they may not, else a statement full of guesses would learn which of them is right. */
static bool quotes_no_values(struct text sqlstate)
{
    static const char *const classes[] = {"0A", "2B", "3F", "42", "55"};
    return has_class(sqlstate, classes, ARRAY_SIZE(classes));
}

static bool is_object_name(struct arena *arena, const struct action *action, struct text word)
{
    return action->part != PART_VIEW && action->object.kind == OBJECT_NAME &&
           (text_equal(word, action->object.name) ||
            text_equal(word, object_text(arena, &action->object)));
}

static struct text behind_last_dot(struct text word)
{
    size_t at = word.size;
    while (at > 0 && word.bytes[at - 1] != '.')
        at--;
    return text_behind(word, at);
}

/* A relation that the statement names, or a column that is open wherever it touches one of that
 * name. */
static bool is_open_name(const struct redacting *redacting, struct text word)
{
    const struct redact_scope *scope = redacting->scope;
    struct text column = behind_last_dot(word);
    bool is_column = false;
    for (size_t i = 0; i < scope->statement_count; i++) {
        const struct shape *shape = &scope->statements[i].shape;
        for (size_t j = 0; j < shape->action_count; j++) {
            const struct action *action = &shape->actions[j];
            if (is_object_name(redacting->arena, action, word))
                return true;
            if (action->relation == NULL || relation_column(action->relation, column) == NULL)
                continue;
            if (!column_is_open(redacting->arena, scope->context, action->relation, column))
                return false;
            is_column = true;
        }
    }
    return is_column;
}

/* A constraint violation quotes names only, and under introspection: allow names can be looked up;
 * but a name made from that of a closed column would tell it. */
static bool is_catalog_name(const struct redacting *redacting, struct text word)
{
    const struct decide_context *context = redacting->scope->context;
    const struct error_fields *fields = redacting->fields;
    if (!text_starts_with(fields->sqlstate, "23") || !context->policy->introspection ||
        context->catalog == NULL)
        return false;
    const struct relation *relation =
        catalog_relation(context->catalog, fields->schema, fields->table);
    for (size_t i = 0; relation != NULL && i < relation->column_count; i++) {
        struct text column = relation->columns[i].name;
        if (memmem(word.bytes, word.size, column.bytes, column.size) != NULL &&
            !column_is_open(redacting->arena, context, relation, column))
            return false;
    }
    return relation != NULL;
}

static bool may_be_read(const struct redacting *redacting, struct text word)
{
    const struct redact_scope *scope = redacting->scope;
    if (quotes_no_values(redacting->fields->sqlstate) && is_in(scope->own, word))
        return true;
    return scope->context != NULL &&
           (is_open_name(redacting, word) || is_catalog_name(redacting, word));
}

/* --- quoted pieces -------------------------------------------------------------------------------
 */

/* Size of the quotation mark at the front of a text, of any language; 0: there is none. */
static size_t mark_size(struct text text)
{
    static const struct text marks[] = {
        TEXT_INIT("\""),           TEXT_INIT("\xC2\xAB"),     TEXT_INIT("\xC2\xBB"),
        TEXT_INIT("\xE2\x80\x98"), TEXT_INIT("\xE2\x80\x99"), TEXT_INIT("\xE2\x80\x9A"),
        TEXT_INIT("\xE2\x80\x9C"), TEXT_INIT("\xE2\x80\x9D"), TEXT_INIT("\xE2\x80\x9E"),
        TEXT_INIT("\xE2\x80\xB9"), TEXT_INIT("\xE2\x80\xBA"), TEXT_INIT("\xE3\x80\x8C"),
        TEXT_INIT("\xE3\x80\x8D"),
    };
    for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
        if (text_starts_with(text, marks[i].bytes))
            return marks[i].size;
    return 0;
}

struct quotes {
    size_t starts[2 * PIECES_MAX]; /* of marks; after pairing, of opening ones at even places */
    size_t ends[2 * PIECES_MAX];
    size_t count;
    size_t last_end; /* behind the last mark of all, also of those that had no room */
};

static struct quotes find_quotes(struct text text)
{
    struct quotes quotes = {0};
    for (size_t at = 0; at < text.size;) {
        size_t size = mark_size(text_behind(text, at));
        if (size > 0) {
            if (quotes.count < ARRAY_SIZE(quotes.starts)) {
                quotes.starts[quotes.count] = at;
                quotes.ends[quotes.count] = at + size;
            }
            quotes.count++;
            quotes.last_end = at + size;
        }
        at += size > 0 ? size : 1;
    }
    return quotes;
}

/* Where the first piece begins that may not be read; the text's size: all may be. */
static size_t first_closed(const struct redacting *redacting, struct text text,
                           const struct quotes *quotes)
{
    if (quotes->count == 0)
        return text.size;
    if (quotes->count % 2 != 0 || quotes->count > ARRAY_SIZE(quotes->starts))
        return quotes->starts[0]; /* a value with a mark in it: no telling where it ends */
    for (size_t i = 0; i < quotes->count; i += 2) {
        struct text piece = {text.bytes + quotes->ends[i], quotes->starts[i + 1] - quotes->ends[i]};
        if (!may_be_read(redacting, piece))
            return quotes->starts[i];
    }
    return text.size;
}

static struct text without_closed_pieces(const struct redacting *redacting, struct text text)
{
    struct quotes quotes = find_quotes(text);
    size_t from = first_closed(redacting, text, &quotes);
    if (from == text.size)
        return text;
    struct text rest = quotes.count % 2 == 0 ? text_behind(text, quotes.last_end) : TEXT("");
    return arena_printf(redacting->arena, "%.*s%s%.*s", (int)from, text.bytes, left_out,
                        TEXT_ARGS(rest));
}

/* "permission denied for table staff": the name at the end has no quotes. */
static struct text without_closed_end(const struct redacting *redacting, struct text text)
{
    size_t at = text.size;
    while (at > 0 && text.bytes[at - 1] != ' ')
        at--;
    struct text word = text_behind(text, at);
    if (!text_is(redacting->fields->sqlstate, "42501") || find_quotes(word).count > 0 ||
        may_be_read(redacting, word))
        return text;
    return arena_printf(redacting->arena, "%.*s...", (int)at, text.bytes);
}

/* --- where an error comes from ------------------------------------------------------------------ */

/* By RAISE in a function of the owner, who chose the words. */
static bool is_owners(const struct error_fields *fields)
{
    return text_is(fields->routine, "exec_stmt_raise");
}

/* About the session alone: its transaction, and the names that the client has given in it to
 * statements, portals, cursors and savepoints. What a function does comes with a context. */
static bool is_of_session(const struct error_fields *fields)
{
    static const char *const classes[] = {"25",    "26",    "34",    "3B",
                                          "08P01", "42P03", "42P05", "57014"};
    return fields->context.size == 0 && !is_owners(fields) &&
           has_class(fields->sqlstate, classes, ARRAY_SIZE(classes));
}

/* In the words of a foreign server's library, which need not quote hosts, ports and users. */
static bool is_of_foreign_server(const struct error_fields *fields)
{
    static const char *const classes[] = {"08", "HV"};
    return has_class(fields->sqlstate, classes, ARRAY_SIZE(classes)) && !is_of_session(fields);
}

static struct text behind(struct text text, const char *part)
{
    const char *found = memmem(text.bytes, text.size, part, strlen(part));
    return found != NULL ? text_behind(text, (size_t)(found - text.bytes) + strlen(part))
                         : TEXT("");
}

static struct text digits(struct text text)
{
    size_t count = 0;
    while (count < text.size && text.bytes[count] >= '0' && text.bytes[count] <= '9')
        count++;
    return text_front(text, count);
}

static bool copies(const struct redact_scope *scope)
{
    return scope->statement_count == 1 && scope->statements[0].shape.kind == STATEMENT_COPY_IN;
}

/* "COPY orders, line 3, column total: "x"": 3, by the outermost line of the context. */
static struct text copy_line(struct text context)
{
    struct text line = context, at = context;
    while ((at = behind(at, "\nCOPY ")).size > 0)
        line = at;
    bool is_copy = line.bytes != context.bytes || text_starts_with(context, "COPY ");
    return is_copy ? digits(behind(line, ", line ")) : TEXT("");
}

/* Was the server reading the client's own value, a parameter or a field of its COPY data? Then
 * nothing else ran: the context has no other line. */
static bool is_own_input(const struct redact_scope *scope, const struct error_fields *fields)
{
    struct text context = fields->context, line = behind(context, ", line ");
    if (!text_starts_with(fields->sqlstate, "22") || text_has_byte(context, '\n'))
        return false;
    if (scope->binds)
        return digits(behind(context, "parameter $")).size > 0;
    return copies(scope) && text_starts_with(context, "COPY ") && digits(line).size > 0 &&
           text_starts_with(text_behind(line, digits(line).size), ", column ");
}

/* What a trigger does is reported with a context, but for a check that it left to the end. */
static bool is_of_no_trigger(const struct error_fields *fields)
{
    return fields->context.size == 0 && !text_starts_with(fields->sqlstate, "23");
}

static bool is_open(const struct redacting *redacting)
{
    const struct redact_scope *scope = redacting->scope;
    if (is_of_session(redacting->fields))
        return true;
    if (scope->context == NULL)
        return false;
    if (policy_opens_everything(scope->context->policy) ||
        catalog_is_open(redacting->arena, scope->context))
        return true;
    enum opening opening = scope->statement_count > 0 ? OPENING_ALL : OPENING_NONE;
    for (size_t i = 0; i < scope->statement_count && opening != OPENING_NONE; i++) {
        enum opening next =
            statement_opening(redacting->arena, scope->context, &scope->statements[i].shape);
        opening = next < opening ? next : opening;
    }
    return opening == OPENING_ALL ||
           (opening == OPENING_BESIDES_TRIGGERS && is_of_no_trigger(redacting->fields));
}

/* --- writing -------------------------------------------------------------------------------------
 */

static void add_field(struct buffer *out, char code, struct text value)
{
    if (value.size == 0)
        return;
    buffer_append_byte(out, (uint8_t)code);
    buffer_append_text(out, value);
    buffer_append_byte(out, 0);
}

static void begin(struct buffer *out, const struct error_fields *fields, struct text message)
{
    add_field(out, 'S', fields->severity);
    add_field(out, 'V', fields->severity);
    add_field(out, 'C', fields->sqlstate);
    add_field(out, 'M', message);
}

static void end(struct buffer *out, int position)
{
    if (position > 0) {
        buffer_append_byte(out, 'P');
        buffer_printf(out, "%d", position);
        buffer_append_byte(out, 0);
    }
    buffer_append_byte(out, 0);
}

/* A violation of an open constraint: all that it says of it. */
static void write_violation(struct buffer *out, const struct error_fields *fields, int position)
{
    begin(out, fields, fields->message);
    add_field(out, 'D', fields->detail);
    add_field(out, 's', fields->schema);
    add_field(out, 't', fields->table);
    add_field(out, 'c', fields->column);
    add_field(out, 'd', fields->type);
    add_field(out, 'n', fields->constraint);
    end(out, position);
}

/* Of what parse analysis says beside its MESSAGE: all of a text, or nothing. */
static struct text if_readable(const struct redacting *redacting, struct text text)
{
    bool is_readable =
        redacting->fields->position > 0 && text_equal(without_closed_pieces(redacting, text), text);
    return is_readable ? text : TEXT("");
}

/* An error with a position was found in the text, before any row was looked at. */
static struct text readable_message(const struct redacting *redacting)
{
    const struct error_fields *fields = redacting->fields;
    if (fields->position > 0 || is_owners(fields) || is_own_input(redacting->scope, fields))
        return fields->message;
    if (is_of_foreign_server(fields))
        return TEXT("the server of a foreign table cannot be reached or has failed");
    return without_closed_end(redacting, without_closed_pieces(redacting, fields->message));
}

static struct text readable_context(const struct redacting *redacting)
{
    const struct error_fields *fields = redacting->fields;
    if (is_own_input(redacting->scope, fields))
        return fields->context;
    struct text line = copies(redacting->scope) ? copy_line(fields->context) : TEXT("");
    return line.size > 0 ? arena_printf(redacting->arena, "COPY, line %.*s", TEXT_ARGS(line))
                         : TEXT("");
}

static void write_readable(struct buffer *out, const struct redacting *redacting, int position)
{
    const struct error_fields *fields = redacting->fields;
    struct text message = readable_message(redacting);
    struct text detail = if_readable(redacting, fields->detail);
    struct text hint = if_readable(redacting, fields->hint);
    if (detail.size == 0 && (fields->detail.size > 0 || fields->hint.size > hint.size ||
                             !text_equal(message, fields->message)))
        detail = TEXT("Names and values that the policy does not open are left out.");
    begin(out, fields, message);
    add_field(out, 'D', detail);
    add_field(out, 'H', hint);
    add_field(out, 'W', readable_context(redacting));
    end(out, position);
}

void redact(struct buffer *out, struct arena *arena, struct text body,
            const struct error_fields *fields, int position, const struct redact_scope *scope)
{
    const struct redacting redacting = {arena, scope, fields};
    if (is_open(&redacting) && error_body_with_position(out, body, position))
        return;
    if (scope->context != NULL &&
        violation_is_open(arena, scope->context, fields->sqlstate, fields->schema, fields->table,
                          fields->constraint))
        write_violation(out, fields, position);
    else
        write_readable(out, &redacting, position);
}
