/* template_schema.c - a template's arguments as JSON Schema, as tools of language models are described. */
#include "rules/template.h"

#include "proxy/base/invariant.h"
#include "proxy/base/json_out.h"
#include "proxy/base/limits.h"

static const struct {
    const char *type, *format, *pattern;
} json_types[TEMPLATE_TYPE_COUNT] = {
    [TEMPLATE_INTEGER] = {"integer", NULL, NULL},
    [TEMPLATE_NUMBER] = {"number", NULL, NULL},
    [TEMPLATE_NUMERIC] = {"number", NULL, NULL},
    [TEMPLATE_STRING] = {"string", NULL, NULL},
    [TEMPLATE_BOOLEAN] = {"boolean", NULL, NULL},
    [TEMPLATE_DATE] = {"string", "date", NULL},
    /* JSON Schema has no format for a time without an offset. */
    [TEMPLATE_TIMESTAMP] = {"string", NULL,
                            "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})?$"},
    [TEMPLATE_TIMESTAMPTZ] = {"string", "date-time", NULL},
    [TEMPLATE_UUID] = {"string", "uuid", NULL},
    [TEMPLATE_JSON] = {NULL, NULL, NULL},
};

static bool is_number(enum template_type type)
{
    return type == TEMPLATE_INTEGER || type == TEMPLATE_NUMBER || type == TEMPLATE_NUMERIC ||
           type == TEMPLATE_BOOLEAN;
}

static void write_type(struct json_out *json, const char *type, bool nullable)
{
    static const char *const any[] = {"object", "array", "string", "number", "boolean"};
    json_key(json, "type");
    if (type != NULL && !nullable) {
        json_string(json, type);
        return;
    }
    json_open(json, '[');
    for (size_t i = 0; type == NULL && i < ARRAY_SIZE(any); i++)
        json_string(json, any[i]);
    if (type != NULL)
        json_string(json, type);
    if (nullable)
        json_string(json, "null");
    json_close(json, ']');
}

static void write_decimal(struct json_out *json, const char *key, struct text decimal)
{
    if (decimal.size == 0)
        return;
    json_key(json, key);
    json_decimal(json, decimal);
}

static void write_limit(struct json_out *json, const char *key, int64_t limit)
{
    if (limit >= 0)
        json_key_int(json, key, limit);
}

/* A null that is allowed must be among the choices, too. */
static void write_choices(struct json_out *json, const struct template_parameter *parameter,
                          bool nullable)
{
    if (parameter->choice_count == 0)
        return;
    json_key_open(json, "enum", '[');
    for (size_t i = 0; i < parameter->choice_count; i++)
        if (is_number(parameter->type))
            json_decimal(json, parameter->choices[i]);
        else
            json_text(json, parameter->choices[i]);
    if (nullable)
        json_null(json);
    json_close(json, ']');
}

static void write_pattern(struct json_out *json, const struct template_parameter *parameter)
{
    struct buffer pattern;
    if (parameter->pattern.size == 0)
        return;
    buffer_init(&pattern, LIMIT_TEMPLATE_PATTERN_BYTES + 8);
    buffer_append_string(&pattern, "^(?:");
    buffer_append_text(&pattern, parameter->pattern);
    buffer_append_string(&pattern, ")$");
    json_key_text(json, "pattern", buffer_text(&pattern));
    buffer_release(&pattern);
}

/* Of the value itself, or of an array's items. */
static void write_scalar(struct json_out *json, const struct template_parameter *parameter,
                         bool nullable)
{
    write_type(json, json_types[parameter->type].type, nullable);
    if (json_types[parameter->type].format != NULL)
        json_key_string(json, "format", json_types[parameter->type].format);
    if (json_types[parameter->type].pattern != NULL)
        json_key_string(json, "pattern", json_types[parameter->type].pattern);
    write_decimal(json, "minimum", parameter->minimum);
    write_decimal(json, "maximum", parameter->maximum);
    write_decimal(json, "exclusiveMinimum", parameter->exclusive_minimum);
    write_decimal(json, "exclusiveMaximum", parameter->exclusive_maximum);
    write_decimal(json, "multipleOf", parameter->multiple_of);
    write_limit(json, "minLength", parameter->min_length);
    write_limit(json, "maxLength", parameter->max_length);
    write_pattern(json, parameter);
    write_choices(json, parameter, nullable);
}

static void write_array(struct json_out *json, const struct template_parameter *parameter)
{
    write_type(json, "array", parameter->nullable);
    json_key_open(json, "items", '{');
    write_scalar(json, parameter, false);
    json_close(json, '}');
    write_limit(json, "minItems", parameter->min_items);
    write_limit(json, "maxItems", parameter->max_items);
}

static void write_parameter(struct json_out *json, struct arena *arena,
                            const struct template_parameter *parameter)
{
    json_key_open(json, arena_text(arena, parameter->name).bytes, '{');
    if (parameter->description.size > 0)
        json_key_text(json, "description", parameter->description);
    if (parameter->array)
        write_array(json, parameter);
    else
        write_scalar(json, parameter, parameter->nullable);
    json_close(json, '}');
}

/* Arguments are positional, so each of them is required, one that may be null too. */
static void write_required(struct json_out *json, const struct template *template)
{
    json_key_open(json, "required", '[');
    for (size_t i = 0; i < template->parameter_count; i++)
        if (template->parameters[i].attribute.size == 0)
            json_text(json, template->parameters[i].name);
    json_close(json, ']');
}

struct text template_json_schema(struct arena *arena, const struct template *template)
{
    struct buffer buffer;
    buffer_init(&buffer, LIMIT_TEMPLATE_SCHEMA_BYTES);
    struct json_out json = json_out_to(&buffer);
    json_open(&json, '{');
    json_key_string(&json, "type", "object");
    json_key_open(&json, "properties", '{');
    for (size_t i = 0; i < template->parameter_count; i++)
        if (template->parameters[i].attribute.size == 0)
            write_parameter(&json, arena, &template->parameters[i]);
    json_close(&json, '}');
    write_required(&json, template);
    json_key_bool(&json, "additionalProperties", false);
    json_close(&json, '}');
    INVARIANT(!buffer.overflow);
    struct text schema = arena_text(arena, buffer_text(&buffer));
    buffer_release(&buffer);
    return schema;
}
