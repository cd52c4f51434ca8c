/*
 * template_call.c - see template_call.h. Whatever does not fit the template's parameters is 22023, and
 * nothing of the statement is sent.
 */
#include "proxy/session/template_call.h"

#include "proxy/base/cursor.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <string.h>

enum { MESSAGE_BYTES_MAX = 200 };

#define INVALID_PARAMETER "22023"
#define NOTHING_RUN       "; nothing was run"
#define SCHEMA_HINT       "SHOW pgwicket.templates gives the JSON Schema."

const struct template *template_executed(const struct policy *policy, const struct shape *shape)
{
    if (shape->kind != STATEMENT_EXECUTE || shape->hold != 0)
        return NULL;
    return template_find(policy->templates, policy->template_count, shape->name);
}

/* --- what is wrong, in words -------------------------------------------------------------------- */

static struct error_text problem_with(struct arena *arena, const struct template *template,
                                      struct text what)
{
    struct error_text error = {
        .sqlstate = INVALID_PARAMETER,
        .message = arena_printf(arena, "pgwicket: %.*s %.*s" NOTHING_RUN, TEXT_ARGS(template->name),
                                TEXT_ARGS(what)),
        .detail = arena_printf(arena, "EXECUTE %.*s.", TEXT_ARGS(template->rule_text)),
        .hint = TEXT(SCHEMA_HINT)};
    return error;
}

/* `at` counts the parameters that are arguments, from 0. */
static struct error_text problem_with_parameter(struct arena *arena, const struct template *template,
                                                const struct template_parameter *parameter, size_t at,
                                                struct text what)
{
    size_t taken = sizeof "pgwicket: : parameter  " - 1 + template->name.size + parameter->name.size +
                   sizeof NOTHING_RUN - 1;
    size_t room = taken < MESSAGE_BYTES_MAX ? MESSAGE_BYTES_MAX - taken : 0;
    bool fits = what.size <= room;
    struct text shown = fits || room < 3 ? text_cut(what, room) : text_cut(what, room - 3);
    return (struct error_text){
        .sqlstate = INVALID_PARAMETER,
        .message = arena_printf(arena, "pgwicket: %.*s: parameter %.*s %.*s%s" NOTHING_RUN,
                                TEXT_ARGS(template->name), TEXT_ARGS(parameter->name),
                                TEXT_ARGS(shown), fits ? "" : "..."),
        .detail = arena_printf(arena, "Parameter %zu of EXECUTE %.*s.%s%.*s", at + 1,
                               TEXT_ARGS(template->rule_text), fits ? "" : " It ",
                               TEXT_ARGS(fits ? TEXT("") : what)),
        .hint = TEXT(SCHEMA_HINT)};
}

static void reject(struct judgement *judgement, const struct error_text *error)
{
    judgement->verdict = VERDICT_REJECT;
    judgement->error = *error;
}

/* --- the client's parameters -------------------------------------------------------------------- */

static size_t argument_count(const struct template *template)
{
    size_t count = 0;
    for (size_t i = 0; i < template->parameter_count; i++)
        count += template->parameters[i].attribute.size == 0;
    return count;
}

static const struct template_parameter *parameter_of_argument(const struct template *template,
                                                              size_t argument)
{
    size_t seen = 0;
    for (size_t i = 0; i < template->parameter_count; i++)
        if (template->parameters[i].attribute.size == 0 && seen++ == argument)
            return &template->parameters[i];
    INVARIANT(false && "an argument beyond the template's parameters");
    return NULL;
}

static uint32_t parameter_type(const struct template_parameter *parameter)
{
    return template_type_oid(parameter->type, parameter->array);
}

static void append_type(struct buffer *out, uint32_t type) { buffer_append_u32(out, type); }

static struct text types_of_template(struct arena *arena, const struct template *template)
{
    struct buffer types;
    buffer_init(&types, template->parameter_count * sizeof(uint32_t));
    for (size_t i = 0; i < template->parameter_count; i++)
        append_type(&types, parameter_type(&template->parameters[i]));
    struct text text = arena_text(arena, buffer_text(&types));
    buffer_release(&types);
    return text;
}

