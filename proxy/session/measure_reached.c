/*
 * measure_reached.c - what CASCADE reached, as actions of the statement: an effect names it, the text did not.
 *
 * Names are those that the server gave, quoted by it. One that cannot be read is no object's, and only rules
 * on everything name it.
 */
#include "proxy/session/measure.h"

#include "rules/policy.h"

/* Up to the first byte that is not quoted; all if there is none. */
static struct text up_to(struct text text, char byte)
{
    bool quoted = false;
    for (size_t i = 0; i < text.size; i++) {
        quoted = text.bytes[i] == '"' ? !quoted : quoted;
        if (text.bytes[i] == byte && !quoted)
            return text_front(text, i);
    }
    return text;
}

/* "child_parent_fkey on shop.child", "for shop.child.id" */
static struct text behind_word(struct text name, const char *word)
{
    struct text rest = name;
    for (struct text part; rest.size > 0; rest = text_behind(rest, part.size + 1)) {
        part = up_to(rest, ' ');
        if (part.size == rest.size)
            return name;
        if (text_is(part, word))
            return text_behind(rest, part.size + 1);
    }
    return name;
}

/* Of "shop.child.id", the table. */
static struct text table_part(struct text name)
{
    struct text schema = up_to(name, '.');
    if (schema.size == name.size)
        return name;
    struct text table = up_to(text_behind(name, schema.size + 1), '.');
    return text_front(name, schema.size + 1 + table.size);
}

static bool is_any_of(struct text kind, const char *const *kinds)
{
    for (; *kinds != NULL; kinds++)
        if (text_is(kind, *kinds))
            return true;
    return false;
}

static const char *const parts_of_tables[] = {"table constraint", "trigger", "rule", "policy", NULL};
static const char *const with_arguments[] = {"function", "procedure", "aggregate", NULL};
static const char *const outside_schemas[] = {"schema",      "extension",    "language",
                                              "publication", "subscription", "server", NULL};

static struct object read_name(struct arena *arena, struct text name)
{
    struct object_pattern pattern;
    const char *problem;
    if (!object_pattern_parse(arena, name, false, &pattern, &problem) || pattern.any)
        return (struct object){0};
    for (size_t i = 0; i < pattern.part_count; i++)
        if (pattern.parts[i].prefix)
            return (struct object){0};
    if (pattern.part_count == 2)
        return (struct object){pattern.kind, pattern.parts[0].text, pattern.parts[1].text};
    return pattern.kind == OBJECT_TEMPLATE ? (struct object){0}
                                           : (struct object){pattern.kind, TEXT(""), pattern.parts[0].text};
}

static struct action action_of(struct arena *arena, const struct effect_object *object)
{
    bool dropped = text_is(object->change, "dropped");
    struct action action = {.verb = dropped ? VERB_DROP : VERB_TRUNCATE,
                            .rows_max = ROWS_UNPROVEN,
                            .cascade = dropped,
                            .location = -1};
    struct text name = object->name;
    if (is_any_of(object->kind, parts_of_tables)) {
        action.verb = VERB_ALTER;
        name = behind_word(name, "on");
    } else if (text_is(object->kind, "default value") || text_is(object->kind, "table column")) {
        action.verb = VERB_ALTER;
        name = table_part(behind_word(name, "for"));
    } else if (is_any_of(object->kind, with_arguments)) {
        name = up_to(name, '(');
    } else if (is_any_of(object->kind, outside_schemas)) {
        name = arena_printf(arena, "%.*s:%.*s", TEXT_ARGS(object->kind), TEXT_ARGS(name));
    }
    action.object = read_name(arena, name);
    return action;
}

const struct shape *measure_reached(struct arena *arena, const struct shape *shape,
                                    const struct effect *effect)
{
    size_t count = shape->action_count;
    struct action *actions = arena_array(arena, count + effect->object_count, sizeof *actions);
    for (size_t i = 0; i < count; i++)
        actions[i] = shape->actions[i];
    for (size_t i = 0; i < effect->object_count; i++) {
        const struct effect_object *object = &effect->objects[i];
        if (text_is(object->via, "cascade") &&
            (text_is(object->change, "dropped") || text_is(object->change, "emptied")))
            actions[count++] = action_of(arena, object);
    }
    if (count == shape->action_count)
        return shape;
    struct shape *whole = arena_allocate(arena, sizeof *whole);
    *whole = *shape;
    whole->actions = actions;
    whole->action_count = count;
    return whole;
}
