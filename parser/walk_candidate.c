/*
 * walk_candidate.c - a name without a schema that could mean several objects: what is done to the one
 * that the walk chose is done to all others.
 *
 * Of the others no column, key or condition is certain, so their actions are the strictest of their
 * kind.
 */
#include "parser/walk_path.h"
#include "parser/walk_write.h"

/* The place of what is noted for an object: 0, or one more than its index. */
static uintptr_t *place_of(struct walk *walk, const struct object *object)
{
    bool fresh;
    return walk_seen(walk, seen_owner(SEEN_AMBIGUOUS, 0), object->schema, object->name, &fresh);
}

static struct ambiguity *ambiguity_of(struct walk *walk, const struct object *object)
{
    uintptr_t *place = place_of(walk, object);
    if (*place == 0) {
        arena_push(walk->arena, (void **)&walk->ambiguities, &walk->ambiguity_count,
                   &walk->ambiguity_capacity, sizeof *walk->ambiguities);
        walk->ambiguities[walk->ambiguity_count - 1] = (struct ambiguity){0};
        *place = walk->ambiguity_count;
    }
    return &walk->ambiguities[*place - 1];
}

static bool is_noted(const struct ambiguity *ambiguity, struct text schema)
{
    for (size_t i = 0; i < ambiguity->count; i++)
        if (text_equal(ambiguity->others[i].object.schema, schema))
            return true;
    return false;
}

void walk_note_candidates(struct walk *walk, const struct candidate *candidates, size_t count,
                          size_t chosen)
{
    for (size_t i = 0; count > 1 && i < count; i++) {
        struct ambiguity *ambiguity = ambiguity_of(walk, &candidates[chosen].object);
        if (i == chosen || is_noted(ambiguity, candidates[i].object.schema))
            continue;
        struct candidate *place =
            arena_push(walk->arena, (void **)&ambiguity->others, &ambiguity->count,
                       &ambiguity->capacity, sizeof *place);
        *place = candidates[i];
    }
}

static bool writes_rows(enum verb verb)
{
    return verb == VERB_INSERT || verb == VERB_UPDATE || verb == VERB_DELETE;
}

/* A view's lock and TRUNCATE … CASCADE go further than the relation: how far is not followed here. */
static bool goes_further(enum verb verb, const struct relation *relation)
{
    if (relation == NULL)
        return false;
    return (verb == VERB_LOCK && relation_is_view(relation)) ||
           (verb == VERB_TRUNCATE && relation->referenced_by_count > 0);
}

static size_t add_like(struct walk *walk, const struct action *model,
                       const struct candidate *candidate)
{
    size_t index = walk->action_count;
    const struct item target = {.object = candidate->object,
                                .relation = candidate->relation,
                                .location = model->location,
                                .may_differ = candidate->may_differ};
    if (writes_rows(model->verb))
        return write_action(walk, model->verb, &target);
    walk_add(walk, model->verb, candidate->object, model->location);
    walk->actions[index].relation = candidate->relation;
    if (goes_further(model->verb, candidate->relation))
        walk_add(walk, model->verb, (struct object){.kind = OBJECT_NONE}, model->location);
    if (model->verb == VERB_SELECT && candidate->relation != NULL &&
        relation_is_view(candidate->relation))
        read_view(walk, candidate->relation, index);
    return index;
}

static void add_candidate(struct walk *walk, struct action model, const struct candidate *candidate)
{
    size_t index = add_like(walk, &model, candidate);
    struct action *action = &walk->actions[index];
    action->part = model.part;
    action->columns = model.columns;
    action->column_count = model.column_count;
    action->columns_unknown = model.verb == VERB_SELECT || model.verb == VERB_INSERT ||
                              model.verb == VERB_UPDATE;
    action->columns_why = TEXT("a name without a schema");
    action->where_why = TEXT("a name without a schema proves nothing of the table that it means");
    action->rows_max = model.verb == VERB_INSERT ? model.rows_max : ROWS_UNPROVEN;
    action->reason = model.reason;
    action->candidate = true;
    if (writes_rows(model.verb))
        write_foreign_keys(walk, index);
}

/* One that does the same to the same object for the same reason is enough. */
static bool is_first(struct walk *walk, const struct action *model, const struct object *object)
{
    bool fresh;
    size_t kind = (size_t)model->verb * 2 + (model->part == PART_READ ? 1 : 0);
    walk_seen(walk, seen_owner(SEEN_CANDIDATE, kind), object->schema, object->name, &fresh);
    return fresh;
}

void walk_candidates(struct walk *walk)
{
    size_t count = walk->ambiguity_count > 0 ? walk->action_count : 0;
    for (size_t i = 0; i < count && !walk->failed; i++) {
        struct action model = walk->actions[i];
        if (model.object.kind != OBJECT_NAME || model.part == PART_VIEW)
            continue;
        uintptr_t noted = *place_of(walk, &model.object);
        if (noted == 0)
            continue;
        const struct ambiguity ambiguity = walk->ambiguities[noted - 1];
        for (size_t j = 0; j < ambiguity.count && walk_spend(walk, 1); j++)
            if (writes_rows(model.verb) || is_first(walk, &model, &ambiguity.others[j].object))
                add_candidate(walk, model, &ambiguity.others[j]);
    }
}
