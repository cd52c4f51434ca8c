/*
 * message.c - a rejection in the words that an agent reads. MESSAGE alone says what to do.
 *
 * Of what a view's definition does, only the view is named unless the agent may select the table: a
 * message must not tell what lies behind.
 */
#include "rules/message.h"

#include "proxy/base/buffer.h"
#include "proxy/base/invariant.h"
#include "rules/conditions.h"
#include "rules/hints.h"
#include "rules/settings.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MESSAGE_CHARACTERS_MAX = 200, OBJECT_BYTES_MAX = 70 };

#define PERMISSION_DENIED "42501"
#define LIMIT_EXCEEDED    "54000"
#define NOTHING_RUN       "; nothing was run"

struct telling {
    struct arena *arena;
    const struct decide_context *context;
    const struct shape *shape;
    const struct decision *decision;
    const struct action_decision *action; /* the decisive one */
    const struct numbers *numbers;
    struct text object; /* as it may be named, short enough for MESSAGE */
    bool is_veiled;     /* the object is a view, the fault lies behind it */
    char verb[16];      /* in capitals */
    const char *preposition;
    struct error_text *out;
};

static struct text shorten(struct arena *arena, struct text text, size_t characters)
{
    size_t at = 0;
    for (size_t count = 0; at < text.size; count++) {
        if (count == characters)
            return arena_printf(arena, "%.*s...", (int)at, text.bytes);
        at++;
        while (at < text.size && ((unsigned char)text.bytes[at] & 0xC0) == 0x80)
            at++;
    }
    return text;
}

/* What was done to the data stays, whatever is cut. */
static struct text fit(struct arena *arena, struct text message)
{
    size_t tail = sizeof NOTHING_RUN - 1;
    bool tells = message.size > tail && text_is(text_behind(message, message.size - tail), NOTHING_RUN);
    if (!tells)
        return shorten(arena, message, MESSAGE_CHARACTERS_MAX - 3);
    struct text front = shorten(arena, text_front(message, message.size - tail),
                                MESSAGE_CHARACTERS_MAX - 3 - tail);
    return arena_printf(arena, "%.*s" NOTHING_RUN, TEXT_ARGS(front));
}

static struct error_text start(const char *sqlstate)
{
    struct error_text error = {.detail = TEXT(""), .hint = TEXT("")};
    memcpy(error.sqlstate, sqlstate, sizeof error.sqlstate);
    return error;
}

static void set_sqlstate(const struct telling *telling, const char *sqlstate)
{
    memcpy(telling->out->sqlstate, sqlstate, sizeof telling->out->sqlstate);
}

static struct text rule_name(const struct rule *rule)
{
    return rule != NULL ? rule->name : TEXT("");
}

static struct text policy_name(const struct telling *telling)
{
    return telling->context->policy->name;
}

/* --- one function for each condition ------------------------------------------------------------
 */

static void say_general_hint(const struct telling *telling)
{
    telling->out->hint =
        TEXT("Rephrasing or retrying does not help: use an allowed action, or report "
             "that the policy would have to change. SHOW pgwicket.policy lists what "
             "is allowed.");
}

static void say_not_allowed(const struct telling *telling)
{
    const struct object *object = &telling->action->action->object;
    struct text verb = text_from(verb_name(telling->action->action->verb));
    telling->out->message =
        arena_printf(telling->arena, "pgwicket: %s %s %.*s is not allowed%s" NOTHING_RUN,
                     telling->verb, telling->preposition, TEXT_ARGS(telling->object),
                     telling->is_veiled                     ? ", because of what this view does"
                     : telling->action->action->candidate ? ", which a name without a schema could mean"
                                                            : "");
    struct text may = telling->is_veiled || policy_may(telling->context->policy,
                                                       telling->action->action->verb, object)
                          ? TEXT("")
                          : hint_allowed_here(telling->arena, telling->context->policy, object);
    if (telling->is_veiled)
        telling->out->detail = arena_printf(
            telling->arena,
            "Policy %.*s allows to select from %.*s, but not what its definition does.",
            TEXT_ARGS(policy_name(telling)), TEXT_ARGS(telling->object));
    else
        telling->out->detail =
            arena_printf(telling->arena, "Policy %.*s: no rule allows %.*s on %.*s.%.*s",
                         TEXT_ARGS(policy_name(telling)), TEXT_ARGS(verb),
                         TEXT_ARGS(telling->object), TEXT_ARGS(may));
    say_general_hint(telling);
}

