/*
 * measure_objects.c - two descriptions of the catalog → which objects a statement made, changed,
 * rewrote, emptied, dropped, and why each of them.
 *
 * Objects are told from each other by number, and those that were dropped and made again by name.
 * What cannot be read makes the effect unknown.
 */
#include "proxy/session/measure_objects.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"
#include "proxy/session/measure.h"
#include "proxy/session/measure_state.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct address {
    int64_t class, number, sub;
};

struct thing {
    struct address at;
    const json_t *item; /* [class, number, column, kind, name, {comment}, facts, state] */
};

struct dependency {
    struct address from, on;
    char type;
};

/* One description, sorted by address. */
struct description {
    json_t *root;
    struct thing *things;
    size_t thing_count;
    struct dependency *dependencies;
    size_t dependency_count;
};

struct change {
    const struct thing *old, *new; /* one of them may be NULL */
    const char *word;
    struct text detail;
    const char *via;
    struct text parent;
};

struct finder {
    struct arena *arena;
    const struct shape *shape;
    struct description before, after;
    struct change *changes;
    size_t count, capacity;
};

/* --- reading ------------------------------------------------------------------------------------
 */

static struct address address_at(const json_t *array, size_t index)
{
    return (struct address){json_integer_value(json_array_get(array, index)),
                            json_integer_value(json_array_get(array, index + 1)),
                            json_integer_value(json_array_get(array, index + 2))};
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_addresses(const struct address *a, const struct address *b)
{
    int order = compare_numbers(a->class, b->class);
    if (order == 0)
        order = compare_numbers(a->number, b->number);
    return order != 0 ? order : compare_numbers(a->sub, b->sub);
}

static int compare_things(const void *a, const void *b)
{
    const struct thing *left = a, *right = b;
    return compare_addresses(&left->at, &right->at);
}

static int compare_dependencies(const void *a, const void *b)
{
    const struct dependency *left = a, *right = b;
    return compare_addresses(&left->from, &right->from);
}

static bool describe(struct arena *arena, struct text json, struct description *out)
{
    size_t i;
    const json_t *item;
    out->root = json_loadb(json.bytes, json.size, 0, NULL);
    const json_t *objects = json_object_get(out->root, "objects");
    const json_t *depends = json_object_get(out->root, "depends");
    if (!json_is_array(objects))
        return false;
    out->things = arena_array(arena, json_array_size(objects), sizeof *out->things);
    json_array_foreach(objects, i, item) out->things[out->thing_count++] =
        (struct thing){address_at(item, 0), item};
    out->dependencies = arena_array(arena, json_array_size(depends), sizeof *out->dependencies);
    json_array_foreach(depends, i, item)
    {
        const char *type = json_string_value(json_array_get(item, 6));
        out->dependencies[out->dependency_count++] = (struct dependency){
            address_at(item, 0), address_at(item, 3), type != NULL ? type[0] : '\0'};
    }
    qsort(out->things, out->thing_count, sizeof *out->things, compare_things);
    if (out->dependency_count > 1)
        qsort(out->dependencies, out->dependency_count, sizeof *out->dependencies,
              compare_dependencies);
    return true;
}

static struct text string_at(const json_t *array, size_t index)
{
    const json_t *value = json_array_get(array, index);
    return json_is_string(value)
               ? (struct text){json_string_value(value), json_string_length(value)}
               : TEXT("");
}

static struct text kind_of(const struct thing *thing)
{
    return string_at(thing->item, 3);
}
static struct text name_of(const struct thing *thing)
{
    return string_at(thing->item, 4);
}

static const json_t *fact(const struct thing *thing, const char *key)
{
    return json_object_get(json_array_get(thing->item, 6), key);
}

static char relkind(const struct thing *thing)
{
    const char *kind = json_string_value(fact(thing, "relkind"));
    return kind != NULL ? kind[0] : '\0';
}

static bool is_table(const struct thing *thing)
{
    char kind = relkind(thing);
    return thing->at.sub == 0 && (kind == 'r' || kind == 'p' || kind == 'm');
}

/* --- what is other than before
 * -------------------------------------------------------------------- */

static const struct thing *any_of(const struct change *change)
{
    return change->old != NULL ? change->old : change->new;
}

static struct change *add(struct finder *finder, const struct thing *old, const struct thing *new)
{
    struct change *change = arena_push(finder->arena, (void **)&finder->changes, &finder->count,
                                       &finder->capacity, sizeof *change);
    *change = (struct change){.old = old, .new = new};
    return change;
}

static void compare_all(struct finder *finder)
{
    size_t i = 0, j = 0;
    const struct description *before = &finder->before, *after = &finder->after;
    while (i < before->thing_count || j < after->thing_count) {
        const struct thing *old = i < before->thing_count ? &before->things[i] : NULL;
        const struct thing *new = j < after->thing_count ? &after->things[j] : NULL;
        int order = old == NULL ? 1 : new == NULL ? -1 : compare_things(old, new);
        if (order < 0)
            add(finder, old, NULL);
        else if (order > 0)
            add(finder, NULL, new);
        else if (!json_equal(old->item, new->item))
            add(finder, old, new);
        i += order <= 0 ? 1 : 0;
        j += order >= 0 ? 1 : 0;
    }
}

/* An ALTER makes indexes and constraints anew under their old names. */
static void join_remade(struct finder *finder)
{
    for (size_t i = 0; i < finder->count; i++) {
        struct change *gone = &finder->changes[i];
        for (size_t j = 0; gone->new == NULL &&j < finder->count; j++) {
            struct change *made = &finder->changes[j];
            if (made->old == NULL &&
                made->new != NULL &&text_equal(kind_of(gone->old), kind_of(made->new)) &&
                text_equal(name_of(gone->old), name_of(made->new))) {
                gone->new = made->new;
                made->new = NULL;
            }
        }
    }
}

static bool is_rewritten(const struct change *change)
{
    return change->old != NULL && change->new !=
                                      NULL &&json_integer_value(fact(change->old, "filenode")) !=
                                      json_integer_value(fact(change->new, "filenode"));
}

/* ALTER SEQUENCE makes it anew for any reason. */
static bool is_restarted(const struct change *change)
{
    return relkind(change->new) == 'S' && is_rewritten(change) &&
           (change->detail.size == 0 ||
            !json_equal(fact(change->old, "last"), fact(change->new, "last")));
}

/* Roles are of the whole server, and no statement that is measured here makes or drops one: it was somebody
 * else, meanwhile. */
static bool is_another_sessions(const struct change *change)
{
    return (change->old == NULL || change->new == NULL) && text_is(string_at(any_of(change)->item, 3), "role");
}

static const char *word_of(const struct finder *finder, const struct change *change)
{
    if (is_another_sessions(change))
        return NULL;
    if (change->old == NULL)
        return "created";
    if (change->new == NULL)
        return "dropped";
    if (is_restarted(change))
        return "restarted";
    if (is_table(change->new) && is_rewritten(change))
        return finder->shape->ddl == DDL_TRUNCATE ? "emptied" : "rewritten";
    return change->detail.size > 0 ? "changed" : NULL;
}

static const struct change *change_of(const struct finder *finder, const struct address *at)
{
    for (size_t i = 0; i < finder->count; i++) {
        const struct change *change = &finder->changes[i];
        if ((change->old != NULL && compare_addresses(&change->old->at, at) == 0) ||
            (change->new != NULL &&compare_addresses(&change->new->at, at) == 0))
            return change;
    }
    return NULL;
}

/* Columns that come and go with their table are not told besides. */
static bool comes_with_its_table(const struct finder *finder, const struct change *change)
{
    struct address table = any_of(change)->at;
    if (table.sub == 0)
        return false;
    table.sub = 0;
    const struct change *whole = change_of(finder, &table);
    return whole != NULL && (whole->old == NULL || whole->new == NULL);
}

/* What a definition was is bound as well: somebody may have made another since. Its digest stands for it. */
static struct text with_old_definition(struct finder *finder, const struct change *change)
{
    const json_t *old = json_object_get(json_array_get(change->old->item, 7), "definition");
    const json_t *new = change->new != NULL
                            ? json_object_get(json_array_get(change->new->item, 7), "definition")
                            : NULL;
    struct text digest = string_at(old, 0);
    if (digest.size == 0 || (new != NULL && json_equal(json_array_get(old, 0), json_array_get(new, 0))))
        return change->detail;
    return arena_printf(finder->arena, "%.*s%sdigest of the old definition: %.*s",
                        TEXT_ARGS(change->detail), change->detail.size > 0 ? "; " : "",
                        TEXT_ARGS(digest));
}

/* Words, and only what has any. */
static void keep_told(struct finder *finder)
{
    for (size_t i = 0; i < finder->count; i++) {
        struct change *change = &finder->changes[i];
        if (change->old == NULL && change->new == NULL)
            continue;
        change->detail =
            state_difference(finder->arena, change->old != NULL ? change->old->item : NULL,
                             change->new != NULL ? change->new->item : NULL);
        change->word = comes_with_its_table(finder, change) ? NULL : word_of(finder, change);
        if (change->word != NULL && change->old != NULL)
            change->detail = with_old_definition(finder, change);
    }
}

/* --- why ----------------------------------------------------------------------------------------
 */

static bool is_named(const struct finder *finder, const struct thing *thing)
{
    const json_t *state = json_array_get(thing->item, 7);
    struct text schema = text_from(json_string_value(json_object_get(state, "schema")));
    struct text name = text_from(json_string_value(json_object_get(state, "name")));
    bool reached = finder->shape->ddl == DDL_TRUNCATE; /* also has those that CASCADE reaches */
    if (thing->at.sub != 0)
        return false;
    for (size_t i = 0; i < finder->shape->action_count; i++) {
        const struct action *action = &finder->shape->actions[i];
        if (action->object.kind == OBJECT_NAME && (!reached || action->location >= 0) &&
            text_equal(action->object.schema, schema) && text_equal(action->object.name, name))
            return true;
    }
    return false;
}

/* The change that `on` belongs to: of a column that is not told, the table's. */
static const struct change *told_change_of(const struct finder *finder, struct address on)
{
    const struct change *change = change_of(finder, &on);
    if ((change == NULL || change->word == NULL) && on.sub != 0) {
        on.sub = 0;
        change = change_of(finder, &on);
    }
    return change != NULL && change->word != NULL ? change : NULL;
}

static bool is_own_part(char type)
{
    return type != '\0' && strchr("aiPSex", type) != NULL;
}

static void set_via(struct change *change, const char *via, const struct change *parent)
{
    change->via = via;
    change->parent = name_of(any_of(parent));
}

static size_t first_dependency(const struct description *description, const struct address *from)
{
    size_t low = 0, high = description->dependency_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_addresses(&description->dependencies[middle].from, from) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_lost(const struct change *change)
{
    return strcmp(change->word, "dropped") == 0 || strcmp(change->word, "emptied") == 0;
}

/* Through what it depends on, a table before its key. True if there is such a thing. */
static bool explain_by_dependency(const struct finder *finder, struct change *change, bool parts)
{
    const struct thing *thing = any_of(change);
    const struct description *description = change->old != NULL ? &finder->before : &finder->after;
    const struct change *found = NULL;
    for (size_t i = first_dependency(description, &thing->at);
         i < description->dependency_count &&
         compare_addresses(&description->dependencies[i].from, &thing->at) == 0;
         i++) {
        const struct dependency *dependency = &description->dependencies[i];
        const struct change *on = told_change_of(finder, dependency->on);
        if (on == NULL || on == change || is_own_part(dependency->type) != parts ||
            (!parts && !is_lost(on)))
            continue;
        if (found == NULL || (is_table(any_of(on)) && !is_table(any_of(found))))
            found = on;
    }
    if (found != NULL)
        set_via(change, parts ? "part" : "cascade", found);
    return found != NULL;
}

/* A column that is told, of a table that is, too. */
static bool explain_by_table(const struct finder *finder, struct change *change)
{
    struct address table = any_of(change)->at;
    if (table.sub == 0)
        return false;
    table.sub = 0;
    const struct change *whole = change_of(finder, &table);
    if (whole == NULL || whole->word == NULL || whole == change)
        return false;
    set_via(change, "part", whole);
    return true;
}

/* TRUNCATE goes from a table to those whose foreign keys point at it. */
static bool explain_by_foreign_key(const struct finder *finder, struct change *change)
{
    const struct description *before = &finder->before;
    for (size_t i = 0; change->old != NULL && i < before->thing_count; i++) {
        const struct thing *key = &before->things[i];
        struct address to = change->old->at;
        if (json_integer_value(fact(key, "from")) != change->old->at.number)
            continue;
        to.number = json_integer_value(fact(key, "to"));
        const struct change *on = change_of(finder, &to);
        if (on == NULL || on == change || on->word == NULL)
            continue;
        change->via = "cascade";
        change->parent = name_of(key);
        return true;
    }
    return false;
}

/* A partition goes with the table that was named. */
static bool explain_by_parent(const struct finder *finder, struct change *change)
{
    const struct description *before = &finder->before;
    const struct address *own = &change->old->at;
    for (size_t i = first_dependency(before, own);
         i < before->dependency_count && compare_addresses(&before->dependencies[i].from, own) == 0;
         i++) {
        struct address on = before->dependencies[i].on;
        on.sub = 0;
        const struct thing wanted = {.at = on};
        const struct thing *parent = bsearch(&wanted, before->things, before->thing_count,
                                             sizeof *before->things, compare_things);
        if (parent == NULL || !is_table(parent) || on.number == own->number)
            continue;
        change->via = "part";
        change->parent = name_of(parent);
        return true;
    }
    return false;
}

static void explain(const struct finder *finder, struct change *change)
{
    bool truncates = finder->shape->ddl == DDL_TRUNCATE;
    change->via = "target";
    if (is_named(finder, any_of(change)))
        return;
    if (truncates && is_table(any_of(change))) {
        (void)(explain_by_foreign_key(finder, change) || explain_by_parent(finder, change));
        return;
    }
    if (explain_by_table(finder, change) || explain_by_dependency(finder, change, true))
        return;
    if (is_lost(change) || any_of(change)->at.sub != 0)
        (void)explain_by_dependency(finder, change, false);
}

/* --- the effect ---------------------------------------------------------------------------------
 */

static int rank_of(struct text via)
{
    return text_is(via, "target") ? 0 : text_is(via, "part") ? 1 : 2;
}

static int compare_objects(const void *a, const void *b)
{
    const struct effect_object *left = a, *right = b;
    int order = rank_of(left->via) - rank_of(right->via);
    if (order == 0)
        order = text_compare(left->name, right->name);
    return order != 0 ? order : text_compare(left->kind, right->kind);
}

/* {"shop.orders": [rows, bytes], …} */
static void count_losses(const json_t *losses, struct effect_object *object)
{
    char *name = strndup(object->name.bytes, object->name.size);
    const json_t *loss = json_object_get(losses, name);
    free(name);
    object->rows = object->bytes = -1;
    if (!json_is_array(loss))
        return;
    object->rows = json_integer_value(json_array_get(loss, 0));
    if (json_is_integer(json_array_get(loss, 1)))
        object->bytes = json_integer_value(json_array_get(loss, 1));
}

bool object_loses_rows(const struct effect_object *object)
{
    bool table = text_is(object->kind, "table") || text_is(object->kind, "materialized view");
    if (text_is(object->change, "dropped"))
        return table || text_is(object->kind, "table column");
    return table && (text_is(object->change, "emptied") || text_is(object->change, "rewritten"));
}

static void take_objects(struct finder *finder, const json_t *losses, struct effect *effect)
{
    struct effect_object *objects = arena_array(finder->arena, finder->count, sizeof *objects);
    size_t kept = 0;
    for (size_t i = 0; i < finder->count; i++) {
        const struct change *change = &finder->changes[i];
        if (change->word == NULL)
            continue;
        const struct thing *thing = any_of(change);
        struct effect_object *object = &objects[kept++];
        *object = (struct effect_object){.kind = arena_text(finder->arena, kind_of(thing)),
                                         .name = arena_text(finder->arena, name_of(thing)),
                                         .change = text_from(change->word),
                                         .via = text_from(change->via),
                                         .parent = arena_text(finder->arena, change->parent),
                                         .detail = change->detail};
        count_losses(losses, object);
    }
    if (kept > 1)
        qsort(objects, kept, sizeof *objects, compare_objects);
    effect->objects = objects;
    effect->object_count = kept;
}

/* Row security would hide rows from the one who counts. */
static struct text hidden_rows(const struct finder *finder)
{
    for (size_t i = 0; i < finder->count; i++) {
        const struct change *change = &finder->changes[i];
        if (change->word != NULL && is_lost(change) && change->old != NULL &&
            json_is_true(fact(change->old, "hidden")))
            return name_of(change->old);
    }
    return TEXT("");
}

/* --- locks
 * ---------------------------------------------------------------------------------------- */

static const struct thing *relation_numbered(const struct description *description, int64_t number)
{
    for (size_t i = 0; i < description->thing_count; i++) {
        const struct thing *thing = &description->things[i];
        if (thing->at.number == number && thing->at.sub == 0 && relkind(thing) != '\0' &&
            strchr("rpvmf", relkind(thing)) != NULL)
            return thing;
    }
    return NULL;
}

static int strength(struct text mode)
{
    static const char *const modes[] = {
        "AccessShareLock", "RowShareLock",          "RowExclusiveLock", "ShareUpdateExclusiveLock",
        "ShareLock",       "ShareRowExclusiveLock", "ExclusiveLock",    "AccessExclusiveLock",
    };
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
        if (text_is(mode, modes[i]))
            return (int)i;
    return (int)ARRAY_SIZE(modes);
}

static void add_lock(struct finder *finder, struct effect_lock *locks, size_t *count,
                     struct text table, struct text mode)
{
    for (size_t i = 0; i < *count; i++) {
        if (!text_equal(locks[i].table, table))
            continue;
        if (strength(mode) > strength(locks[i].mode))
            locks[i].mode = mode;
        return;
    }
    locks[(*count)++] = (struct effect_lock){arena_text(finder->arena, table), mode};
}

static int compare_locks(const void *a, const void *b)
{
    const struct effect_lock *left = a, *right = b;
    return text_compare(left->table, right->table);
}

/* Those on tables that were there before; reading alone is no lock worth telling. */
static void take_locks(struct finder *finder, struct effect *effect)
{
    const json_t *all = json_object_get(finder->after.root, "locks");
    struct effect_lock *locks = arena_array(finder->arena, json_array_size(all), sizeof *locks);
    size_t count = 0, i;
    const json_t *lock;
    json_array_foreach(all, i, lock)
    {
        const struct thing *table =
            relation_numbered(&finder->before, json_integer_value(json_array_get(lock, 0)));
        struct text mode = string_at(lock, 1);
        if (table != NULL && strength(mode) > 0)
            add_lock(finder, locks, &count, name_of(table), mode);
    }
    for (size_t at = 0; at < count; at++)
        locks[at].mode = measure_lock_words(finder->arena, locks[at].mode);
    if (count > 1)
        qsort(locks, count, sizeof *locks, compare_locks);
    effect->locks = locks;
    effect->lock_count = count;
}

/* --- all
 * ------------------------------------------------------------------------------------------ */

static void observe(struct finder *finder, const json_t *losses, struct effect *effect)
{
    compare_all(finder);
    if (finder->count > LIMIT_CHANGED_OBJECTS) {
        *effect =
            (struct effect){.row_count = -1,
                            .why = arena_printf(finder->arena, "it changes more than %d objects",
                                                LIMIT_CHANGED_OBJECTS)};
        return;
    }
    join_remade(finder);
    keep_told(finder);
    for (size_t i = 0; i < finder->count; i++)
        if (finder->changes[i].word != NULL)
            explain(finder, &finder->changes[i]);
    take_objects(finder, losses, effect);
    take_locks(finder, effect);
    struct text hidden = hidden_rows(finder);
    if (hidden.size > 0)
        *effect =
            (struct effect){.row_count = -1,
                            .why = arena_printf(finder->arena,
                                                "row security hides rows of %.*s, which cannot "
                                                "be counted",
                                                TEXT_ARGS(hidden))};
}

void measure_objects(struct arena *arena, const struct shape *shape,
                     const struct measured_objects *measured, struct effect *effect)
{
    struct finder finder = {.arena = arena, .shape = shape};
    json_t *losses = json_loadb(measured->losses.bytes, measured->losses.size, 0, NULL);
    bool known = describe(arena, measured->before, &finder.before) &&
                 describe(arena, measured->after, &finder.after);
    if (known)
        observe(&finder, losses, effect);
    else
        *effect = (struct effect){
            .row_count = -1, .why = TEXT("the database has more objects than can be compared")};
    json_decref(losses);
    json_decref(finder.before.root);
    json_decref(finder.after.root);
}
