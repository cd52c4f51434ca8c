/*
 * templates.c - the section `templates`: ready-made statements, read by PostgreSQL's grammar while the
 * file is read.
 *
 * The SQL is one query or CALL whose names are written with their schemas, since what a name without
 * one means would be the session's affair. Each $n has its parameter, each parameter its $n.
 */
#include "proxy/config/templates.h"

#include "parser/analyse.h"
#include "proxy/base/limits.h"
#include "rules/policy.h"

struct draft {
    struct template template;
    const struct node *sql;
};

/* --- names ---------------------------------------------------------------------------------------- */

static bool is_plain_name(struct text name)
{
    for (size_t i = 0; i < name.size; i++) {
        char byte = name.bytes[i];
        bool is_letter = (byte >= 'a' && byte <= 'z') || byte == '_';
        if (!is_letter && (i == 0 || byte < '0' || byte > '9'))
            return false;
    }
    return name.size > 0 && name.size <= 63;
}

bool template_name_is_fine(struct reader *reader, const struct node *name)
{
    if (name->kind == NODE_SCALAR && is_plain_name(name->text))
        return true;
    problem_error(reader->problems, name->place,
                  "a name here has 1 to 63 lower-case letters, digits and _, and begins with no digit");
    return false;
}

/* What `EXECUTE name` cannot run, PostgreSQL's grammar and the reserved names decide. */
static bool can_be_executed(struct reader *reader, const struct node *name)
{
    const struct analyse_context context = {0};
    struct analysis analysis;
    analyse(reader->scratch, &context, arena_printf(reader->scratch, "EXECUTE %.*s", TEXT_ARGS(name->text)),
            &analysis);
    if (analysis.result == ANALYSE_OK && analysis.statement_count == 1 &&
        text_equal(analysis.statements[0].shape.name, name->text) &&
        analysis.statements[0].shape.hold == 0)
        return true;
    problem_error(reader->problems, name->place,
                  "\"%.*s\" cannot be the name of a template: it is a word of SQL, or begins with "
                  "pgwicket_",
                  TEXT_ARGS(name->text));
    return false;
}

/* --- SQL ------------------------------------------------------------------------------------------ */

static bool sql_wrong(struct reader *reader, const struct draft *draft, struct text problem)
{
    problem_error(reader->problems, draft->sql->place, "sql of %.*s: %.*s",
                  TEXT_ARGS(draft->template.name), TEXT_ARGS(problem));
    return false;
}

/* A query, or CALL: what can be prepared and takes parameters. */
static bool is_kind_allowed(const struct shape *shape)
{
    if (shape->kind == STATEMENT_CODE) {
        for (size_t i = 0; i < shape->action_count; i++)
            if (shape->actions[i].verb == VERB_CODE)
                return false;
        return true;
    }
    return (shape->kind == STATEMENT_SELECT || shape->kind == STATEMENT_WRITE) && !shape->positioned;
}

/* Without a path and a catalog, only names that were written with a schema have one; of functions,
 * operators and types those of pg_catalog need none. */
static bool check_names(struct reader *reader, const struct draft *draft, const struct shape *shape)
{
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct object *object = &shape->actions[i].object;
        if (object->kind == OBJECT_NAME && object->schema.size == 0)
            return sql_wrong(reader, draft,
                             arena_printf(reader->scratch,
                                          "write \"%.*s\" with its schema, as in shop.%.*s",
                                          TEXT_ARGS(object->name), TEXT_ARGS(object->name)));
    }
    return true;
}

static bool check_parameters(struct reader *reader, const struct draft *draft,
                             const struct shape *shape)
{
    const struct template *template = &draft->template;
    if (shape->parameter_max > template->parameter_count)
        return sql_wrong(reader, draft,
                         arena_printf(reader->scratch, "there is no parameter for $%u",
                                      (unsigned)shape->parameter_max));
    for (size_t i = 0; i < template->parameter_count; i++)
        if (i >= shape->parameter_max || !shape->parameters_used[i])
            return sql_wrong(reader, draft,
                             arena_printf(reader->scratch, "parameter %.*s is $%zu, which is not used",
                                          TEXT_ARGS(template->parameters[i].name), i + 1));
    return true;
}

static bool check_limit(struct reader *reader, const struct draft *draft, const struct shape *shape)
{
    if (draft->template.max_rows == LIMIT_NONE || shape->kind != STATEMENT_CODE)
        return true;
    return sql_wrong(reader, draft, TEXT("the rows of a CALL cannot be counted, so it has no max_rows"));
}

static bool only_reads(const struct shape *shape)
{
    for (size_t i = 0; i < shape->action_count; i++)
        if (shape->actions[i].verb != VERB_SELECT)
            return false;
    return shape->kind == STATEMENT_SELECT && shape->setting_count == 0;
}

static struct template_use *copy_uses(struct arena *arena, const struct shape *shape)
{
    struct template_use *uses = arena_array(arena, shape->action_count, sizeof *uses);
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct object *object = &shape->actions[i].object;
        uses[i] = (struct template_use){shape->actions[i].verb,
                                        {object->kind, arena_text(arena, object->schema),
                                         arena_text(arena, object->name)}};
    }
    return uses;
}

