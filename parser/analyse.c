/*
 * analyse.c - one client message: checks, parses, walks, prints, and checks the print.
 *
 * Each step either fails the whole message with an error for the agent or hands on to the next. The
 * last step lexes the print again: a print that would be read otherwise than the text that was
 * judged rejects the message, whatever the reason.
 *
 * Stack: the parser's does not grow with the text; the walk's is at most LIMIT_STATEMENT_DEPTH
 * frames of a few of its functions. A thread with 512 KiB of stack is enough (1 MiB under
 * AddressSanitizer).
 */
#include "parser/analyse.h"

#include "parser/comments.h"
#include "parser/print.h"
#include "parser/resolve.h"
#include "parser/walk.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <stdio.h>
#include <string.h>

enum {
    MESSAGE_BYTES_MAX = 200,
    VISIBLE_BYTES_MAX = 16 * 1024,
    /* PostgreSQL's errors quote the text; nobody reads more of it than this. */
    POSTGRES_MESSAGE_BYTES_MAX = 8 * 1024,
};

struct work {
    struct arena *arena;
    const struct analyse_context *context;
    struct grammar_visit visit;
    struct text sql;     /* as it came, ends with NUL */
    struct text blanked; /* without comments; same offsets */
    struct tokens tokens;
    struct statement *statements;
    struct analysis *out;
};

/* --- failing ---------------------------------------------------------------------------------- */

static void fail_as(struct work *work, enum analyse_result result, const char *sqlstate)
{
    work->out->result = result;
    memcpy(work->out->sqlstate, sqlstate, sizeof work->out->sqlstate);
}

/* "pgwicket: <what>; nothing was run", in visible characters and short enough for any driver. */
static struct text own_message(struct arena *arena, struct text what)
{
    static const char before[] = "pgwicket: ", after[] = "; nothing was run";
    struct buffer visible;
    buffer_init(&visible, VISIBLE_BYTES_MAX);
    unicode_append_visible(&visible, what);
    struct text shown =
        text_cut(buffer_text(&visible), MESSAGE_BYTES_MAX - (sizeof before + sizeof after - 2));
    struct text message = arena_printf(arena, "%s%.*s%s", before, TEXT_ARGS(shown), after);
    buffer_release(&visible);
    return message;
}

static void fail(struct work *work, enum analyse_result result, const char *sqlstate,
                 struct text what)
{
    fail_as(work, result, sqlstate);
    work->out->message = own_message(work->arena, what);
}

static void fail_too_large(struct work *work, struct text what)
{
    fail(work, ANALYSE_TOO_LARGE, "54001", what);
    work->out->detail = arena_printf(
        work->arena, "Limits: %d MiB of text, %d levels of nesting, %d statements.",
        LIMIT_STATEMENT_BYTES / (1024 * 1024), LIMIT_STATEMENT_DEPTH, LIMIT_STATEMENTS_PER_QUERY);
    work->out->hint = TEXT("Split it into several statements, or replace long chains of OR or + by "
                           "IN (...) or a VALUES list.");
}

/* Of the byte at `offset`, in characters from 1. */
static int position_of(struct text sql, size_t offset)
{
    return (int)utf8_length((struct text){sql.bytes, offset < sql.size ? offset : sql.size}) + 1;
}

/* --- size and encoding ------------------------------------------------------------------------ */

/* How many bytes PostgreSQL takes a character to have, by its first. */
static size_t claimed_size(uint8_t first)
{
    if ((first & 0xE0) == 0xC0)
        return 2;
    if ((first & 0xF0) == 0xE0)
        return 3;
    return (first & 0xF8) == 0xF0 ? 4 : 1;
}

static void fail_bad_text(struct work *work, struct text sql)
{
    for (size_t size; (size = utf8_sequence(sql)) > 0; sql.size -= size)
        sql.bytes += size;
    INVARIANT(sql.size > 0);
    size_t claimed = claimed_size((uint8_t)*sql.bytes);
    char bytes[4 * 5 + 1] = "";
    for (size_t i = 0; i < claimed && i < sql.size; i++)
        snprintf(bytes + i * 5, sizeof bytes - i * 5, " 0x%02x", (uint8_t)sql.bytes[i]);
    fail_as(work, ANALYSE_BAD_TEXT, "22021");
    work->out->message =
        arena_printf(work->arena, "invalid byte sequence for encoding \"UTF8\":%s", bytes);
}