/* As Parse declares it, else the type of the first parameter that it is given for. 0: neither. */
static uint32_t client_type(const struct template_call *call, size_t index, const uint32_t *types,
                            size_t type_count)
{
    if (index < type_count && types[index] != 0)
        return types[index];
    for (size_t i = 0; i < call->shape->argument_count; i++)
        if (call->arguments[i].kind == ARGUMENT_PARAMETER &&
            (size_t)call->arguments[i].parameter == index + 1)
            return parameter_type(parameter_of_argument(call->template, i));
    return 0;
}

/* False where the server would say that a parameter's type cannot be determined. */
static bool number_client_parameters(struct arena *arena, struct template_call *call,
                                     const uint32_t *types, size_t type_count,
                                     struct error_text *error)
{
    struct buffer out;
    bool known = true;
    call->client_count =
        call->shape->parameter_max > type_count ? call->shape->parameter_max : (uint16_t)type_count;
    buffer_init(&out, call->client_count * sizeof(uint32_t));
    for (size_t i = 0; i < call->client_count && known; i++) {
        uint32_t type = client_type(call, i, types, type_count);
        known = type != 0;
        append_type(&out, type);
        if (!known)
            *error = (struct error_text){
                .sqlstate = "42P18",
                .message = arena_printf(arena, "could not determine data type of parameter $%zu", i + 1)};
    }
    call->client_types = arena_text(arena, buffer_text(&out));
    buffer_release(&out);
    return known;
}

/* --- values ------------------------------------------------------------------------------------- */

static bool is_fixed(enum argument_kind kind)
{
    return kind != ARGUMENT_PARAMETER && kind != ARGUMENT_OTHER;
}

static struct template_value value_of_constant(const struct argument *argument)
{
    static const enum value_form forms[] = {
        [ARGUMENT_OTHER] = VALUE_NULL,           [ARGUMENT_NULL] = VALUE_NULL,
        [ARGUMENT_NUMBER] = VALUE_LITERAL_NUMBER, [ARGUMENT_STRING] = VALUE_LITERAL_STRING,
        [ARGUMENT_BOOLEAN] = VALUE_LITERAL_BOOLEAN, [ARGUMENT_PARAMETER] = VALUE_NULL,
    };
    return (struct template_value){.form = forms[argument->kind], .bytes = argument->text};
}

static uint32_t client_type_at(const struct template_call *call, size_t index)
{
    struct cursor cursor = cursor_over(call->client_types.bytes + index * sizeof(uint32_t),
                                       sizeof(uint32_t));
    return cursor_u32(&cursor);
}

static void append_value(struct buffer *out, struct text bound)
{
    if (bound.bytes == NULL) {
        buffer_append_u32(out, UINT32_MAX);
        return;
    }
    buffer_append_u32(out, (uint32_t)bound.size);
    buffer_append_text(out, bound);
}

/* One argument's value, checked and appended. `values` are the client's. */
static bool bind_argument(struct arena *arena, const struct template_call *call, size_t at,
                          const struct template_value *values, struct buffer *out,
                          struct error_text *error)
{
    const struct template_parameter *parameter = parameter_of_argument(call->template, at);
    const struct argument *argument = &call->arguments[at];
    struct template_value value = argument->kind == ARGUMENT_PARAMETER
                                      ? values[argument->parameter - 1]
                                      : value_of_constant(argument);
    struct text bound = {0};
    struct text problem = TEXT("");
    if (!template_check(arena, parameter, &value, &bound, &problem)) {
        *error = problem_with_parameter(arena, call->template, parameter, at, problem);
        return false;
    }
    append_value(out, bound);
    return true;
}

