/*
 * reach.c - see reach.h.
 *
 * Level by level, so that each table is found by its shortest way. A table is followed once for each
 * verb (and, where the columns matter, for each key), so circles of foreign keys end.
 */
#include "rules/reach.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"

struct step {
    const struct relation *table; /* whose rows are written */
    enum verb verb;
    int depth;
    const struct action *action;   /* what the statement does, … */
    const struct foreign_key *key; /* … or the foreign key that does it */
};

struct search {
    struct arena *arena;
    const struct catalog *catalog;
    enum reach_through through;
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

static bool is_full(struct search *search, size_t count)
{
    if (search->through == REACH_ANY_KEY || count < LIMIT_COUNTED_TABLES)
        return false;
    search->reach->incomplete = true;
    return true;
}

static void add(struct search *search, const struct reached *reached)
{
    for (size_t i = 0; i < search->reach->count; i++)
        if (search->tables[i].oid == reached->oid) {
            search->tables[i].carried = search->tables[i].carried || reached->carried;
            return;
        }
    if (is_full(search, search->reach->count))
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

static void follow(struct search *search, const struct step *next)
{
    bool any_key = search->through == REACH_ANY_KEY;
    for (size_t i = 0; i < search->step_count; i++) {
        const struct step *step = &search->steps[i];
        if (step->table == next->table && step->verb == next->verb &&
            (any_key || (step->action == next->action && step->key == next->key)))
            return;
    }
    if (is_full(search, search->step_count))
        return;
    struct step *step = arena_push(search->arena, (void **)&search->steps, &search->step_count,
                                   &search->step_capacity, sizeof *step);
    *step = *next;
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

/* By name, since children have the columns of their parents under other numbers. */
static bool sets_column(const struct search *search, const struct step *step, struct text name)
{
    for (size_t i = 0; step->action != NULL && i < step->action->column_count; i++)
        if (text_equal(step->action->columns[i], name))
            return true;
    if (step->action != NULL)
        return step->action->columns_unknown;
    const struct relation *child = catalog_relation_by_oid(search->catalog, step->key->child);
    for (size_t i = 0; i < step->key->column_count; i++) {
        const struct column *column =
            child != NULL ? relation_column_by_number(child, step->key->child_columns[i]) : NULL;
        if (column == NULL || text_equal(column->name, name))
            return true;
    }
    return false;
}

static bool changes_key(const struct search *search, const struct step *step,
                        const struct foreign_key *key)
{
    if (step->verb == VERB_DELETE || search->through == REACH_ANY_KEY)
        return true;
    for (size_t i = 0; i < key->column_count; i++) {
        const struct column *column = relation_column_by_number(step->table, key->parent_columns[i]);
        if (column == NULL || sets_column(search, step, column->name))
            return true;
    }
    return false;
}

static void through_key(struct search *search, const struct step *step, const struct foreign_key *key)
{
    char letter = step->verb == VERB_DELETE ? key->on_delete : key->on_update;
    const char *action = action_name(letter);
    if (action == NULL || !changes_key(search, step, key))
        return;
    const struct relation *child = catalog_relation_by_oid(search->catalog, key->child);
    if (child == NULL) {
        search->reach->incomplete = true;
        return;
    }
    const struct reached reached = {.key = key,
                                    .carried = true,
                                    .action = action,
                                    .parent = step->table,
                                    .depth = step->depth + 1};
    add_family(search, reached, child);
    bool deletes = step->verb == VERB_DELETE && letter == 'c';
    follow(search, &(struct step){.table = child,
                                  .verb = deletes ? VERB_DELETE : VERB_UPDATE,
                                  .depth = step->depth + 1,
                                  .key = key});
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
    for (size_t i = 0; i < count; i++) {
        struct step below = step;
        below.table = children[i];
        follow(search, &below);
    }
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
        follow(search,
               &(struct step){.table = table, .verb = action->verb, .action = action});
}

void reach_find_all(struct arena *arena, const struct shape *shape, const struct catalog *catalog,
                    enum reach_through through, struct reach *reach)
{
    struct search search = {
        .arena = arena, .catalog = catalog, .through = through, .reach = reach};
    *reach = (struct reach){.only_updates = true, .counted = true};
    for (size_t i = 0; i < shape->action_count; i++)
        if (is_write(&shape->actions[i]))
            start(&search, &shape->actions[i]);
    for (size_t i = 0; i < search.step_count; i++)
        take_step(&search, i);
}