static bool text_is_fine(struct work *work, struct text sql)
{
    if (sql.size > LIMIT_STATEMENT_BYTES)
        fail_too_large(work, arena_printf(work->arena,
                                          "statement is too long to check (%zu bytes, limit %d)",
                                          sql.size, LIMIT_STATEMENT_BYTES));
    else if (!utf8_valid(sql))
        fail_bad_text(work, sql);
    else
        return true;
    return false;
}

/* --- parsing ---------------------------------------------------------------------------------- */

static bool blank_comments(struct work *work, enum comments_result *result)
{
    *result = comments_blank(work->visit, work->arena, work->sql, &work->blanked);
    switch (*result) {
    case COMMENTS_BLANKED:
    case COMMENTS_NOT_LEXED:
        return true;
    case COMMENTS_OPERATORS:
        fail_too_large(work, TEXT("a run of operator characters is too long to check"));
        return false;
    case COMMENTS_REFUSED:
        break;
    }
    fail(work, ANALYSE_REJECTED, "42501",
         TEXT("a comment inside a string literal that goes on in the next line is not understood"));
    return false;
}

static void fail_syntax(struct work *work, const struct grammar_error *error)
{
    if (grammar_error_is_depth(error)) {
        fail_too_large(work, TEXT("statement is too deeply nested to check"));
        return;
    }
    struct analysis *out = work->out;
    fail_as(work, ANALYSE_SYNTAX, error->sqlstate);
    out->message = text_cut(error->message, POSTGRES_MESSAGE_BYTES_MAX);
    out->detail = text_cut(error->detail, POSTGRES_MESSAGE_BYTES_MAX);
    out->hint = text_cut(error->hint, POSTGRES_MESSAGE_BYTES_MAX);
    if (error->position <= 0)
        return;
    /* Comments may have held characters of several bytes where now are as many spaces. */
    size_t offset = 0;
    for (int i = 1; i < error->position && offset < work->blanked.size; i++)
        offset +=
            utf8_sequence((struct text){work->blanked.bytes + offset, work->blanked.size - offset});
    out->position = position_of(work->sql, offset);
}

/* The list of RawStmt and the tokens, or false with the error in `out`. */
static bool parse(struct work *work, List **tree)
{
    enum comments_result comments;
    if (!blank_comments(work, &comments))
        return false;
    struct grammar_error error;
    if (!grammar_parse(work->visit, work->blanked.bytes, tree, work->arena, &error)) {
        fail_syntax(work, &error);
        return false;
    }
    if (list_length(*tree) > LIMIT_STATEMENTS_PER_QUERY) {
        fail_too_large(work, arena_printf(work->arena,
                                          "too many statements in one message (%d, limit %d)",
                                          list_length(*tree), LIMIT_STATEMENTS_PER_QUERY));
        return false;
    }
    if (comments == COMMENTS_BLANKED &&
        lex_tokens(work->visit, work->arena, work->blanked.bytes, &work->tokens))
        return true;
    fail(work, ANALYSE_REJECTED, "42501", TEXT("the statement's comments are not understood"));
    return false;
}

/* --- one statement ---------------------------------------------------------------------------- */