static void say_reject_rule(const struct telling *telling)
{
    const struct rule *rule = telling->action->rule;
    say_not_allowed(telling);
    if (rule->message.size > 0)
        telling->out->message =
            arena_printf(telling->arena, "%.*s. %.*s", TEXT_ARGS(telling->out->message),
                         TEXT_ARGS(rule->message));
    telling->out->detail = arena_printf(telling->arena, "Rule %.*s of policy %.*s rejects it. %.*s",
                                        TEXT_ARGS(rule->name), TEXT_ARGS(policy_name(telling)),
                                        TEXT_ARGS(rule->message));
}

/* The rule that is in the way. */
static void say_rule(const struct telling *telling, const struct rule *rule, const char *why)
{
    if (rule != NULL)
        telling->out->detail = arena_printf(telling->arena, "Rule %.*s: %.*s.%s",
                                            TEXT_ARGS(rule->name), TEXT_ARGS(rule->text), why);
}

/* Under another name, or of a child, the column would be open. */
static void say_moved_column(const struct telling *telling)
{
    bool is_schema = telling->action->action->object.kind == OBJECT_SCHEMA;
    telling->out->message = arena_printf(
        telling->arena, "pgwicket: ALTER on %.*s is not allowed: %s a column that is hidden (%.*s)" NOTHING_RUN,
        TEXT_ARGS(telling->object), is_schema ? "it may hold" : "it has",
        TEXT_ARGS(shorten(telling->arena, telling->action->column, 63)));
    telling->out->detail = arena_printf(
        telling->arena, "Policy %.*s, condition hidden: a %s that has a hidden column can be neither "
        "altered nor renamed, referenced or inherited from, as the column could then be read elsewhere.",
        TEXT_ARGS(policy_name(telling)), is_schema ? "schema" : "table");
    telling->out->hint = is_schema ? TEXT("Leave the schema as it is, or report that the policy would have to "
                                          "change.")
                                   : TEXT("Leave the table as it is, or report that the policy would have to "
                                          "change.");
}

static void say_column(const struct telling *telling)
{
    const struct action_decision *action = telling->action;
    struct text why = action->action->columns_why;
    const char *done = action->action->verb == VERB_SELECT ? "read" : "written";
    if (action->action->verb == VERB_ALTER && action->failed == CONDITION_HIDDEN) {
        say_moved_column(telling);
        return;
    }
    bool has_column = !action->action->candidate || !action->action->columns_unknown;
    if (action->column.size == 0 || telling->is_veiled || !has_column)
        telling->out->message = arena_printf(
            telling->arena, "pgwicket: %s %s %.*s touches a column that may not be %s" NOTHING_RUN,
            telling->verb, telling->preposition, TEXT_ARGS(telling->object), done);
    else
        telling->out->message =
            arena_printf(telling->arena, "pgwicket: column %.*s.%.*s may not be %s" NOTHING_RUN,
                         TEXT_ARGS(telling->object),
                         TEXT_ARGS(shorten(telling->arena, action->column, 63)), done);
    telling->out->detail = arena_printf(
        telling->arena, "%s %.*s, condition %s.%s%.*s%s",
        action->nearest != NULL ? "Rule" : "Policy",
        TEXT_ARGS(action->nearest != NULL ? action->nearest->name : policy_name(telling)),
        condition_name(action->failed), why.size > 0 ? " The column is reached through " : "",
        TEXT_ARGS(why), why.size > 0 ? "." : "");
    struct text open =
        telling->is_veiled ? TEXT("") : hint_open_columns(telling->arena, telling->context, action);
    telling->out->hint =
        open.size > 0
            ? arena_printf(telling->arena, "Name only these columns: %.*s.", TEXT_ARGS(open))
            : TEXT("Leave the column out, also from * and from whole-row references.");
}

/* Why a WHERE is not enough, as a sentence. */
static struct text why_sentence(const struct telling *telling, struct text why)
{
    if (why.size == 0)
        return why;
    return arena_printf(telling->arena, " %c%.*s.", toupper((unsigned char)why.bytes[0]),
                        (int)why.size - 1, why.bytes + 1);
}

static void say_nearest(const struct telling *telling, const char *condition, struct text why)
{
    const struct action_decision *action = telling->action;
    telling->out->detail =
        arena_printf(telling->arena, "Nearest rule %.*s: %.*s. Condition not met: %s.%.*s",
                     TEXT_ARGS(rule_name(action->nearest)),
                     TEXT_ARGS(action->nearest != NULL ? action->nearest->text : TEXT("")),
                     condition, TEXT_ARGS(why_sentence(telling, why)));
}

