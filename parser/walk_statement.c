/*
 * walk_statement.c - which kind of statement a tree is, and the words that sum it up.
 *
 * A tree that is none of the five queries goes to walk_utility, which fails for what it does not
 * know; one that comes back without a kind fails here.
 */
#include "parser/walk_path.h"

#include "proxy/base/buffer.h"

enum {
    SUMMARY_BYTES_MAX = 255, /* as OpenTelemetry recommends for db.query.summary */
    SUMMARY_ACTIONS_MAX = 64,
};

/* INTO of a set operation stands on its leftmost arm. */
static bool selects_into(const SelectStmt *select)
{
    while (select->larg != NULL)
        select = select->larg;
    return select->intoClause != NULL;
}

static enum statement_kind kind_of_query(const Node *query, bool writes)
{
    if (!IsA(query, SelectStmt))
        return STATEMENT_WRITE;
    if (selects_into((const SelectStmt *)query))
        return STATEMENT_UTILITY;
    return writes ? STATEMENT_WRITE : STATEMENT_SELECT;
}

static const WithClause *with_of(const Node *query)
{
    switch (nodeTag(query)) {
    case T_InsertStmt:
        return ((const InsertStmt *)query)->withClause;
    case T_UpdateStmt:
        return ((const UpdateStmt *)query)->withClause;
    case T_DeleteStmt:
        return ((const DeleteStmt *)query)->withClause;
    case T_MergeStmt:
        return ((const MergeStmt *)query)->withClause;
    default:
        return NULL;
    }
}

/* The tag is the top node's. The server lets only the top node's own WITH write, too. */
static bool tag_counts_writes(const Node *query)
{
    const WithClause *with = with_of(query);
    ListCell *cell;

    if (IsA(query, SelectStmt))
        return false;
    foreach (cell, with != NULL ? with->ctes : NIL)
        if (!IsA(lfirst(cell), CommonTableExpr) ||
            !IsA(((const CommonTableExpr *)lfirst(cell))->ctequery, SelectStmt))
            return false;
    return true;
}

/* --- summary ---------------------------------------------------------------------------------- */

/* What a summary begins with where the actions do not say it. */
static const char *leading_words(const struct shape *shape)
{
    switch (shape->kind) {
    case STATEMENT_COPY_OUT:
    case STATEMENT_COPY_IN:
        return "COPY";
    case STATEMENT_BEGIN:
        return "BEGIN";
    case STATEMENT_COMMIT:
        return "COMMIT";
    case STATEMENT_ROLLBACK:
        return "ROLLBACK";
    case STATEMENT_SAVEPOINT:
        return "SAVEPOINT";
    case STATEMENT_RELEASE:
        return "RELEASE";
    case STATEMENT_ROLLBACK_TO:
        return "ROLLBACK TO";
    case STATEMENT_TWO_PHASE:
        return "TWO-PHASE COMMIT";
    case STATEMENT_SET:
        return "SET";
    case STATEMENT_SHOW:
        return "SHOW";
    case STATEMENT_DISCARD:
        return "DISCARD";
    case STATEMENT_PREPARE:
        return "PREPARE";
    case STATEMENT_EXECUTE:
        return "EXECUTE";
    case STATEMENT_DEALLOCATE:
        return "DEALLOCATE";
    case STATEMENT_DECLARE:
        return "DECLARE";
    case STATEMENT_FETCH:
        return "FETCH";
    case STATEMENT_CLOSE:
        return "CLOSE";
    case STATEMENT_EXPLAIN:
        return "EXPLAIN";
    case STATEMENT_SELECT:
        return "SELECT";
    case STATEMENT_WRITE:
    case STATEMENT_CODE:
    case STATEMENT_UTILITY:
    case STATEMENT_LISTEN:
    case STATEMENT_EMPTY:
    case STATEMENT_UNKNOWN:
        break;
    }
    return NULL;
}

static bool is_told(const struct walk *walk, size_t index)
{
    const struct action *action = &walk->actions[index];
    if (action->part != PART_STATEMENT)
        return true;
    for (size_t i = 0; i < index; i++)
        if (walk->actions[i].verb == action->verb && walk->actions[i].part == PART_STATEMENT &&
            walk->actions[i].object.kind == action->object.kind &&
            text_equal(walk->actions[i].object.schema, action->object.schema) &&
            text_equal(walk->actions[i].object.name, action->object.name))
            return true;
    return false;
}