struct part {
    size_t start, end; /* bytes */
    size_t first_token, end_token;
    struct resolved_name *names;
    size_t name_count;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static struct text trimmed(struct text text)
{
    while (text.size > 0 && is_space(text.bytes[0])) {
        text.bytes++;
        text.size--;
    }
    while (text.size > 0 && is_space(text.bytes[text.size - 1]))
        text.size--;
    return text;
}

/* Finds a statement's tokens. Everything between statements must be a semicolon, and no token may
 * be left over, or something was parsed that would not be judged. */
static bool find_part(struct work *work, const RawStmt *raw, size_t next_token, struct part *part)
{
    const struct tokens *tokens = &work->tokens;
    size_t start = (size_t)raw->stmt_location;
    size_t end = raw->stmt_len > 0 ? start + (size_t)raw->stmt_len : work->sql.size;
    if (raw->stmt_location < 0 || end > work->sql.size)
        return false;
    size_t at = next_token;
    while (at < tokens->count && (size_t)tokens->items[at].location < start)
        if (tokens->items[at++].kind != ';')
            return false;
    *part = (struct part){.start = start, .end = end, .first_token = at};
    while (at < tokens->count && (size_t)tokens->items[at].location < end)
        at++;
    part->end_token = at;
    return at > part->first_token;
}

static bool only_semicolons_from(const struct tokens *tokens, size_t at)
{
    while (at < tokens->count && tokens->items[at].kind == ';')
        at++;
    return at == tokens->count;
}

static void note_parameters(struct work *work, const struct part *part, struct shape *shape)
{
    bool *used = arena_array(work->arena, shape->parameter_max, sizeof *used);
    for (size_t i = part->first_token; i < part->end_token; i++) {
        const struct token *token = &work->tokens.items[i];
        if (token->kind == TOKEN_PARAM && token->number > 0)
            used[token->number - 1] = true;
    }
    shape->parameters_used = used;
}

static bool find_parameter_max(struct work *work, const struct part *part, struct shape *shape)
{
    for (size_t i = part->first_token; i < part->end_token; i++) {
        const struct token *token = &work->tokens.items[i];
        if (token->kind != TOKEN_PARAM)
            continue;
        if (token->number < 0 || token->number > UINT16_MAX) {
            fail(work, ANALYSE_REJECTED, "42P02", TEXT("a parameter's number is out of range"));
            work->out->position = position_of(work->sql, (size_t)token->location);
            return false;
        }
        if (token->number > shape->parameter_max)
            shape->parameter_max = (uint16_t)token->number;
    }
    note_parameters(work, part, shape);
    return true;
}

static void fail_walk(struct work *work, const struct walk *walk)
{
    if (walk->result == ANALYSE_TOO_LARGE)
        fail_too_large(work, walk->message);
    else
        fail(work, walk->result, walk->sqlstate, walk->message);
    if (walk->detail.size > 0)
        work->out->detail = walk->detail;
    if (walk->hint.size > 0)
        work->out->hint = walk->hint;
    if (walk->location >= 0)
        work->out->position = position_of(work->sql, (size_t)walk->location);
}

/* Names may still point into the tree, which goes when the call returns. */
static void own(struct arena *arena, struct text *text)
{
    *text = arena_text(arena, *text);
}

static void own_action(struct arena *arena, struct action *action)
{
    own(arena, &action->object.schema);
    own(arena, &action->object.name);
    struct text *columns = arena_array(arena, action->column_count, sizeof *columns);
    for (size_t i = 0; i < action->column_count; i++)
        columns[i] = arena_text(arena, action->columns[i]);
    action->columns = columns;
    own(arena, &action->columns_why);
    own(arena, &action->where_why);
    own(arena, &action->reason);
}

static void own_facts(struct walk *walk)
{
    for (size_t i = 0; i < walk->setting_count; i++) {
        own(walk->arena, &walk->settings[i].name);
        own(walk->arena, &walk->settings[i].value);
    }
    for (size_t i = 0; i < walk->function_count; i++)
        own(walk->arena, &walk->functions[i]);
    own(walk->arena, &walk->shape->name);
    own(walk->arena, &walk->shape->pgwicket_show);
    own(walk->arena, &walk->shape->summary);
}

static void take_shape(struct walk *walk, struct statement *statement, struct text sql)
{
    ptrdiff_t start = statement->original.bytes - sql.bytes;
    for (size_t i = 0; i < walk->action_count; i++) {
        own_action(walk->arena, &walk->actions[i]);
        if (walk->actions[i].location >= start)
            walk->actions[i].location -= (int)start;
    }
    own_facts(walk);
    statement->shape.actions = walk->actions;
    statement->shape.action_count = walk->action_count;
    statement->shape.settings = walk->settings;
    statement->shape.setting_count = walk->setting_count;
    statement->shape.functions = walk->functions;
    statement->shape.function_count = walk->function_count;
}

static bool walk_part(struct work *work, const RawStmt *raw, struct part *part,
                      struct statement *statement)
{
    struct walk walk = {
        .arena = work->arena,
        .context = work->context,
        .shape = &statement->shape,
        .location = -1,
    };
    statement->original =
        trimmed((struct text){work->sql.bytes + part->start, part->end - part->start});
    walk_statement(&walk, raw->stmt);
    work->out->unresolved_names |= walk.unresolved_names;
    work->out->searched |= walk.searched;
    if (walk.failed) {
        fail_walk(work, &walk);
        return false;
    }
    take_shape(&walk, statement, work->sql);
    part->names = walk.resolved;
    part->name_count = walk.resolved_count;
    return find_parameter_max(work, part, &statement->shape);
}

static bool walk_parts(struct work *work, List *tree, struct part *parts)
{
    size_t next_token = 0;
    for (int i = 0; i < list_length(tree); i++) {
        const RawStmt *raw = list_nth_node(RawStmt, tree, i);
        if (!find_part(work, raw, next_token, &parts[i])) {
            fail(work, ANALYSE_REJECTED, "42501",
                 TEXT("the message cannot be divided into statements"));
            return false;
        }
        if (!walk_part(work, raw, &parts[i], &work->statements[i]))
            return false;
        next_token = parts[i].end_token;
    }
    if (only_semicolons_from(&work->tokens, next_token))
        return true;
    fail(work, ANALYSE_REJECTED, "42501", TEXT("the message cannot be divided into statements"));
    return false;
}

/* --- print ------------------------------------------------------------------------------------ */

/* Prints all statements with "; " between them, and drops the tokens that stand for the semicolons
 * of the original, so that what is left is what the print must lex to. */
static void print_parts(struct work *work, const struct part *parts, size_t count,
                        struct buffer *out, size_t *ends)
{
    struct tokens kept = {.items = work->tokens.items};
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            kept.items[kept.count++] = (struct token){.kind = ';'};
            buffer_append_string(out, "; ");
        }
        print_tokens(out, &work->tokens, parts[i].first_token, parts[i].end_token);
        ends[i] = out->size;
        for (size_t at = parts[i].first_token; at < parts[i].end_token; at++)
            kept.items[kept.count++] = work->tokens.items[at];
    }
    work->tokens.count = kept.count;
}