static bool bind_attribute(struct arena *arena, const struct template_call *call, size_t index,
                           struct buffer *out, struct error_text *error)
{
    const struct template_value value = {.form = VALUE_TEXT, .bytes = call->attributes[index]};
    struct text bound = {0};
    struct text problem = TEXT("");
    if (!template_check(arena, &call->template->parameters[index], &value, &bound, &problem)) {
        *error = problem_with(arena, call->template,
                              TEXT("needs an attribute that this agent does not have as it should"));
        return false;
    }
    append_value(out, bound);
    return true;
}

/* The client's values in their order; NULL and `error` if they are not as many as there must be. */
static const struct template_value *values_of_client(struct arena *arena,
                                                     const struct template_call *call,
                                                     const struct bind_message *message,
                                                     struct error_text *error)
{
    size_t count = message != NULL ? message->value_count : 0;
    if (count != call->client_count) {
        *error = (struct error_text){
            .sqlstate = "08P01",
            .message = arena_printf(arena, "bind message supplies %zu parameters, but %.*s requires %u",
                                    count, TEXT_ARGS(call->template->name), call->client_count)};
        return NULL;
    }
    struct template_value *values = arena_array(arena, count + 1, sizeof *values);
    size_t state = 0;
    for (size_t i = 0; i < count; i++) {
        struct bound_value bound;
        if (!bind_message_next_value(message, &state, (uint16_t)i, &bound)) {
            *error = (struct error_text){.sqlstate = "08P01", .message = TEXT("invalid Bind message")};
            return NULL;
        }
        values[i] = (struct template_value){
            .form = bound.is_null ? VALUE_NULL : (bound.binary ? VALUE_BINARY : VALUE_TEXT),
            .type = client_type_at(call, i),
            .bytes = bound.bytes};
    }
    return values;
}

bool template_call_bind(struct arena *arena, const struct template_call *call,
                        const struct bind_message *message, struct buffer *out,
                        struct error_text *error)
{
    const struct template *template = call->template;
    const struct template_value *values = values_of_client(arena, call, message, error);
    size_t argument = 0;
    if (values == NULL)
        return false;
    buffer_append_u16(out, 0); /* every value as text */
    buffer_append_u16(out, (uint16_t)template->parameter_count);
    for (size_t i = 0; i < template->parameter_count; i++) {
        bool good = template->parameters[i].attribute.size > 0
                        ? bind_attribute(arena, call, i, out, error)
                        : bind_argument(arena, call, argument++, values, out, error);
        if (!good)
            return false;
    }
    if (out->overflow)
        *error = (struct error_text){
            .sqlstate = "54000", .message = TEXT("pgwicket: the values are too long; nothing was run")};
    return !out->overflow;
}

/* What can be said before any Bind: how many there are, and whether the constants fit. */
static bool check_arguments(struct arena *arena, const struct template_call *call,
                            struct error_text *error)
{
    const struct template *template = call->template;
    size_t given = call->shape->argument_count;
    size_t wanted = argument_count(template);
    struct buffer out;
    bool good = true;
    if (given != wanted) {
        *error = problem_with(arena, template,
                              arena_printf(arena, "takes %zu argument%s, %zu %s given", wanted,
                                           wanted == 1 ? "" : "s", given, given == 1 ? "was" : "were"));
        return false;
    }
    buffer_init(&out, LIMIT_BIND_BYTES);
    for (size_t i = 0; i < given && good; i++) {
        if (call->arguments[i].kind == ARGUMENT_OTHER) {
            *error = problem_with_parameter(
                arena, template, parameter_of_argument(template, i), i,
                TEXT("must be a constant or a parameter, without cast or expression"));
            good = false;
        } else if (is_fixed(call->arguments[i].kind)) {
            good = bind_argument(arena, call, i, NULL, &out, error);
        }
    }
    buffer_release(&out);
    return good;
}

/* --- judging ------------------------------------------------------------------------------------ */

