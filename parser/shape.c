/*
 * shape.c - the names of verbs and objects. Nothing here fails; a value out of range is our
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