static void take_print(struct work *work, struct text print, const size_t *ends, size_t count)
{
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        work->statements[i].print = (struct text){print.bytes + start, ends[i] - start};
        start = ends[i] + sizeof "; " - 1;
    }
    work->out->print = print;
}

/* False if a print could be made that reads otherwise than it should. */
static bool resolve_part(struct work *work, const struct part *part, struct text *resolved)
{
    struct tokens tokens;
    if (part->name_count == 0 || part->end_token - part->first_token > LIMIT_HELD_BYTES)
        return true;
    if (!resolve_tokens(work->arena, &work->tokens, part->first_token, part->end_token, part->names,
                        part->name_count, &tokens))
        return false;
    struct buffer out;
    buffer_init(&out, LIMIT_HELD_BYTES);
    print_tokens(&out, &tokens, 0, tokens.count);
    bool fits = !out.overflow;
    struct text text = fits ? arena_text(work->arena, buffer_text(&out)) : (struct text){0};
    buffer_release(&out);
    *resolved = text;
    return !fits || lex_matches(work->visit, text.bytes, &tokens);
}

static bool resolve_parts(struct work *work, const struct part *parts, size_t count)
{
    for (size_t i = 0; i < count && work->context->resolve_names; i++)
        if (!resolve_part(work, &parts[i], &work->statements[i].resolved)) {
            fail(work, ANALYSE_REJECTED, "42501",
                 TEXT("the statement cannot be shown to an approver with its names resolved"));
            return false;
        }
    return true;
}

/* --- what EXPLAIN is asked for ----------------------------------------------------------------- */

static size_t printed_size(struct work *work, size_t first, size_t end)
{
    struct buffer out;
    buffer_init(&out, LIMIT_PRINT_BYTES);
    print_tokens(&out, &work->tokens, first, end);
    size_t size = out.size;
    buffer_release(&out);
    return size;
}

static size_t closing_parenthesis(const struct tokens *tokens, size_t open, size_t end)
{
    int depth = 0;
    for (size_t i = open; i < end; i++) {
        depth += tokens->items[i].kind == '(' ? 1 : 0;
        depth -= tokens->items[i].kind == ')' ? 1 : 0;
        if (depth == 0)
            return i;
    }
    return end;
}

static bool is_word(const struct token *token, const char *word)
{
    return token_is_keyword(token) && strcmp(token->string, word) == 0;
}

/* COPY table TO reads the rows of the table itself. */
static struct text select_of_copied_table(struct work *work, size_t first, size_t end)
{
    const struct token *items = work->tokens.items;
    size_t last = first;
    if (first < end && is_word(&items[first], "binary"))
        first = last = first + 1;
    while (last < end && items[last].kind != '(' && !is_word(&items[last], "to"))
        last++;
    struct buffer out;
    buffer_init(&out, LIMIT_PRINT_BYTES);
    buffer_append_string(&out, "SELECT FROM ONLY ");
    print_tokens(&out, &work->tokens, first, last);
    struct text text = arena_text(work->arena, buffer_text(&out));
    buffer_release(&out);
    return text;
}

