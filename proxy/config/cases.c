/*
 * cases.c - see cases.h. An agent or a rule that the configuration does not have is an error of the
 * file: such a case could pass for the wrong reason.
 */
#include "proxy/config/cases.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/config/fields.h"
#include "proxy/config/source.h"

#include <stdlib.h>

/* One case while it is read. */
struct draft {
    struct policy_case result;
    struct text agent;
    int expect;
};

/* In the order of enum verdict. */
static const char *const expect_choices[] = {"reject", "hold", "allow", NULL};

_Static_assert(VERDICT_REJECT == 0 && VERDICT_HOLD == 1 && VERDICT_ALLOW == 2,
               "expect_choices are verdicts");

static bool list_is_fine(struct reader *reader, const struct field *field, const struct node *node)
{
    if (!node_must_be(reader, node, NODE_LIST, field->expected))
        return false;
    return node->count <= LIMIT_CONFIGURATION_LIST ? true
                                                   : field_wrong(reader, node, "a shorter list");
}

static bool field_setup(struct reader *reader, const struct field *field, const struct node *node,
                        void *target)
{
    struct draft *draft = target;
    static const struct field message = {.key = "setup", .expected = "a message: its SQL"};
    bool fine = true;
    if (!list_is_fine(reader, field, node))
        return false;
    struct text *messages = arena_array(reader->arena, node->count, sizeof *messages);
    for (size_t i = 0; i < node->count; i++)
        fine = field_text(reader, &message, &node->items[i], &messages[i]) && fine;
    draft->result.setup = messages;
    draft->result.setup_count = node->count;
    return fine;
}

/* --- values -------------------------------------------------------------------------------------
 */

static void append_element(struct buffer *literal, struct text element)
{
    buffer_append_byte(literal, '"');
    for (size_t i = 0; i < element.size; i++) {
        if (element.bytes[i] == '"' || element.bytes[i] == '\\')
            buffer_append_byte(literal, '\\');
        buffer_append_byte(literal, (uint8_t)element.bytes[i]);
    }
    buffer_append_byte(literal, '"');
}

static bool read_scalar(struct reader *reader, const struct node *node, struct case_value *value)
{
    if (node->kind != NODE_SCALAR || text_has_byte(node->text, '\0'))
        return field_wrong(reader, node, "a number, a text, true, false or null");
    value->is_null = node_is_null(node);
    value->text = arena_text(reader->arena, node->text);
    return true;
}

static bool read_array(struct reader *reader, const struct node *node, struct case_value *value)
{
    struct buffer literal;
    bool fine = true;
    buffer_init(&literal, LIMIT_CONFIGURATION_BYTES);
    buffer_append_byte(&literal, '{');
    for (size_t i = 0; i < node->count; i++) {
        struct case_value element = {0};
        fine = read_scalar(reader, &node->items[i], &element) && fine;
        buffer_append_string(&literal, i > 0 ? "," : "");
        if (fine && element.is_null)
            buffer_append_string(&literal, "NULL");
        else if (fine)
            append_element(&literal, element.text);
    }
    buffer_append_byte(&literal, '}');
    *value = (struct case_value){false, arena_text(reader->arena, buffer_text(&literal))};
    if (literal.overflow)
        fine = field_wrong(reader, node, "a shorter list");
    buffer_release(&literal);
    return fine;
}

static bool field_params(struct reader *reader, const struct field *field, const struct node *node,
                         void *target)
{
    struct draft *draft = target;
    bool fine = true;
    if (!list_is_fine(reader, field, node))
        return false;
    struct case_value *values = arena_array(reader->arena, node->count, sizeof *values);
    for (size_t i = 0; i < node->count; i++) {
        const struct node *item = &node->items[i];
        bool (*read)(struct reader *, const struct node *, struct case_value *) =
            item->kind == NODE_LIST ? read_array : read_scalar;
        fine = read(reader, item, &values[i]) && fine;
    }
    draft->result.has_params = true;
    draft->result.params = values;
    draft->result.param_count = node->count;
    return fine;
}

/* --- a case -------------------------------------------------------------------------------------
 */

static const struct field case_fields[] = {
    {"name", field_text, OPTIONAL, offsetof(struct draft, result.name), "what the case shows", NULL,
     0, 0},
    {"agent", field_text, REQUIRED, offsetof(struct draft, agent), "who sends it", NULL, 0, 0},
    {"setup", field_setup, OPTIONAL, 0, "a list of messages sent before it", NULL, 0, 0},
    {"sql", field_text, REQUIRED, offsetof(struct draft, result.sql), "the message", NULL, 0, 0},
    {"params", field_params, OPTIONAL, 0, "a list of the values of $1, $2, …", NULL, 0, 0},
    {"expect", field_choice, REQUIRED, offsetof(struct draft, expect), "allow, hold or reject",
     expect_choices, 0, 0},
    {"rule", field_text, OPTIONAL, offsetof(struct draft, result.rule), "the rule that decides",
     NULL, 0, 0},
};

