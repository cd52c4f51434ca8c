/*
 * shape.c - the names of verbs, locks and objects. Nothing here fails; a value out of range is our
 * mistake.
 */
#include "parser/shape.h"

#include "proxy/base/invariant.h"

const char *verb_name(enum verb verb)
{
    static const char *const names[VERB_COUNT] = {
        [VERB_NONE] = "none",       [VERB_SELECT] = "select",       [VERB_INSERT] = "insert",
        [VERB_UPDATE] = "update",   [VERB_DELETE] = "delete",       [VERB_TRUNCATE] = "truncate",
        [VERB_CALL] = "call",       [VERB_EXECUTE] = "execute",     [VERB_CREATE] = "create",
        [VERB_ALTER] = "alter",     [VERB_DROP] = "drop",           [VERB_GRANT] = "grant",
        [VERB_COMMENT] = "comment", [VERB_LOCK] = "lock",           [VERB_SET] = "set",
        [VERB_LISTEN] = "listen",   [VERB_NOTIFY] = "notify",       [VERB_MAINTAIN] = "maintain",
        [VERB_CODE] = "code",       [VERB_COPY_FILE] = "copy_file",
    };
    INVARIANT(verb < VERB_COUNT && names[verb] != NULL);
    return names[verb];
}

enum relation_use verb_relation_use(enum verb verb)
{
    switch (verb) {
    case VERB_INSERT:
    case VERB_UPDATE:
    case VERB_CREATE:
    case VERB_ALTER:
        return USE_STORE;
    case VERB_DELETE:
    case VERB_TRUNCATE:
        return USE_DELETE;
    default:
        return USE_READ;
    }
}

bool verb_has_lock(enum verb verb)
{
    return verb == VERB_CREATE || verb == VERB_ALTER || verb == VERB_DROP ||
           verb == VERB_TRUNCATE || verb == VERB_LOCK || verb == VERB_MAINTAIN;
}

const char *table_lock_name(enum table_lock lock)
{
    static const char *const names[LOCK_COUNT] = {
        [LOCK_ACCESS_EXCLUSIVE] = "access_exclusive",
        [LOCK_EXCLUSIVE] = "exclusive",
        [LOCK_SHARE_ROW_EXCLUSIVE] = "share_row_exclusive",
        [LOCK_SHARE] = "share",
        [LOCK_SHARE_UPDATE_EXCLUSIVE] = "share_update_exclusive",
        [LOCK_ROW_EXCLUSIVE] = "row_exclusive",
        [LOCK_ROW_SHARE] = "row_share",
        [LOCK_ACCESS_SHARE] = "access_share",
        [LOCK_NONE] = "none",
    };
    INVARIANT(lock < LOCK_COUNT && names[lock] != NULL);
    return names[lock];
}

const char *object_kind_prefix(enum object_kind kind)
{
    static const char *const prefixes[OBJECT_KIND_COUNT] = {
        [OBJECT_NONE] = "",
        [OBJECT_NAME] = "",
        [OBJECT_SCHEMA] = "schema:",
        [OBJECT_ROLE] = "role:",
        [OBJECT_DATABASE] = "database:",
        [OBJECT_EXTENSION] = "extension:",
        [OBJECT_LANGUAGE] = "language:",
        [OBJECT_PUBLICATION] = "publication:",
        [OBJECT_SUBSCRIPTION] = "subscription:",
        [OBJECT_SERVER] = "server:",
        [OBJECT_TABLESPACE] = "tablespace:",
        [OBJECT_SETTING] = "setting:",
        [OBJECT_CHANNEL] = "channel:",
        [OBJECT_TEMPLATE] = "",
    };
    INVARIANT(kind < OBJECT_KIND_COUNT && prefixes[kind] != NULL);
    return prefixes[kind];
}

struct text object_text(struct arena *arena, const struct object *object)
{
    if (object->kind == OBJECT_NONE)
        return TEXT("(none)");
    if (object->kind == OBJECT_NAME && object->schema.size > 0)
        return arena_printf(arena, "%.*s.%.*s", TEXT_ARGS(object->schema), TEXT_ARGS(object->name));
    return arena_printf(arena, "%s%.*s", object_kind_prefix(object->kind), TEXT_ARGS(object->name));
}