/* Before print_parts, which moves the tokens; of the statement's print, where `at` is what it takes of it. */
struct explained {
    struct text text;
    size_t at, size;
};

static struct explained explained_of(struct work *work, const struct part *part, const RawStmt *raw)
{
    size_t first = part->first_token, end = part->end_token;
    switch (nodeTag(raw->stmt)) {
    case T_SelectStmt:
    case T_InsertStmt:
    case T_UpdateStmt:
    case T_DeleteStmt:
    case T_MergeStmt:
    case T_DeclareCursorStmt:
    case T_CreateTableAsStmt:
        return (struct explained){.size = SIZE_MAX};
    case T_CopyStmt:
        break;
    default:
        return (struct explained){0};
    }
    if (((CopyStmt *)raw->stmt)->is_from)
        return (struct explained){0};
    if (((CopyStmt *)raw->stmt)->query == NULL)
        return (struct explained){.text = select_of_copied_table(work, first + 1, end)};
    size_t at = printed_size(work, first, first + 2);
    size_t close = closing_parenthesis(&work->tokens, first + 1, end);
    return (struct explained){.at = at, .size = printed_size(work, first, close) - at};
}

static void take_explained(struct statement *statement, const struct explained *explained)
{
    struct text print = statement->print;
    bool whole = explained->size == SIZE_MAX;
    statement->explainable_at = explained->text.size > 0 ? -1 : (int)explained->at;
    if (explained->text.size > 0)
        statement->explainable = explained->text;
    else if (whole || explained->at + explained->size <= print.size)
        statement->explainable = (struct text){print.bytes + explained->at,
                                               whole ? print.size : explained->size};
}

static bool print(struct work *work, List *tree, const struct part *parts, size_t count)
{
    if (!print_can(&work->tokens)) {
        fail(work, ANALYSE_REJECTED, "22P02", TEXT("the value of a literal is not valid"));
        return false;
    }
    print_prepare(&work->tokens);
    if (!resolve_parts(work, parts, count))
        return false;
    size_t *ends = arena_array(work->arena, count, sizeof *ends);
    struct explained *explained = arena_array(work->arena, count, sizeof *explained);
    for (size_t i = 0; i < count; i++)
        explained[i] = explained_of(work, &parts[i], list_nth_node(RawStmt, tree, (int)i));
    struct buffer out;
    buffer_init(&out, LIMIT_PRINT_BYTES);
    print_parts(work, parts, count, &out, ends);
    bool fits = !out.overflow;
    struct text text = arena_text(work->arena, buffer_text(&out));
    buffer_release(&out);
    if (!fits)
        fail_too_large(work, TEXT("statement is too long to check once printed"));
    else if (!lex_matches(work->visit, text.bytes, &work->tokens))
        fail(work, ANALYSE_REJECTED, "42501",
             TEXT("the statement cannot be printed so that it reads the same"));
    else {
        take_print(work, text, ends, count);
        for (size_t i = 0; i < count; i++)
            take_explained(&work->statements[i], &explained[i]);
        return true;
    }
    return false;
}

/* --- all -------------------------------------------------------------------------------------- */

static void analyse_in_visit(struct work *work)
{
    List *tree = NIL;
    if (!parse(work, &tree))
        return;
    size_t count = (size_t)list_length(tree);
    work->statements = arena_array(work->arena, count, sizeof *work->statements);
    struct part *parts = arena_array(work->arena, count, sizeof *parts);
    if (!walk_parts(work, tree, parts) || !print(work, tree, parts, count))
        return;
    work->out->statements = work->statements;
    work->out->statement_count = count;
    work->out->result = ANALYSE_OK;
}

void analyse(struct arena *arena, const struct analyse_context *context, struct text sql,
             struct analysis *out)
{
    *out = (struct analysis){.result = ANALYSE_REJECTED};
    struct work work = {.arena = arena, .context = context, .out = out};
    if (!text_is_fine(&work, sql))
        return;
    work.sql = arena_text(arena, sql);
    work.visit = grammar_enter();
    analyse_in_visit(&work);
    grammar_leave(work.visit);
}