static bool check_statement(struct reader *reader, struct draft *draft,
                            const struct analysis *analysis)
{
    const struct shape *shape = &analysis->statements[0].shape;
    if (!is_kind_allowed(shape))
        return sql_wrong(reader, draft,
                         TEXT("a template is one SELECT, INSERT, UPDATE, DELETE, MERGE or CALL"));
    draft->template.sql = arena_text(reader->arena, analysis->print);
    draft->template.only_reads = only_reads(shape);
    draft->template.uses = copy_uses(reader->arena, shape);
    draft->template.use_count = shape->action_count;
    return check_names(reader, draft, shape) && check_parameters(reader, draft, shape) &&
           check_limit(reader, draft, shape);
}

static struct text without_prefix(struct text message)
{
    return text_starts_with(message, "pgwicket: ") ? text_behind(message, sizeof "pgwicket: " - 1)
                                                   : message;
}

static bool read_sql(struct reader *reader, struct draft *draft)
{
    const struct template *template = &draft->template;
    struct text sql;
    struct analysis analysis;
    static const struct field text = {.expected = "an SQL statement"};
    if (!field_text(reader, &text, draft->sql, &sql))
        return false;
    uint32_t *types = arena_array(reader->scratch, template->parameter_count, sizeof *types);
    for (size_t i = 0; i < template->parameter_count; i++)
        types[i] = template_type_oid(template->parameters[i].type, template->parameters[i].array);
    const struct analyse_context context = {.anything_goes = true,
                                            .parameter_types = types,
                                            .parameter_count = template->parameter_count};
    analyse(reader->scratch, &context, sql, &analysis);
    if (analysis.result != ANALYSE_OK)
        return sql_wrong(reader, draft, without_prefix(analysis.message));
    if (analysis.statement_count != 1)
        return sql_wrong(reader, draft, TEXT("a template is exactly one statement"));
    return check_statement(reader, draft, &analysis);
}

/* --- a template ----------------------------------------------------------------------------------- */

static bool field_sql(struct reader *reader, const struct field *field, const struct node *node,
                      void *target)
{
    const struct node **sql = target;
    (void)reader;
    (void)field;
    *sql = node;
    return true;
}

static const struct field template_fields[] = {
    {"description", field_text, OPTIONAL, offsetof(struct draft, template.description), NULL, NULL, 0,
     0},
    {"sql", field_sql, REQUIRED, offsetof(struct draft, sql), "an SQL statement", NULL, 0, 0},
    {"parameters", field_parameters, OPTIONAL, offsetof(struct draft, template), NULL, NULL, 0, 0},
    {"hold", field_flag, OPTIONAL, offsetof(struct draft, template.hold), NULL, NULL, 0, 0},
    {"max_rows", field_integer, OPTIONAL, offsetof(struct draft, template.max_rows), NULL, NULL, 1, 0},
};

/* "refund_order(order_id integer, reason string)", without what comes from attributes. */
static struct text in_words(struct arena *arena, const struct template *template)
{
    struct text words = arena_printf(arena, "%.*s(", TEXT_ARGS(template->name));
    const char *separator = "";
    for (size_t i = 0; i < template->parameter_count; i++) {
        const struct template_parameter *parameter = &template->parameters[i];
        if (parameter->attribute.size > 0)
            continue;
        words = arena_printf(arena, "%.*s%s%.*s %s%s", TEXT_ARGS(words), separator,
                             TEXT_ARGS(parameter->name), template_type_name(parameter->type),
                             parameter->array ? "[]" : "");
        separator = ", ";
    }
    return arena_printf(arena, "%.*s)", TEXT_ARGS(words));
}

static bool read_template(struct reader *reader, const struct entry *entry, struct template *template)
{
    struct draft draft = {.template.max_rows = LIMIT_NONE};
    draft.template.name = arena_text(reader->arena, entry->key.text);
    bool fine =
        template_name_is_fine(reader, &entry->key) && can_be_executed(reader, &entry->key);
    bool is_read = fields_read(reader, &entry->value, "a template", template_fields,
                               ARRAY_SIZE(template_fields), &draft);
    if (is_read && read_sql(reader, &draft))
        draft.template.rule_text = in_words(reader->arena, &draft.template);
    *template = draft.template;
    return fine && template->rule_text.size > 0;
}

bool field_templates(struct reader *reader, const struct field *field, const struct node *node,
                     void *target)
{
    struct templates_section *section = target;
    bool fine = true;
    if (!node_must_be(reader, node, NODE_MAP, field->expected))
        return false;
    if (node->count > LIMIT_TEMPLATES)
        return field_wrong(reader, node, "fewer templates");
    section->templates = arena_array(reader->arena, node->count, sizeof *section->templates);
    section->places = arena_array(reader->scratch, node->count, sizeof *section->places);
    section->count = node->count;
    for (size_t i = 0; i < node->count; i++) {
        section->places[i] = node->entries[i].key.place;
        fine = read_template(reader, &node->entries[i], &section->templates[i]) && fine;
    }
    return fine;
}