static void say_as_written(const struct telling *telling, struct text why)
{
    telling->out->message = arena_printf(
        telling->arena, "pgwicket: %s %s %.*s is not allowed as written: %.*s" NOTHING_RUN,
        telling->verb, telling->preposition, TEXT_ARGS(telling->object), TEXT_ARGS(why));
}

/* "id = <value> AND line = <value>" */
static struct text comparisons(struct arena *arena, const struct relation *relation,
                               const struct key *key)
{
    struct text words = TEXT("");
    for (size_t i = 0; i < key->column_count; i++)
        words = arena_printf(arena, "%.*s%s%.*s = <value>", TEXT_ARGS(words), i > 0 ? " AND " : "",
                             TEXT_ARGS(relation_column_by_number(relation, key->columns[i])->name));
    return words;
}

static void say_key(const struct telling *telling)
{
    const struct action *action = telling->action->action;
    const struct key *key = hint_key(telling->arena, telling->context, action->relation);
    say_nearest(telling, "where: key", action->where_why);
    if (action->key_unsure) {
        say_as_written(telling, TEXT("the agent may change the table, so no key proves its rows"));
        telling->out->hint = TEXT("No WHERE helps. Report that the policy would have to say where: required "
                                  "and max_rows for tables that the agent may change.");
        return;
    }
    if (key == NULL) {
        say_as_written(telling, TEXT("WHERE must fix a unique key"));
        telling->out->hint =
            TEXT("Compare every column of a unique key with = and a value, or with IN "
                 "and a list of values.");
        return;
    }
    struct text columns = hint_key_columns(telling->arena, action->relation, key);
    say_as_written(telling, arena_printf(telling->arena, "WHERE must fix the %s (%.*s)",
                                         key->primary ? "primary key" : "unique key",
                                         TEXT_ARGS(shorten(telling->arena, columns, 40))));
    telling->out->hint =
        arena_printf(telling->arena, "Write: %s%.*s%s WHERE %.*s, once for each row.",
                     action->verb == VERB_DELETE ? "DELETE FROM " : "UPDATE ",
                     TEXT_ARGS(telling->object), action->verb == VERB_DELETE ? "" : " SET ...",
                     TEXT_ARGS(comparisons(telling->arena, action->relation, key)));
}

/* No condition can be met on what a name without a schema could mean besides. */
static void say_candidate(const struct telling *telling, const char *condition)
{
    say_nearest(telling, condition, telling->action->action->where_why);
    say_as_written(telling, TEXT("the name could mean it, so write the schema of the table"));
}

static void say_where(const struct telling *telling)
{
    if (telling->action->action->candidate) {
        say_candidate(telling, telling->action->nearest->where == WHERE_KEY ? "where: key"
                                                                            : "where: required");
        return;
    }
    if (telling->action->nearest->where == WHERE_KEY) {
        say_key(telling);
        return;
    }
    say_nearest(telling, "where: required", telling->action->action->where_why);
    say_as_written(telling, TEXT("WHERE must limit the rows by a column of the table"));
    telling->out->hint = TEXT("Compare a column with a value; conditions that are always true do "
                              "not count, and with OR each side needs one.");
}

static void say_columns(const struct telling *telling)
{
    if (telling->action->action->verb == VERB_SELECT || telling->action->column.size == 0) {
        say_column(telling);
        return;
    }
    say_nearest(telling, "columns", TEXT(""));
    say_as_written(telling,
                   arena_printf(telling->arena, "column %.*s may not be written",
                                TEXT_ARGS(shorten(telling->arena, telling->action->column, 40))));
    struct text open = hint_open_columns(telling->arena, telling->context, telling->action);
    if (open.size > 0)
        telling->out->hint =
            arena_printf(telling->arena, "Write only these columns: %.*s.", TEXT_ARGS(open));
}

static struct text fewer_rows(const struct telling *telling, long long limit)
{
    const struct action *action = telling->action->action;
    if (action->verb == VERB_INSERT)
        return arena_printf(telling->arena, "Insert at most %lld row%s with one statement.", limit,
                            limit == 1 ? "" : "s");
    const struct key *key = hint_key(telling->arena, telling->context, action->relation);
    if (key == NULL)
        return TEXT("Narrow the WHERE.");
    return arena_printf(telling->arena, "Narrow the WHERE, or work in ranges of the key (%.*s).",
                        TEXT_ARGS(hint_key_columns(telling->arena, action->relation, key)));
}