static const struct text *attributes_of(struct arena *arena, const struct judge_context *context,
                                        const struct template *template)
{
    struct text *values = arena_array(arena, template->parameter_count, sizeof *values);
    for (size_t i = 0; i < template->parameter_count; i++)
        for (size_t j = 0; j < context->attribute_count; j++)
            if (text_equal(context->attributes[j].name, template->parameters[i].attribute))
                values[i] = context->attributes[j].value;
    return values;
}

static const struct shape *shown_as(struct arena *arena, const struct template *template)
{
    struct action *action = arena_allocate(arena, sizeof *action);
    struct shape *shape = arena_allocate(arena, sizeof *shape);
    *action = (struct action){.verb = VERB_EXECUTE,
                              .object = {OBJECT_TEMPLATE, TEXT(""), template->name},
                              .rows_max = ROWS_UNPROVEN,
                              .location = -1};
    *shape = (struct shape){.kind = STATEMENT_EXECUTE,
                            .name = template->name,
                            .actions = action,
                            .action_count = 1,
                            .summary = arena_printf(arena, "EXECUTE %.*s", TEXT_ARGS(template->name))};
    return shape;
}

static struct template_call *make_call(struct arena *arena, const struct judge_context *context,
                                       const struct template *template, const struct shape *shape)
{
    struct template_call *call = arena_allocate(arena, sizeof *call);
    *call = (struct template_call){.template = template,
                                   .shape = shape,
                                   .shown = shown_as(arena, template),
                                   .arguments = shape->arguments,
                                   .attributes = attributes_of(arena, context, template),
                                   .types = types_of_template(arena, template)};
    return call;
}

/* The template's SQL in the place of the EXECUTE. */
static void judge_sql(struct arena *arena, const struct judge_context *context,
                      const struct template_call *call, struct judgement *judgement)
{
    const struct template *template = call->template;
    const struct decide_context decide_context = judge_decide_context(context);
    const struct numbers nothing = {0};
    uint32_t *types = arena_array(arena, template->parameter_count, sizeof *types);
    for (size_t i = 0; i < template->parameter_count; i++)
        types[i] = parameter_type(&template->parameters[i]);
    const struct analyse_context analyse_context = {.catalog = context->catalog,
                                                    .custom_pinned = policy_pins_custom(context->policy),
                                                    .anything_goes = true,
                                                    .parameter_types = types,
                                                    .parameter_count = template->parameter_count};
    struct analysis analysis;
    analyse(arena, &analyse_context, template->sql, &analysis);
    if (analysis.result != ANALYSE_OK || analysis.statement_count != 1) {
        const struct error_text error =
            problem_with(arena, template, TEXT("cannot be read as one statement"));
        reject(judgement, &error);
        return;
    }
    judgement->analysis = analysis;
    judgement->call = call;
    judgement->decisive = 0;
    judgement->decisions = arena_array(arena, 1, sizeof *judgement->decisions);
    template_call_decide(arena, &decide_context, call, &analysis.statements[0].shape, &nothing,
                         &judgement->decisions[0]);
    judgement->verdict = judgement->decisions[0].verdict;
    if (judgement->verdict == VERDICT_REJECT)
        judgement->error = template_call_rejected(arena, &decide_context, call,
                                                  &judgement->decisions[0], &nothing);
}

/* Does a rule let this agent execute the template at all? */
static bool may_execute(const struct decision *decision)
{
    for (size_t i = 0; i < decision->action_count; i++)
        if (decision->actions[i].action->verb == VERB_EXECUTE)
            return decision->actions[i].verdict != VERDICT_REJECT;
    return false;
}

void template_call_judge(struct arena *arena, const struct judge_context *context,
                         const uint32_t *types, size_t type_count, struct judgement *judgement)
{
    const struct shape *shape = &judgement->analysis.statements[0].shape;
    const struct template *template = template_executed(context->policy, shape);
    struct error_text error;
    if (template == NULL || !may_execute(&judgement->decisions[0]))
        return;
    struct template_call *call = make_call(arena, context, template, shape);
    if (!check_arguments(arena, call, &error) ||
        !number_client_parameters(arena, call, types, type_count, &error))
        reject(judgement, &error);
    else
        judge_sql(arena, context, call, judgement);
}

