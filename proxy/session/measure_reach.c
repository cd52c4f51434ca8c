/*
 * measure_reach.c - see measure_reach.h.
 *
 * Level by level, so that each table is found by its shortest way. A table is followed once for each
 * verb, so circles of foreign keys end.
 */
#include "proxy/session/measure_reach.h"

#include "proxy/base/attributes.h"

struct step {
    const struct relation *table; /* whose rows are written */
    enum verb verb;
    int depth;
};

struct search {
    struct arena *arena;
    const struct catalog *catalog;
    struct reach *reach;
    struct reached *tables;
    struct step *steps;
    size_t step_count, step_capacity;
};

const struct reached *reach_find(const struct reach *reach, uint32_t oid)
{
    for (size_t i = 0; i < reach->count; i++)
        if (reach->tables[i].oid == oid)
            return &reach->tables[i];
    return NULL;
}

static void add(struct search *search, const struct reached *reached)
{
    if (reach_find(search->reach, reached->oid) != NULL)
        return;
    struct reached *place =
        arena_push(search->arena, (void **)&search->tables, &search->reach->count,
                   &search->reach->capacity, sizeof *place);
    *place = *reached;
    search->reach->tables = search->tables;
}

/* With its partitions, which count for it, and its inheritance children, which count for themselves. */
static void add_family(struct search *search, struct reached reached, const struct relation *table)
{
    size_t count = 0;
    reached.oid = table->oid;
    reached.shown = table;
    add(search, &reached);
    const struct relation *const *children =
        table->has_children ? catalog_children(search->catalog, search->arena, table, &count)
                            : NULL;
    for (size_t i = 0; i < count; i++) {
        reached.oid = children[i]->oid;
        reached.shown = children[i]->is_partition ? table : children[i];
        add(search, &reached);
    }
}

static void follow(struct search *search, const struct relation *table, enum verb verb, int depth)
{
    for (size_t i = 0; i < search->step_count; i++)
        if (search->steps[i].table == table && search->steps[i].verb == verb)
            return;
    struct step *step = arena_push(search->arena, (void **)&search->steps, &search->step_count,
                                   &search->step_capacity, sizeof *step);
    *step = (struct step){table, verb, depth};
}

static const char *action_name(char letter)
{
    switch (letter) {
    case 'c':
        return "cascade";
    case 'n':
        return "set null";
    case 'd':
        return "set default";
    default:
        return NULL;
    }
}

static void through_key(struct search *search, const struct step *step, const struct foreign_key *key)
{
    char letter = step->verb == VERB_DELETE ? key->on_delete : key->on_update;
    const struct relation *child = catalog_relation_by_oid(search->catalog, key->child);
    const char *action = action_name(letter);
    if (action == NULL || child == NULL)
        return;
    const struct reached reached = {.key = key,
                                    .action = action,
                                    .parent = step->table,
                                    .depth = step->depth + 1};
    add_family(search, reached, child);
    bool deletes = step->verb == VERB_DELETE && letter == 'c';
    follow(search, child, deletes ? VERB_DELETE : VERB_UPDATE, step->depth + 1);
}

static void take_step(struct search *search, size_t index)
{
    const struct step step = search->steps[index];
    for (size_t i = 0; i < step.table->referenced_by_count; i++)
        through_key(search, &step, &step.table->referenced_by[i]);
    size_t count = 0;
    const struct relation *const *children =
        step.table->has_children
            ? catalog_children(search->catalog, search->arena, step.table, &count)
            : NULL;
    for (size_t i = 0; i < count; i++)
        follow(search, children[i], step.verb, step.depth);
}

static bool is_write(const struct action *action)
{
    return (action->verb == VERB_INSERT || action->verb == VERB_UPDATE ||
            action->verb == VERB_DELETE) &&
           action->relation != NULL;
}

static void start(struct search *search, const struct action *action)
{
    const struct relation *table = action->relation;
    bool plain = table->kind == 'r' || table->kind == 'p';
    search->reach->only_updates = search->reach->only_updates && action->verb == VERB_UPDATE;
    search->reach->counted = search->reach->counted && plain && !table->has_rules;
    if (plain)
        add_family(search, (struct reached){0}, table);
    if (action->verb != VERB_INSERT)
        follow(search, table, action->verb, 0);
}

void reach_find_all(struct arena *arena, const struct shape *shape, const struct catalog *catalog,
                    struct reach *reach)
{
    struct search search = {.arena = arena, .catalog = catalog, .reach = reach};
    *reach = (struct reach){.only_updates = true, .counted = true};
    for (size_t i = 0; i < shape->action_count; i++)
        if (is_write(&shape->actions[i]))
            start(&search, &shape->actions[i]);
    for (size_t i = 0; i < search.step_count; i++)
        take_step(&search, i);
}