/* Do foreign keys carry it on into a table that the agent may not select? */
static bool reaches_closed_table(const struct telling *telling)
{
    const struct catalog *catalog = telling->context->catalog;
    struct counted_tables tables =
        statement_counting(telling->arena, telling->context, telling->shape).tables;
    for (size_t i = 0; i < tables.count; i++) {
        const struct relation *relation = catalog_relation_by_oid(catalog, tables.oids[i]);
        const struct object table = {OBJECT_NAME, relation != NULL ? relation->schema : TEXT(""),
                                     relation != NULL ? relation->name : TEXT("")};
        if (!policy_may(telling->context->policy, VERB_SELECT, &table))
            return true;
    }
    return false;
}

static void say_rows(const struct telling *telling)
{
    const struct action_decision *action = telling->action;
    const struct numbers *numbers = telling->numbers;
    bool is_real = numbers->has_rows && numbers->rows_real;
    long long rows = numbers->has_rows ? numbers->rows : action->action->rows_max;
    long long limit = action->nearest->max_rows;
    set_sqlstate(telling, LIMIT_EXCEEDED);
    bool is_told = !is_real || !reaches_closed_table(telling);
    if (!numbers->has_rows && action->action->rows_max == ROWS_UNPROVEN)
        say_as_written(telling, TEXT("its number of rows cannot be limited"));
    else if (!numbers->has_rows && rows <= limit)
        say_as_written(telling, TEXT("its parts together change more rows than the limit"));
    else if (!is_told)
        telling->out->message = arena_printf(
            telling->arena, "pgwicket: %s %s %.*s would change more than %lld row%s; rolled back, nothing was changed",
            telling->verb, telling->preposition, TEXT_ARGS(telling->object), limit, limit == 1 ? "" : "s");
    else
        telling->out->message = arena_printf(
            telling->arena, "pgwicket: %s %s %.*s would change %s%lld row%s, limit %lld%s",
            telling->verb, telling->preposition, TEXT_ARGS(telling->object),
            is_real ? "" : (numbers->has_rows ? "about " : "up to "), rows, rows == 1 ? "" : "s",
            limit, is_real ? "; rolled back, nothing was changed" : NOTHING_RUN);
    telling->out->detail = arena_printf(telling->arena, "Rule %.*s, max_rows %lld.",
                                        TEXT_ARGS(rule_name(action->nearest)), limit);
    if (is_real && is_told)
        telling->out->detail = arena_printf(telling->arena, "%.*s Real number: %lld.",
                                            TEXT_ARGS(telling->out->detail), rows);
    if (is_real && shape_starts_foreign_keys(telling->shape))
        telling->out->detail = arena_printf(telling->arena, "%.*s Rows that foreign keys change count.",
                                            TEXT_ARGS(telling->out->detail));
    telling->out->hint = fewer_rows(telling, limit);
}

/* Of a table that the agent may not select not even the number of its rows is told. */
static void say_step(const struct telling *telling)
{
    const struct plan_step *step = &telling->numbers->costliest;
    const struct object table = {OBJECT_NAME, step->schema, step->table};
    struct text told = step->node;
    if (step->node.size == 0 || (step->table.size > 0 &&
                                 !policy_may(telling->context->policy, VERB_SELECT, &table)))
        return;
    if (step->table.size > 0)
        told = arena_printf(telling->arena, "%.*s of %.*s (%.0f rows)", TEXT_ARGS(step->node),
                            TEXT_ARGS(object_text(telling->arena, &table)), step->rows);
    telling->out->detail =
        arena_printf(telling->arena, "%.*s Most expensive step: %.*s.",
                     TEXT_ARGS(telling->out->detail), TEXT_ARGS(told));
}

static void say_cost(const struct telling *telling)
{
    const struct action_decision *action = telling->action;
    set_sqlstate(telling, LIMIT_EXCEEDED);
    telling->out->detail =
        arena_printf(telling->arena, "Rule %.*s, max_cost %.10g.",
                     TEXT_ARGS(rule_name(action->nearest)), action->nearest->max_cost);
    if (!telling->numbers->has_cost || isinf(telling->numbers->cost)) {
        telling->out->message = arena_printf(
            telling->arena, "pgwicket: the cost of reading %.*s is not known" NOTHING_RUN,
            TEXT_ARGS(telling->object));
        telling->out->hint =
            TEXT("Send it by itself. If that does not help, a table was never analysed: report that "
                 "ANALYZE must be run.");
        return;
    }
    say_step(telling);
    telling->out->message = arena_printf(
        telling->arena,
        "pgwicket: query is too expensive (estimated cost %.0f, limit %.10g)" NOTHING_RUN,
        telling->numbers->cost, action->nearest->max_cost);
    struct text indexed = hint_indexed_columns(telling->arena, telling->context, telling->shape);
    telling->out->hint =
        indexed.size > 0
            ? arena_printf(telling->arena, "Filter on an indexed column: %.*s.", TEXT_ARGS(indexed))
            : TEXT("Join fewer tables, or read a smaller range.");
}