void template_call_judge_stored(struct arena *arena, const struct judge_context *context,
                                const struct template *template, struct judgement *judgement)
{
    struct shape *shape = arena_allocate(arena, sizeof *shape);
    *shape = (struct shape){.kind = STATEMENT_EXECUTE, .name = template->name};
    *judgement = (struct judgement){.verdict = VERDICT_REJECT};
    judge_sql(arena, context, make_call(arena, context, template, shape), judgement);
}

/* --- deciding ----------------------------------------------------------------------------------- */

static int64_t smaller_limit(int64_t a, int64_t b)
{
    if (a == LIMIT_NONE || b == LIMIT_NONE)
        return a == LIMIT_NONE ? b : a;
    return a < b ? a : b;
}

/* The template as a policy of one rule: its SQL may do anything, up to its own limits. */
static void decide_sql(struct arena *arena, const struct decide_context *context,
                       const struct template_call *call, const struct rule *by,
                       const struct shape *shape, const struct numbers *numbers, bool is_held,
                       struct decision *out)
{
    static const struct object_pattern anything = {.source = TEXT_INIT("*"), .any = true};
    struct rule *rule = arena_allocate(arena, sizeof *rule);
    *rule = (struct rule){.name = call->template->name,
                          .verdict = is_held ? VERDICT_HOLD : VERDICT_ALLOW,
                          .all_verbs = true,
                          .on = &anything,
                          .on_count = 1,
                          .max_rows = call->template->max_rows,
                          .max_effect = LIMIT_NONE,
                          .max_cost = -1,
                          .unrehearsed_hold = by != NULL && by->unrehearsed_hold,
                          .rehearse = by != NULL && by->rehearse};
    for (size_t verb = 0; verb < VERB_COUNT; verb++)
        rule->verbs[verb] = true;
    struct policy *policy = arena_allocate(arena, sizeof *policy);
    *policy = *context->policy;
    policy->transparent = true;
    policy->hidden_count = 0;
    policy->rules = rule;
    policy->rule_count = 1;
    const struct decide_context own = {policy, context->catalog, context->setting_values, context->keys_in_doubt};
    decide(arena, &own, shape, numbers, out);
}

/* A select that runs code is run like a write, so that too many rows undo what the code did. */
static void count_what_code_returns(const struct shape *shape, struct decision *decision)
{
    if (shape->kind != STATEMENT_SELECT || (shape->changes & CHANGES_BY_CODE) == 0)
        return;
    decision->write_rows_max = smaller_limit(decision->write_rows_max, decision->select_rows_max);
    decision->select_rows_max = LIMIT_NONE;
}

/* Procedures have no rows that a tag would count. */
static bool cannot_count(const struct template_call *call, const struct shape *shape)
{
    return call->template->max_rows != LIMIT_NONE && shape->kind == STATEMENT_CODE;
}

void template_call_decide(struct arena *arena, const struct decide_context *context,
                          const struct template_call *call, const struct shape *shape,
                          const struct numbers *numbers, struct decision *out)
{
    struct decision own;
    decide(arena, context, call->shape, numbers, out);
    if (out->verdict == VERDICT_REJECT)
        return;
    bool is_held = call->template->hold || out->verdict == VERDICT_HOLD;
    const struct rule *by = out->decisive != NULL ? out->decisive->rule : NULL;
    decide_sql(arena, context, call, by, shape, numbers, is_held, &own);
    if (own.verdict != VERDICT_REJECT && cannot_count(call, shape)) {
        own.verdict = VERDICT_REJECT;
        own.failed = CONDITION_NOT_COUNTABLE;
    }
    count_what_code_returns(shape, &own);
    struct action_decision *actions = arena_array(arena, out->action_count, sizeof *actions);
    for (size_t i = 0; i < out->action_count; i++) {
        actions[i] = out->actions[i];
        if (own.verdict < actions[i].verdict)
            actions[i].verdict = own.verdict;
        actions[i].failed = own.verdict == VERDICT_REJECT ? own.failed : CONDITION_NONE;
        actions[i].open_rows = smaller_limit(own.select_rows_max, own.write_rows_max);
    }
    out->actions = actions;
    out->decisive = out->action_count > 0 ? actions : NULL;
    out->verdict = own.verdict < out->verdict ? own.verdict : out->verdict;
    out->failed = own.failed;
    out->needs_cost = own.needs_cost;
    out->select_rows_max = own.select_rows_max;
    out->write_rows_max = own.write_rows_max;
    out->counted = own.counted;
    if (out->verdict == VERDICT_HOLD && out->quorum < context->policy->hold_quorum)
        out->quorum = context->policy->hold_quorum;
}

