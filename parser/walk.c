/*
 * walk.c - the top of the walk: failing, depth, adding actions. The first failure is the one that counts.
 */
#include "parser/walk.h"

#include "proxy/base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES_MAX = 512 };

void walk_fail(struct walk *walk, enum analyse_result result, const char *sqlstate, int location,
               const char *message, ...)
{
    if (walk->failed)
        return;
    char text[MESSAGE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    walk->failed = true;
    walk->result = result;
    walk->message = arena_text(walk->arena, text_from(text));
    walk->location = location;
    memcpy(walk->sqlstate, sqlstate, sizeof walk->sqlstate);
}

void walk_unknown(struct walk *walk, const char *where, int node_tag, int location)
{
    walk_fail(walk, ANALYSE_REJECTED, "42501", location, "%s of kind %d is not understood", where,
              node_tag);
}

bool walk_enter(struct walk *walk)
{
    if (walk->depth >= LIMIT_STATEMENT_DEPTH) {
        walk_fail(walk, ANALYSE_TOO_LARGE, "54001", -1,
                  "statement is too deeply nested to check (limit %d levels)",
                  LIMIT_STATEMENT_DEPTH);
        return false;
    }
    walk->depth++;
    return true;
}

void walk_leave(struct walk *walk)
{
    walk->depth--;
}

struct action *walk_add(struct walk *walk, enum verb verb, struct object object, int location)
{
    struct action *action = arena_push(walk->arena, (void **)&walk->actions, &walk->action_count,
                                       &walk->action_capacity, sizeof *action);
    action->verb = verb;
    action->object = object;
    action->part = verb == VERB_SELECT && walk->inside_write ? PART_READ : PART_STATEMENT;
    action->rows_max = ROWS_UNPROVEN;
    action->location = location;
    return action;
}

void walk_add_named(struct walk *walk, enum verb verb, enum object_kind kind, struct text name,
                    int location)
{
    walk_add(walk, verb, (struct object){.kind = kind, .name = name}, location);
}

struct text walk_text(struct walk *walk, const char *string)
{
    return arena_text(walk->arena, text_from(string));
}