static struct place place_of(const struct node *map, const char *key)
{
    const struct node *value = node_find(map, key);
    return value != NULL ? value->place : map->place;
}

/* ", did you mean X?" or nothing. */
static struct text suggestion(struct reader *reader, struct text written, const char **names,
                              size_t count)
{
    const char *nearest = problems_nearest_name(written, names, count);
    return nearest != NULL ? arena_printf(reader->scratch, "; did you mean \"%s\"?", nearest)
                           : TEXT("");
}

static bool resolve_agent(struct reader *reader, const struct node *node,
                          const struct configuration *configuration, struct draft *draft)
{
    draft->result.agent = configuration_agent(configuration, draft->agent);
    if (draft->result.agent != NULL || draft->agent.size == 0)
        return draft->result.agent != NULL;
    const char **names = arena_array(reader->scratch, configuration->agent_count, sizeof *names);
    for (size_t i = 0; i < configuration->agent_count; i++)
        names[i] = arena_text(reader->scratch, configuration->agents[i].name).bytes;
    problem_error(reader->problems, place_of(node, "agent"), "%.*s has no agent \"%.*s\"%.*s",
                  TEXT_ARGS(configuration->path), TEXT_ARGS(text_cut(draft->agent, 63)),
                  TEXT_ARGS(suggestion(reader, draft->agent, names, configuration->agent_count)));
    return false;
}

static bool check_rule(struct reader *reader, const struct node *node, const struct draft *draft)
{
    const struct policy *policy = draft->result.agent->policy;
    struct text written = draft->result.rule;
    const char **names = arena_array(reader->scratch, policy->rule_count, sizeof *names);
    for (size_t i = 0; i < policy->rule_count; i++) {
        names[i] = arena_text(reader->scratch, policy->rules[i].name).bytes;
        if (text_equal(policy->rules[i].name, written))
            return true;
    }
    if (written.size == 0)
        return true;
    problem_error(reader->problems, place_of(node, "rule"), "policy %.*s has no rule \"%.*s\"%.*s",
                  TEXT_ARGS(policy->name), TEXT_ARGS(text_cut(written, 63)),
                  TEXT_ARGS(suggestion(reader, written, names, policy->rule_count)));
    return false;
}

static bool read_case(struct reader *reader, const struct node *node,
                      const struct configuration *configuration, struct policy_case *result)
{
    struct draft draft = {.result.place = node->place};
    bool fine = fields_read(reader, node, "a case", case_fields, ARRAY_SIZE(case_fields), &draft);
    if (node->kind == NODE_MAP)
        fine = resolve_agent(reader, node, configuration, &draft) &&
               check_rule(reader, node, &draft) && fine;
    draft.result.expect = (enum verdict)draft.expect;
    *result = draft.result;
    return fine;
}

static void read_list(struct reader *reader, const struct node *root,
                      const struct configuration *configuration, struct policy_cases *cases)
{
    static const struct field whole = {.key = "the file", .expected = "a list of cases"};
    if (!list_is_fine(reader, &whole, root))
        return;
    if (root->count == 0)
        problem_error(reader->problems, root->place, "there is no case in the file");
    cases->items = arena_array(reader->arena, root->count, sizeof *cases->items);
    cases->count = root->count;
    for (size_t i = 0; i < root->count; i++)
        (void)read_case(reader, &root->items[i], configuration, &cases->items[i]);
}

bool cases_parse(struct text path, struct text source, const struct configuration *configuration,
                 struct policy_cases *cases, struct buffer *problems_out)
{
    struct arena scratch;
    arena_init(&scratch);
    *cases = (struct policy_cases){0};
    arena_init(&cases->arena);
    struct problems problems = {.arena = &scratch, .path = path, .source = source};
    struct reader reader = {.arena = &cases->arena, .scratch = &scratch, .problems = &problems};
    const struct node *root = document_parse(&scratch, source, &problems);
    if (root != NULL)
        read_list(&reader, root, configuration, cases);
    problems_print(&problems, problems_out);
    bool fine = root != NULL && problems.errors == 0;
    arena_release(&scratch);
    if (!fine)
        cases_release(cases);
    return fine;
}

bool cases_load(const char *path, const struct configuration *configuration,
                struct policy_cases *cases, struct buffer *problems)
{
    struct text source;
    if (!source_read(path, &source, problems))
        return false;
    bool fine = cases_parse(text_from(path), source, configuration, cases, problems);
    source_release(source);
    return fine;
}

void cases_release(struct policy_cases *cases)
{
    arena_release(&cases->arena);
}