static void say_lock(const struct telling *telling)
{
    enum table_lock taken = telling->action->action->lock;
    enum table_lock most = telling->action->nearest->max_lock;
    say_nearest(telling, "max_lock", TEXT(""));
    say_as_written(telling,
                   arena_printf(telling->arena, "it takes the table lock %s, the most is %s",
                                table_lock_name(taken), table_lock_name(most)));
    telling->out->hint =
        TEXT("Weaker forms: CREATE INDEX, DROP INDEX, REINDEX, REFRESH CONCURRENTLY; "
             "VACUUM without FULL; ADD CONSTRAINT of a foreign key NOT VALID, then "
             "VALIDATE CONSTRAINT.");
}

/* Some of these tables the agent may not see: that they are too many is told, not how many. */
static void say_effect(const struct telling *telling)
{
    const struct action_decision *action = telling->action;
    const struct numbers *numbers = telling->numbers;
    long long limit = action->nearest->max_effect;
    bool counted = numbers->has_effect && numbers->effect != EFFECT_UNCOUNTED;
    const char *state = numbers->has_effect ? "; rolled back, nothing was changed" : NOTHING_RUN;
    set_sqlstate(telling, LIMIT_EXCEEDED);
    if (numbers->has_effect && !counted)
        telling->out->message = arena_printf(
            telling->arena,
            "pgwicket: the rows that %s %s %.*s changes in all tables could not be counted%s",
            telling->verb, telling->preposition, TEXT_ARGS(telling->object), state);
    else
        telling->out->message = arena_printf(
            telling->arena, "pgwicket: %s %s %.*s would change more than %lld row%s in all tables%s",
            telling->verb, telling->preposition, TEXT_ARGS(telling->object), limit,
            limit == 1 ? "" : "s", state);
    telling->out->detail = arena_printf(telling->arena,
                                        "Rule %.*s, max_effect %lld: rows of all tables, those that "
                                        "cascades and triggers change included.",
                                        TEXT_ARGS(rule_name(action->nearest)), limit);
    telling->out->hint = fewer_rows(telling, limit);
}

static void say_effect_unknown(const struct telling *telling)
{
    say_nearest(telling, "max_effect", TEXT(""));
    say_as_written(telling, TEXT("the rows that it changes in all tables cannot be counted before it is "
                                 "committed"));
    telling->out->hint = TEXT("Send one INSERT, UPDATE, DELETE or MERGE of tables, or report that the policy "
                              "would have to change.");
}

static void say_foreign_keys(const struct telling *telling)
{
    say_nearest(telling, "max_rows", TEXT(""));
    say_as_written(telling,
                   TEXT("its rows cannot be limited, as foreign keys lead into too many tables"));
    telling->out->hint =
        TEXT("Change the referencing rows first, or report that the policy would have "
             "to change.");
}

static void say_not_countable(const struct telling *telling)
{
    say_nearest(telling, "max_rows", TEXT(""));
    say_as_written(telling, TEXT("its rows cannot be counted in this form"));
    telling->out->hint =
        TEXT("Send one plain INSERT, UPDATE, DELETE or MERGE of one table, not in a "
             "WITH and not prepared by PREPARE.");
}

static void say_unbounded_copy(const struct telling *telling)
{
    say_nearest(telling, "max_rows", TEXT(""));
    telling->out->message =
        arena_printf(telling->arena,
                     "pgwicket: COPY of %.*s is not allowed: its rule sets no max_rows" NOTHING_RUN,
                     TEXT_ARGS(telling->object));
    telling->out->hint =
        TEXT("Use SELECT. COPY is bulk export: a rule opens it by naming max_rows.");
}

