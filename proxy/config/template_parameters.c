/*
 * template_parameters.c - the parameters of a template: types, and the keywords of JSON Schema.
 *
 * A keyword is read where its type has it, and only with values that the type can have; a parameter for
 * which no value is left is an error.
 */
#include "proxy/config/templates.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "rules/template_value.h"

#define TYPE(type) (1u << (type))

enum {
    NUMBERS = TYPE(TEMPLATE_INTEGER) | TYPE(TEMPLATE_NUMBER) | TYPE(TEMPLATE_NUMERIC),
    STRINGS = TYPE(TEMPLATE_STRING),
    CHOICES = NUMBERS | STRINGS | TYPE(TEMPLATE_DATE) | TYPE(TEMPLATE_TIMESTAMP) |
              TYPE(TEMPLATE_TIMESTAMPTZ) | TYPE(TEMPLATE_UUID),
};

/* One parameter, or the items of one, while it is read. */
struct draft {
    struct template_parameter parameter;
    int type;
    const struct node *choices;
    const struct node *pattern;
    const struct node *items;
};

/* In the order of enum template_type, behind array. */
static const char *const type_choices[] = {"array",   "integer", "number",    "numeric",
                                           "string",  "boolean", "date",      "timestamp",
                                           "timestamptz", "uuid", "json",     NULL};

static bool keep_node(struct reader *reader, const struct field *field, const struct node *node,
                      void *target)
{
    const struct node **kept = target;
    (void)reader;
    (void)field;
    *kept = node;
    return true;
}

static bool field_decimal(struct reader *reader, const struct field *field, const struct node *node,
                          void *target)
{
    struct text *written = target;
    struct decimal decimal;
    (void)field;
    if (node->kind != NODE_SCALAR || !node->is_plain ||
        !decimal_parse(reader->scratch, node->text, &decimal) || !decimal_fits_numeric(&decimal))
        return field_wrong(reader, node, "a number as JSON writes it");
    *written = arena_text(reader->arena, node->text);
    return true;
}

#define DECIMAL(key, member)                                                                       \
    {key, field_decimal, OPTIONAL, offsetof(struct draft, parameter.member), NULL, NULL, 0, 0}
#define LENGTH(key, member)                                                                        \
    {key, field_integer, OPTIONAL, offsetof(struct draft, parameter.member), NULL, NULL, 0, 0}

#define ITEMS(key, member)                                                                         \
    {key, field_integer, OPTIONAL, offsetof(struct draft, parameter.member), NULL, NULL, 0,        \
     LIMIT_TEMPLATE_ITEMS}

/* What a value and the items of an array have in common. */
#define VALUE_FIELDS                                                                               \
    {"type", field_choice, REQUIRED, offsetof(struct draft, type), NULL, type_choices, 0, 0},      \
        DECIMAL("minimum", minimum), DECIMAL("maximum", maximum),                                  \
        DECIMAL("exclusiveMinimum", exclusive_minimum),                                            \
        DECIMAL("exclusiveMaximum", exclusive_maximum), DECIMAL("multipleOf", multiple_of),        \
        LENGTH("minLength", min_length), LENGTH("maxLength", max_length),                          \
        {"enum", keep_node, OPTIONAL, offsetof(struct draft, choices), NULL, NULL, 0, 0},          \
        {"pattern", keep_node, OPTIONAL, offsetof(struct draft, pattern), NULL, NULL, 0, 0}

static const struct field item_fields[] = {VALUE_FIELDS};

static const struct field parameter_fields[] = {
    VALUE_FIELDS,
    {"name", field_text, REQUIRED, offsetof(struct draft, parameter.name), "a name", NULL, 0, 0},
    {"description", field_text, OPTIONAL, offsetof(struct draft, parameter.description), NULL, NULL,
     0, 0},
    {"nullable", field_flag, OPTIONAL, offsetof(struct draft, parameter.nullable), NULL, NULL, 0, 0},
    {"from", field_text, OPTIONAL, offsetof(struct draft, parameter.attribute),
     "the name of an attribute of agents", NULL, 0, 0},
    {"items", keep_node, OPTIONAL, offsetof(struct draft, items), NULL, NULL, 0, 0},
    ITEMS("minItems", min_items),
    ITEMS("maxItems", max_items),
};

/* --- keywords against the type -------------------------------------------------------------------- */

static const struct {
    const char *keyword;
    unsigned types;
    const char *of;
} keyword_types[] = {
    {"minimum", NUMBERS, "integer, number and numeric"},
    {"maximum", NUMBERS, "integer, number and numeric"},
    {"exclusiveMinimum", NUMBERS, "integer, number and numeric"},
    {"exclusiveMaximum", NUMBERS, "integer, number and numeric"},
    {"multipleOf", NUMBERS, "integer, number and numeric"},
    {"enum", CHOICES, "numbers, strings, dates, times and uuid"},
    {"pattern", STRINGS, "string"},
    {"minLength", STRINGS, "string"},
    {"maxLength", STRINGS, "string"},
    {"items", 0, "array"},
    {"minItems", 0, "array"},
    {"maxItems", 0, "array"},
};

