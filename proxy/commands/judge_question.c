/*
 * judge_question.c - JSON, or SQL as it stands, → question. What is malformed is told in `problem`; a line
 * that is no JSON object is SQL.
 */
#include "proxy/commands/judge_question.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <stdlib.h>

static struct text text_of(struct arena *arena, const json_t *string)
{
    return arena_text(arena, (struct text){json_string_value(string), json_string_length(string)});
}

static bool decode_base64(struct arena *arena, struct text encoded, struct text *decoded)
{
    uint8_t *bytes = arena_allocate(arena, encoded.size + 3);
    size_t padding = 0;
    while (padding < 2 && padding < encoded.size &&
           encoded.bytes[encoded.size - 1 - padding] == '=')
        padding++;
    if (encoded.size > INT32_MAX || encoded.size % 4 != 0)
        return false;
    int size = EVP_DecodeBlock(bytes, (const unsigned char *)encoded.bytes, (int)encoded.size);
    if (size < (int)padding)
        return false;
    *decoded = (struct text){(const char *)bytes, (size_t)size - padding};
    return true;
}

static void read_sql(struct arena *arena, const json_t *object, struct asked *asked)
{
    const json_t *sql = json_object_get(object, "sql"), *encoded = json_object_get(object, "sql_b64");
    if (json_is_string(sql))
        asked->question.sql = text_of(arena, sql);
    else if (!json_is_string(encoded) ||
             !decode_base64(arena, text_of(arena, encoded), &asked->question.sql))
        asked->problem = "the line has neither sql nor a readable sql_b64";
}

static bool read_type(const struct catalog *catalog, const json_t *type, uint32_t *oid)
{
    const struct type *known = NULL;
    if (json_is_integer(type) && json_integer_value(type) >= 0 &&
        json_integer_value(type) <= UINT32_MAX) {
        *oid = (uint32_t)json_integer_value(type);
        return true;
    }
    if (json_is_string(type) && catalog != NULL)
        known = catalog_type(catalog, TEXT("pg_catalog"), text_from(json_string_value(type)));
    if (known != NULL)
        *oid = known->oid;
    return known != NULL;
}

static void read_types(struct arena *arena, const struct catalog *catalog, const json_t *object,
                       struct asked *asked)
{
    const json_t *types = json_object_get(object, "types");
    size_t count = json_array_size(types);
    uint32_t *oids = arena_array(arena, count, sizeof *oids);
    if (types != NULL && !json_is_array(types))
        asked->problem = "types must be a list";
    for (size_t i = 0; i < count; i++)
        if (!read_type(catalog, json_array_get(types, i), &oids[i]))
            asked->problem = "a type is the oid or, with a catalog, the name of a built-in type";
    asked->question.types = types != NULL ? oids : NULL;
    asked->question.type_count = count;
}

static void read_setup(struct arena *arena, const json_t *object, struct asked *asked)
{
    const json_t *setup = json_object_get(object, "setup");
    size_t count = json_array_size(setup);
    struct text *messages = arena_array(arena, count, sizeof *messages);
    if (setup != NULL && !json_is_array(setup))
        asked->problem = "setup must be a list of messages";
    for (size_t i = 0; i < count; i++) {
        const json_t *message = json_array_get(setup, i);
        messages[i] = text_of(arena, message);
        if (!json_is_string(message) || text_has_byte(messages[i], '\0'))
            asked->problem = "a message of setup must be a text";
    }
    asked->question.setup = messages;
    asked->question.setup_count = count;
}

static struct text id_of(struct arena *arena, const json_t *object)
{
    const json_t *id = json_object_get(object, "id");
    char *dumped = id != NULL ? json_dumps(id, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    struct text copy = arena_text(arena, text_from(dumped));
    free(dumped);
    return copy;
}

struct asked judge_question(struct arena *arena, const struct catalog *catalog, struct text line)
{
    struct asked asked = {.question.sql = line};
    json_t *object = line.size > 0 && line.bytes[0] == '{'
                         ? json_loadb(line.bytes, line.size, JSON_ALLOW_NUL, NULL)
                         : NULL;
    if (object != NULL) {
        asked.id = id_of(arena, object);
        read_sql(arena, object, &asked);
        read_types(arena, catalog, object, &asked);
        read_setup(arena, object, &asked);
        json_decref(object);
    }
    if (text_has_byte(asked.question.sql, '\0'))
        asked.problem = "the text holds a NUL byte";
    return asked;
}