static void say_setting(const struct telling *telling)
{
    struct text problem = TEXT(""), name = telling->decision->subject;
    enum setting_act act = SETTING_SET;
    if (telling->action != NULL && telling->decision->failed != CONDITION_SETTING)
        name = telling->action->action->object.name;
    for (size_t i = 0; i < telling->shape->setting_count; i++)
        if (text_equal(telling->shape->settings[i].name, name)) {
            (void)setting_judge(telling->arena, telling->context, &telling->shape->settings[i],
                                &problem);
            act = telling->shape->settings[i].act;
        }
    const char *command = act == SETTING_SHOW ? "SHOW" : (act == SETTING_RESET ? "RESET" : "SET");
    name = shorten(telling->arena, name, 40);
    telling->out->message =
        arena_printf(telling->arena, "pgwicket: %s %.*s is not allowed%s%.*s" NOTHING_RUN, command,
                     TEXT_ARGS(name), problem.size > 0 ? ": " : "",
                     TEXT_ARGS(shorten(telling->arena, problem, 105)));
    telling->out->detail =
        arena_printf(telling->arena, "Policy %.*s%s%.*s.", TEXT_ARGS(policy_name(telling)),
                     problem.size > 0 ? ": " : "", TEXT_ARGS(problem));
    telling->out->hint = act == SETTING_SHOW
                             ? TEXT("Go on without it. SHOW pgwicket.policy lists what is allowed.")
                             : TEXT("Go on without it: the session has the policy's value. SHOW "
                                    "pgwicket.policy lists what is allowed.");
}

/* A catalog, or a function that reads one. */
static void say_introspection(const struct telling *telling)
{
    bool opens = telling->context->policy->introspection;
    say_not_allowed(telling);
    if (telling->action->column.size > 0 && !telling->is_veiled)
        telling->out->message =
            arena_printf(telling->arena, "pgwicket: column %.*s.%.*s may not be read" NOTHING_RUN,
                         TEXT_ARGS(telling->object),
                         TEXT_ARGS(shorten(telling->arena, telling->action->column, 63)));
    telling->out->detail = arena_printf(
        telling->arena, "Policy %.*s, introspection: %s", TEXT_ARGS(policy_name(telling)),
        opens
            ? "allow. It opens names, types, keys, comments and privileges of the catalogs; sizes, "
              "statistics, bodies, options, mappings and other sessions stay closed."
            : "reject. It closes the catalogs and what reads them.");
    telling->out->hint =
        opens
            ? TEXT("Ask only for names and types: name the columns instead of *; of psql, use the "
                   "commands without +.")
            : TEXT("SHOW pgwicket.policy lists the tables of this policy and what is allowed on "
                   "them.");
}

static bool is_about_two_phase(const struct shape *shape)
{
    for (size_t i = 0; i < shape->setting_count; i++)
        if (text_is(shape->settings[i].name, "transaction_snapshot"))
            return true;
    return shape->kind == STATEMENT_TWO_PHASE;
}

/* Or a statement that names nothing. */
static void say_two_phase(const struct telling *telling)
{
    bool two_phase = is_about_two_phase(telling->shape);
    telling->out->message =
        two_phase ? TEXT("pgwicket: two-phase commit and imported snapshots are not allowed" NOTHING_RUN)
                  : TEXT("pgwicket: a statement that names no object is not allowed" NOTHING_RUN);
    telling->out->detail =
        arena_printf(telling->arena, "Policy %.*s: only a rule that allows all on * would open it.",
                     TEXT_ARGS(policy_name(telling)));
    say_general_hint(telling);
    if (two_phase)
        telling->out->hint = TEXT("Use BEGIN and COMMIT in one session, without PREPARE TRANSACTION "
                                  "and SET TRANSACTION SNAPSHOT.");
}

/* The first rule that holds or limits; NULL: none does. */
static const struct rule *limiting_rule(const struct decision *decision)
{
    for (size_t i = 0; i < decision->action_count; i++) {
        const struct action_decision *action = &decision->actions[i];
        if (action->rule != NULL && (action->verdict == VERDICT_HOLD || action->open_cost >= 0 ||
                                     action->open_rows != LIMIT_NONE ||
                                     action->open_effect != LIMIT_NONE))
            return action->rule;
    }
    return NULL;
}

static void say_explain_analyze(const struct telling *telling)
{
    const struct rule *rule = limiting_rule(telling->decision);
    telling->out->message =
        rule != NULL ? TEXT("pgwicket: EXPLAIN ANALYZE would run a statement that has limits or "
                            "needs approval: run it without ANALYZE" NOTHING_RUN)
                     : TEXT("pgwicket: EXPLAIN ANALYZE of EXECUTE is not allowed: run it without "
                            "ANALYZE" NOTHING_RUN);
    say_rule(telling, rule, "");
    telling->out->hint = TEXT("Plain EXPLAIN shows the plan with its estimates.");
}