/* `of_array`: the keywords stand beside `type: array`, whose own have no types in the table. */
static bool check_keywords(struct reader *reader, const struct node *node, enum template_type type,
                           bool of_array)
{
    bool fine = true;
    for (size_t i = 0; i < node->count; i++)
        for (size_t j = 0; j < ARRAY_SIZE(keyword_types); j++) {
            const struct node *key = &node->entries[i].key;
            unsigned types = keyword_types[j].types;
            if (!text_is(key->text, keyword_types[j].keyword) ||
                (of_array ? types == 0 : (types & TYPE(type)) != 0))
                continue;
            problem_error(reader->problems, key->place,
                          "%s is for %s, not for %s%s", keyword_types[j].keyword,
                          keyword_types[j].of, of_array ? "array" : template_type_name(type),
                          of_array ? ": write it under items" : "");
            fine = false;
        }
    return fine;
}

static const struct node *value_of(const struct node *map, const char *key)
{
    const struct node *value = node_find(map, key);
    return value != NULL ? value : map;
}

static bool no_value(struct reader *reader, const struct node *node, const char *low, const char *high)
{
    problem_error(reader->problems, value_of(node, low)->place,
                  "no value can be allowed: %s and %s exclude each other", low, high);
    return false;
}

static int compare(struct reader *reader, struct text a, struct text b)
{
    struct decimal x, y;
    bool understood =
        decimal_parse(reader->scratch, a, &x) && decimal_parse(reader->scratch, b, &y);
    INVARIANT(understood);
    return decimal_compare(&x, &y);
}