static void append_word(struct buffer *out, struct text word)
{
    if (out->size > 0)
        buffer_append_byte(out, ' ');
    buffer_append_text(out, word);
}

static void append_verb(struct buffer *out, enum verb verb)
{
    append_word(out, (struct text){0});
    for (const char *c = verb_name(verb); *c != '\0'; c++)
        buffer_append_byte(out, (uint8_t)(*c == '_' ? ' ' : *c - 'a' + 'A'));
}

static void append_object(struct buffer *out, const struct object *object)
{
    if (object->kind == OBJECT_NONE)
        return;
    append_word(out, text_from(object_kind_prefix(object->kind)));
    if (object->schema.size > 0) {
        buffer_append_text(out, object->schema);
        buffer_append_byte(out, '.');
    }
    buffer_append_text(out, object->name);
}

/* The verb that the leading word already says. */
static enum verb leading_verb(enum statement_kind kind)
{
    if (kind == STATEMENT_SELECT)
        return VERB_SELECT;
    if (kind == STATEMENT_SET)
        return VERB_SET;
    return kind == STATEMENT_EXECUTE ? VERB_EXECUTE : VERB_NONE;
}

static void append_actions(struct walk *walk, struct buffer *out)
{
    enum verb last = leading_verb(walk->shape->kind);
    for (size_t i = 0; i < walk->action_count && i < SUMMARY_ACTIONS_MAX; i++) {
        if (is_told(walk, i))
            continue;
        const struct action *action = &walk->actions[i];
        if (action->verb != last)
            append_verb(out, action->verb);
        last = action->verb;
        append_object(out, &action->object);
    }
}

/* "DELETE shop.orders", "EXPLAIN SELECT shop.orders shop.customers", "COMMIT". */
static struct text summary(struct walk *walk)
{
    struct buffer out;
    buffer_init(&out, SUMMARY_BYTES_MAX);
    const char *leading = leading_words(walk->shape);
    if (leading != NULL)
        append_word(&out, text_from(leading));
    if (walk->shape->kind == STATEMENT_EXECUTE && walk->action_count == 0)
        append_word(&out, walk->shape->name);
    append_actions(walk, &out);
    if (out.size == 0)
        append_word(&out, TEXT("UTILITY"));
    struct text text = arena_text(walk->arena, buffer_text(&out));
    buffer_release(&out);
    return text;
}

/* Code that the text does not name: triggers, rules, defaults, checks, policies, event triggers. Of a statement
 * in another one, that has its own shape. */
static bool runs_hidden_code(const struct walk *walk)
{
    const struct shape *shape = walk->shape;
    const struct catalog *catalog = walk->context->catalog;
    bool custom = walk->context->custom_pinned;
    bool changes_objects = shape->kind == STATEMENT_UTILITY || shape->ddl == DDL_OBJECTS;
    const struct event_code *event = catalog != NULL ? catalog_event_code(catalog) : NULL;
    if (changes_objects && event != NULL && (event->moves_session || (custom && event->moves_custom)))
        return true;
    for (size_t i = 0; i < walk->action_count && shape->inner == NULL; i++) {
        const struct relation *relation = walk->actions[i].relation;
        enum relation_use use = verb_relation_use(walk->actions[i].verb);
        if (relation != NULL && (relation->moves_session[use] || (custom && relation->moves_custom[use])))
            return true;
    }
    return false;
}

void walk_statement(struct walk *walk, Node *statement)
{
    if (!walk_enter(walk))
        return;
    switch (nodeTag(statement)) {
    case T_SelectStmt:
    case T_InsertStmt:
    case T_UpdateStmt:
    case T_DeleteStmt:
    case T_MergeStmt:
        walk->shape->kind = kind_of_query(statement, walk_query(walk, statement));
        if (walk->shape->kind == STATEMENT_UTILITY)
            walk->shape->ddl = DDL_OBJECTS;
        walk->shape->tag_counts_writes = tag_counts_writes(statement);
        break;
    default:
        walk_utility(walk, statement);
    }
    walk_parameters(walk);
    walk_candidates(walk);
    walk_leave(walk);
    if (walk->failed)
        return;
    if (walk->shape->kind == STATEMENT_UNKNOWN)
        walk_unknown(walk, "statement", (int)nodeTag(statement), -1);
    if (runs_hidden_code(walk))
        walk->shape->changes |= CHANGES_BY_CODE;
    walk->shape->summary = summary(walk);
}