static struct error_text say_too_many(struct arena *arena, const struct template_call *call,
                                      const struct numbers *numbers)
{
    const struct template *template = call->template;
    return (struct error_text){
        .sqlstate = "54000",
        .message = arena_printf(arena, "pgwicket: %.*s would change %lld rows, limit %lld; %s",
                                TEXT_ARGS(template->name), (long long)numbers->rows,
                                (long long)template->max_rows,
                                numbers->rows_real ? "rolled back, nothing was changed"
                                                   : "nothing was run"),
        .detail = arena_printf(arena, "Template %.*s, max_rows %lld. %s number: %lld.",
                               TEXT_ARGS(template->name), (long long)template->max_rows,
                               numbers->rows_real ? "Real" : "Estimated", (long long)numbers->rows),
        .hint = TEXT("Give it values that mean fewer rows.")};
}

static struct error_text say_not_runnable(struct arena *arena, const struct template_call *call,
                                          const char *why, const char *mend)
{
    return (struct error_text){
        .sqlstate = "42501",
        .message = arena_printf(arena, "pgwicket: %.*s cannot run as it is configured: %s" NOTHING_RUN,
                                TEXT_ARGS(call->template->name), why),
        .detail = arena_text(arena, text_from(mend)),
        .hint = TEXT("Do not retry or rephrase: report that this template has to be changed.")};
}

struct error_text template_call_rejected(struct arena *arena, const struct decide_context *context,
                                         const struct template_call *call,
                                         const struct decision *decision,
                                         const struct numbers *numbers)
{
    switch (decision->failed) {
    case CONDITION_MAX_ROWS:
        if (numbers->has_rows)
            return say_too_many(arena, call, numbers);
        return say_not_runnable(arena, call, "it may change more rows than its max_rows",
                                "Its text proves how many rows it can change.");
    case CONDITION_FOREIGN_KEYS:
    case CONDITION_NOT_COUNTABLE:
        return say_not_runnable(arena, call, "its max_rows cannot be counted before it is committed",
                                "Rules, functions, procedures, and foreign keys into very many tables "
                                "change rows that are not counted.");
    case CONDITION_UNREHEARSABLE:
        return say_not_runnable(arena, call, "it is held, but cannot be rehearsed",
                                "The rule that holds it would need \"unrehearsed: hold\".");
    default:
        return message_rejected(arena, context, call->shape, decision, numbers);
    }
}

struct error_text template_call_result_too_long(struct arena *arena, const struct template_call *call,
                                                const struct decision *decision)
{
    return (struct error_text){
        .sqlstate = "54000",
        .message = arena_printf(arena,
                                "pgwicket: the result of %.*s is longer than %lld rows; stopped, the rows "
                                "received so far are incomplete",
                                TEXT_ARGS(call->template->name), (long long)decision->select_rows_max),
        .detail = arena_printf(arena, "Template %.*s, max_rows %lld.", TEXT_ARGS(call->template->name),
                               (long long)call->template->max_rows),
        .hint = TEXT("Give it values that mean fewer rows.")};
}