static bool check_bounds(struct reader *reader, const struct node *node,
                         const struct template_parameter *p)
{
    const struct {
        const char *low_key, *high_key;
        struct text low, high;
        bool both_inclusive;
    } pairs[] = {
        {"minimum", "maximum", p->minimum, p->maximum, true},
        {"minimum", "exclusiveMaximum", p->minimum, p->exclusive_maximum, false},
        {"exclusiveMinimum", "maximum", p->exclusive_minimum, p->maximum, false},
        {"exclusiveMinimum", "exclusiveMaximum", p->exclusive_minimum, p->exclusive_maximum, false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
        if (pairs[i].low.size == 0 || pairs[i].high.size == 0)
            continue;
        int order = compare(reader, pairs[i].low, pairs[i].high);
        if (pairs[i].both_inclusive ? order > 0 : order >= 0)
            return no_value(reader, node, pairs[i].low_key, pairs[i].high_key);
    }
    if (p->max_length >= 0 && p->min_length > p->max_length)
        return no_value(reader, node, "minLength", "maxLength");
    if (p->max_items >= 0 && p->min_items > p->max_items)
        return no_value(reader, node, "minItems", "maxItems");
    return true;
}

static bool check_multiple(struct reader *reader, const struct node *node,
                           const struct template_parameter *p)
{
    struct decimal of;
    if (p->multiple_of.size == 0)
        return true;
    if (decimal_parse(reader->scratch, p->multiple_of, &of) && !of.negative && of.digits.size > 0 &&
        of.digits.size <= MULTIPLE_DIGITS_MAX)
        return true;
    problem_error(reader->problems, value_of(node, "multipleOf")->place,
                  "multipleOf is greater than 0 and has at most %d digits", MULTIPLE_DIGITS_MAX);
    return false;
}

/* A pattern looks at every character, so a text must have an end. */
static bool read_pattern(struct reader *reader, const struct node *node, struct draft *draft)
{
    static const struct field text = {.expected = "a regular expression"};
    struct template_parameter *p = &draft->parameter;
    struct text problem;
    if (draft->pattern == NULL)
        return true;
    if (!field_text(reader, &text, draft->pattern, &p->pattern))
        return false;
    if (p->max_length < 0 || p->max_length > LIMIT_TEMPLATE_PATTERN_LENGTH) {
        problem_error(reader->problems, value_of(node, "maxLength")->place,
                      "a pattern needs maxLength, at most %d", LIMIT_TEMPLATE_PATTERN_LENGTH);
        return false;
    }
    p->compiled = template_pattern_compile(reader->arena, p->pattern, &problem);
    if (p->compiled == NULL)
        problem_error(reader->problems, draft->pattern->place, "the pattern is not understood: %.*s",
                      TEXT_ARGS(problem));
    return p->compiled != NULL;
}

static bool read_choice(struct reader *reader, const struct node *node,
                        const struct template_parameter *parameter, struct text *choice)
{
    struct text problem;
    struct template_parameter one = *parameter;
    one.array = one.nullable = false;
    one.choice_count = 0;
    bool is_number = (TYPE(one.type) & NUMBERS) != 0;
    const struct template_value value = {.form = VALUE_TEXT, .bytes = node->text};
    if (node->kind != NODE_SCALAR || node_is_null(node) || (is_number && !node->is_plain))
        return field_wrong(reader, node, "a value of the parameter's type");
    if (template_check(reader->arena, &one, &value, choice, &problem))
        return true;
    problem_error(reader->problems, node->place, "a choice %.*s", TEXT_ARGS(problem));
    return false;
}

static bool read_choices(struct reader *reader, struct draft *draft)
{
    struct template_parameter *p = &draft->parameter;
    const struct node *list = draft->choices;
    bool fine = true;
    if (list == NULL)
        return true;
    if (!node_must_be(reader, list, NODE_LIST, "a list: [damaged, late]"))
        return false;
    if (list->count == 0 || list->count > LIMIT_TEMPLATE_CHOICES)
        return field_wrong(reader, list, "a list of 1 to 1000 values");
    struct text *choices = arena_array(reader->arena, list->count, sizeof *choices);
    for (size_t i = 0; i < list->count; i++)
        fine = read_choice(reader, &list->items[i], p, &choices[i]) && fine;
    p->choices = choices;
    p->choice_count = fine ? list->count : 0;
    return fine;
}

/* What depends on the type, once it is known. */
static bool finish_value(struct reader *reader, const struct node *node, struct draft *draft)
{
    struct template_parameter *p = &draft->parameter;
    p->type = (enum template_type)draft->type;
    return check_keywords(reader, node, p->type, false) && check_bounds(reader, node, p) &&
           check_multiple(reader, node, p) && read_pattern(reader, node, draft) &&
           read_choices(reader, draft);
}

static struct draft new_draft(void)
{
    return (struct draft){
        .parameter = {.min_length = -1, .max_length = -1, .min_items = -1, .max_items = -1}};
}

/* What has to be looked at is then the text of all items. */
static bool check_pattern_of_items(struct reader *reader, const struct node *node,
                                   const struct template_parameter *array,
                                   const struct template_parameter *items)
{
    if (items->compiled == NULL ||
        (array->max_items >= 0 &&
         array->max_items * items->max_length <= LIMIT_TEMPLATE_PATTERN_LENGTH))
        return true;
    problem_error(reader->problems, value_of(node, "maxItems")->place,
                  "a pattern of items needs maxItems, at most %d characters together",
                  LIMIT_TEMPLATE_PATTERN_LENGTH);
    return false;
}

/* The items' type and keywords are the array's. */
static bool finish_array(struct reader *reader, const struct node *node, struct draft *draft)
{
    struct draft items = new_draft();
    struct template_parameter array = draft->parameter;
    array.type = TEMPLATE_STRING; /* of nothing yet */
    if (!check_keywords(reader, node, TEMPLATE_NONE, true) || !check_bounds(reader, node, &array))
        return false;
    if (draft->items == NULL) {
        problem_error(reader->problems, node->place, "an array needs items: {type: integer}");
        return false;
    }
    if (!fields_read(reader, draft->items, "items", item_fields, ARRAY_SIZE(item_fields), &items))
        return false;
    if (items.type == TEMPLATE_NONE) {
        problem_error(reader->problems, value_of(draft->items, "type")->place,
                      "an array has one dimension: its items cannot be arrays");
        return false;
    }
    if (!finish_value(reader, draft->items, &items) ||
        !check_pattern_of_items(reader, node, &array, &items.parameter))
        return false;
    draft->parameter = items.parameter;
    draft->parameter.array = true;
    draft->parameter.name = array.name;
    draft->parameter.description = array.description;
    draft->parameter.nullable = array.nullable;
    draft->parameter.attribute = array.attribute;
    draft->parameter.min_items = array.min_items;
    draft->parameter.max_items = array.max_items;
    return true;
}

static bool read_parameter(struct reader *reader, const struct node *node,
                           struct template_parameter *parameter)
{
    struct draft draft = new_draft();
    bool fine = fields_read(reader, node, "a parameter", parameter_fields,
                            ARRAY_SIZE(parameter_fields), &draft);
    if (draft.parameter.name.size > 0)
        fine = template_name_is_fine(reader, node_find(node, "name")) && fine;
    if (fine)
        fine = draft.type == TEMPLATE_NONE ? finish_array(reader, node, &draft)
                                           : finish_value(reader, node, &draft);
    *parameter = draft.parameter;
    return fine;
}

bool field_parameters(struct reader *reader, const struct field *field, const struct node *node,
                      void *target)
{
    struct template *template = target;
    bool fine = true;
    (void)field;
    if (!node_must_be(reader, node, NODE_LIST, "a list of parameters, in the order of $1, $2"))
        return false;
    if (node->count > LIMIT_TEMPLATE_PARAMETERS)
        return field_wrong(reader, node, "fewer parameters");
    struct template_parameter *parameters =
        arena_array(reader->arena, node->count, sizeof *parameters);
    for (size_t i = 0; i < node->count; i++) {
        fine = read_parameter(reader, &node->items[i], &parameters[i]) && fine;
        for (size_t j = 0; j < i; j++)
            if (text_equal(parameters[i].name, parameters[j].name) && parameters[i].name.size > 0) {
                problem_error(reader->problems, node->items[i].place,
                              "another parameter has the name \"%.*s\"",
                              TEXT_ARGS(parameters[i].name));
                fine = false;
            }
    }
    template->parameters = parameters;
    template->parameter_count = node->count;
    return fine;
}