static void say_held_form(const struct telling *telling)
{
    bool is_copy =
        telling->shape->kind == STATEMENT_COPY_IN || telling->shape->kind == STATEMENT_COPY_OUT;
    telling->out->message = arena_printf(
        telling->arena, "pgwicket: %s %s %.*s needs a person's approval, %s" NOTHING_RUN,
        telling->verb, telling->preposition, TEXT_ARGS(telling->object),
        is_copy ? "which COPY cannot wait for" : "so it must be sent by itself");
    say_rule(telling, telling->action->rule, "");
    telling->out->hint =
        is_copy ? TEXT("Use INSERT or SELECT instead of COPY.")
                : TEXT("Send the statement directly, without EXPLAIN, PREPARE or DECLARE.");
}

static void say_unrehearsable(const struct telling *telling)
{
    telling->out->message =
        arena_printf(telling->arena,
                     "pgwicket: %s %s %.*s needs approval, but its effect cannot be shown "
                     "beforehand" NOTHING_RUN,
                     telling->verb, telling->preposition, TEXT_ARGS(telling->object));
    say_rule(telling, telling->action->rule,
             " Only what a rollback undoes can be tried out for an approver.");
    telling->out->hint = TEXT("Do not retry or rephrase. Report that the rule would have to say "
                              "unrehearsed: hold.");
}

static void say_template_name(const struct telling *telling)
{
    struct text name = telling->decision->subject;
    bool is_prepare = telling->shape->kind == STATEMENT_PREPARE;
    telling->out->message = arena_printf(
        telling->arena, "pgwicket: %.*s is a template, %s" NOTHING_RUN, TEXT_ARGS(name),
        is_prepare ? "so nothing can be prepared under this name"
                   : "so it runs only as a statement of its own");
    telling->out->hint =
        is_prepare
            ? TEXT("Choose another name. SHOW pgwicket.templates lists the templates.")
            : arena_printf(telling->arena, "Send EXECUTE %.*s(...) by itself, without EXPLAIN or CREATE "
                                           "TABLE AS.",
                           TEXT_ARGS(name));
}

/* --- which of them -------------------------------------------------------------------------------- */

typedef void say_function(const struct telling *telling);

static say_function *const say[CONDITION_COUNT] = {
    [CONDITION_NO_RULE] = say_not_allowed,
    [CONDITION_HIDDEN] = say_column,
    [CONDITION_REJECT_RULE] = say_reject_rule,
    [CONDITION_COLUMNS] = say_columns,
    [CONDITION_NOT_COLUMNS] = say_column,
    [CONDITION_WHERE] = say_where,
    [CONDITION_MAX_ROWS] = say_rows,
    [CONDITION_MAX_EFFECT] = say_effect,
    [CONDITION_EFFECT_UNKNOWN] = say_effect_unknown,
    [CONDITION_MAX_COST] = say_cost,
    [CONDITION_MAX_LOCK] = say_lock,
    [CONDITION_FOREIGN_KEYS] = say_foreign_keys,
    [CONDITION_INTROSPECTION] = say_introspection,
    [CONDITION_SETTING] = say_setting,
    [CONDITION_UNRESOLVED] = say_not_allowed,
    [CONDITION_TWO_PHASE] = say_two_phase,
    [CONDITION_EXPLAIN_ANALYZE] = say_explain_analyze,
    [CONDITION_NOT_COUNTABLE] = say_not_countable,
    [CONDITION_UNBOUNDED_COPY] = say_unbounded_copy,
    [CONDITION_HELD_FORM] = say_held_form,
    [CONDITION_UNREHEARSABLE] = say_unrehearsable,
    [CONDITION_TEMPLATE_NAME] = say_template_name,
};

static const struct action_decision *first_held(const struct decision *decision)
{
    for (size_t i = 0; i < decision->action_count; i++)
        if (decision->actions[i].verdict == VERDICT_HOLD)
            return &decision->actions[i];
    return decision->decisive;
}

static const char *preposition(enum verb verb)
{
    if (verb == VERB_INSERT)
        return "into";
    return verb == VERB_UPDATE || verb == VERB_CALL || verb == VERB_SET || verb == VERB_EXECUTE
               ? "of" : "on";
}

