/*
 * columns.c - which closed column an action touches.
 *
 * An action whose columns are not known touches every one that its relation may have. A partition's or
 * child's rows are the parent's, so the names of all of them count.
 */
#include "rules/conditions.h"

/* The relation's own name, then those of its parents and children, at every level. */
struct family {
    struct object *names;
    size_t count, capacity;
};

static void add_name(const struct matching *matching, struct family *family, struct text schema,
                     struct text name)
{
    struct object *added = arena_push(matching->arena, (void **)&family->names, &family->count,
                                      &family->capacity, sizeof *added);
    *added = (struct object){OBJECT_NAME, schema, name};
}

enum { ANCESTORS_MAX = 32 };

static void add_parents(const struct matching *matching, struct family *family,
                        const struct relation *relation, int depth)
{
    for (size_t i = 0; i < relation->parent_count && depth < ANCESTORS_MAX; i++) {
        const struct relation *parent =
            catalog_relation_by_oid(matching->context->catalog, relation->parents[i]);
        if (parent != NULL) {
            add_name(matching, family, parent->schema, parent->name);
            add_parents(matching, family, parent, depth + 1);
        }
    }
}

static void add_children(const struct matching *matching, struct family *family,
                         const struct relation *relation)
{
    size_t count;
    const struct relation *const *children =
        catalog_children(matching->context->catalog, matching->arena, relation, &count);
    for (size_t i = 0; i < count; i++)
        add_name(matching, family, children[i]->schema, children[i]->name);
}

static struct family family_of(const struct matching *matching, const struct action *action)
{
    const struct relation *relation = action->relation;
    struct family family = {0};
    add_name(matching, &family, action->object.schema, action->object.name);
    if (relation != NULL && matching->context->catalog != NULL) {
        add_parents(matching, &family, relation, 0);
        if (relation->has_children)
            add_children(matching, &family, relation);
    }
    return family;
}

static bool closed(const struct family *family, const struct object_pattern *pattern,
                   struct text column)
{
    for (size_t i = 0; i < family->count; i++)
        if (column_pattern_matches(pattern, family->names[i].schema, family->names[i].name, column))
            return true;
    return false;
}

/* Could the pattern mean a column of one of these relations? */
static bool covers_family(const struct family *family, const struct object_pattern *pattern)
{
    struct object_pattern relation = *pattern;
    relation.part_count = 2;
    for (size_t i = 0; i < family->count; i++)
        if (object_pattern_matches(&relation, &family->names[i]))
            return true;
    return false;
}

static bool may_have(const struct action *action, const struct family *family,
                            const struct object_pattern *pattern, struct text *column)
{
    if (action->relation == NULL) {
        *column = pattern->part_count == 3 ? pattern->parts[2].text : TEXT("");
        return covers_family(family, pattern);
    }
    for (size_t i = 0; i < action->relation->column_count; i++)
        if (closed(family, pattern, action->relation->columns[i].name)) {
            *column = action->relation->columns[i].name;
            return true;
        }
    return false;
}

static bool touches(const struct action *action, const struct family *family,
                    const struct object_pattern *pattern, struct text *column)
{
    for (size_t i = 0; i < action->column_count; i++)
        if (closed(family, pattern, action->columns[i])) {
            *column = action->columns[i];
            return true;
        }
    return action->columns_unknown && may_have(action, family, pattern, column);
}

bool action_touches_column(const struct matching *matching, const struct action *action,
                           const struct object_pattern *patterns, size_t count, struct text *column)
{
    if (count == 0 || action->object.kind != OBJECT_NAME ||
        (action->column_count == 0 && !action->columns_unknown))
        return false;
    struct family family = family_of(matching, action);
    for (size_t i = 0; i < count; i++)
        if (touches(action, &family, &patterns[i], column))
            return true;
    return false;
}

bool action_may_move_column(const struct matching *matching, const struct action *action,
                            const struct object_pattern *patterns, size_t count,
                            struct text *column)
{
    if (count == 0 || action->verb != VERB_ALTER || action->cascade)
        return false;
    for (size_t i = 0; action->object.kind == OBJECT_SCHEMA && i < count; i++) {
        const struct object_pattern schema = {
            .kind = OBJECT_SCHEMA, .parts = {patterns[i].parts[0]}, .part_count = 1};
        *column = patterns[i].source;
        if (object_pattern_matches(&schema, &action->object))
            return true;
    }
    struct family family = family_of(matching, action);
    for (size_t i = 0; action->object.kind == OBJECT_NAME && i < count; i++)
        if (may_have(action, &family, &patterns[i], column))
            return true;
    return false;
}