static void name_object(struct telling *telling)
{
    const struct action *action = telling->action->action;
    for (size_t steps = 0; action->part == PART_VIEW && steps <= telling->shape->action_count &&
                           !policy_may(telling->context->policy, VERB_SELECT, &action->object);
         steps++) {
        action = &telling->shape->actions[action->view_action];
        telling->is_veiled = true;
    }
    telling->object =
        shorten(telling->arena, object_text(telling->arena, &action->object), OBJECT_BYTES_MAX);
    const char *name = verb_name(telling->action->action->verb);
    for (size_t i = 0; name[i] != '\0' && i < sizeof telling->verb - 1; i++)
        telling->verb[i] = (char)toupper((unsigned char)name[i]);
    telling->preposition = preposition(telling->action->action->verb);
}

static bool is_about_a_setting(const struct telling *telling)
{
    return telling->action != NULL && telling->action->action->verb == VERB_SET &&
           telling->action->action->object.kind == OBJECT_SETTING &&
           telling->decision->failed == CONDITION_NO_RULE;
}

static bool may_search_temporary_last(const struct telling *telling)
{
    const struct policy *policy = telling->context->policy;
    size_t count = policy->search_path_count;
    return text_is(telling->action->action->object.schema, "pg_temp") && policy->search_path_pinned &&
           count > 0 && !text_is(policy->search_path[count - 1], "pg_temp");
}

/* What a name without a schema could mean. */
static struct text hint_schema(const struct telling *telling)
{
    if (telling->action->action->verb == VERB_CALL)
        return TEXT("The name has no schema, so it could mean this object, which the agent may have "
                    "made: write the schema of the one that is meant, of an operator as "
                    "OPERATOR(pg_catalog.=).");
    if (may_search_temporary_last(telling))
        return TEXT("The name has no schema, so it could mean a temporary table: write the schema of the "
                    "one that is meant, as in pg_catalog.pg_type. For drivers that cannot, the owner of the "
                    "policy can put pg_temp at the end of its search_path.");
    return TEXT("The name has no schema, so it could mean this object, which the agent may have "
                "made: write the schema of the one that is meant, as in schema.table. The rest of "
                "the statement may stay as it is.");
}

struct error_text message_rejected(struct arena *arena, const struct decide_context *context,
                                   const struct shape *shape, const struct decision *decision,
                                   const struct numbers *numbers)
{
    struct error_text out = start(PERMISSION_DENIED);
    struct telling telling = {
        .arena = arena,
        .context = context,
        .shape = shape,
        .decision = decision,
        .action =
            decision->failed == CONDITION_HELD_FORM || decision->failed == CONDITION_UNREHEARSABLE
                ? first_held(decision)
                : decision->decisive,
        .numbers = numbers,
        .object = TEXT("this statement"),
        .preposition = "of",
        .out = &out,
    };
    INVARIANT(decision->verdict == VERDICT_REJECT && decision->failed < CONDITION_COUNT);
    if (telling.action != NULL)
        name_object(&telling);
    if (is_about_a_setting(&telling))
        say_setting(&telling);
    else if (say[decision->failed] != NULL &&
             (telling.action != NULL || decision->failed == CONDITION_SETTING ||
              decision->failed == CONDITION_EXPLAIN_ANALYZE ||
              decision->failed == CONDITION_TEMPLATE_NAME))
        say[decision->failed](&telling);
    else
        out.message = TEXT("pgwicket: this statement is not allowed" NOTHING_RUN);
    if (telling.action != NULL && telling.action->action->candidate)
        out.hint = hint_schema(&telling);
    out.message = fit(arena, out.message);
    return out;
}

struct error_text message_result_too_long(struct arena *arena, const struct decision *decision)
{
    struct error_text out = start(LIMIT_EXCEEDED);
    long long limit = decision->select_rows_max;
    const struct rule *rule = NULL;
    for (size_t i = 0; i < decision->action_count && rule == NULL; i++)
        if (decision->actions[i].open_rows == decision->select_rows_max &&
            !verb_is_write(decision->actions[i].action->verb))
            rule = decision->actions[i].rule;
    out.message =
        arena_printf(arena,
                     "pgwicket: result is longer than %lld rows; stopped, the rows received "
                     "so far are incomplete",
                     limit);
    out.detail =
        arena_printf(arena, "Rule %.*s, max_rows %lld.", TEXT_ARGS(rule_name(rule)), limit);
    out.hint = arena_printf(arena, "Filter more, add LIMIT %lld, or aggregate.", limit);
    return out;
}
