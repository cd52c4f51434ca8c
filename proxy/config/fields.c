/* fields.c - see fields.h: walking a map along its table, and what the read functions share. */
#include "proxy/config/fields.h"

#include "proxy/base/invariant.h"
#include "proxy/base/unicode.h"

enum { KEYS_MAX = 32, NAME_BYTES_MAX = 63 };

static const struct field *find_field(const struct field *fields, size_t count, struct text key)
{
    for (size_t i = 0; i < count; i++)
        if (text_is(key, fields[i].key))
            return &fields[i];
    return NULL;
}

static void report_unknown(struct reader *reader, const struct node *key, const char *what,
                           const struct field *fields, size_t count)
{
    const char *names[KEYS_MAX + 1] = {NULL};
    INVARIANT(count <= KEYS_MAX);
    for (size_t i = 0; i < count; i++)
        names[i] = fields[i].key;
    const char *nearest = problems_nearest_name(key->text, names, count);
    if (nearest != NULL)
        problem_error(reader->problems, key->place, "unknown key \"%.*s\" in %s; did you mean \"%s\"?",
                      TEXT_ARGS(key->text), what, nearest);
    else
        problem_error(reader->problems, key->place, "unknown key \"%.*s\" in %s; expected %.*s",
                      TEXT_ARGS(key->text), what,
                      TEXT_ARGS(words_of_choices(reader->scratch, names)));
}

static bool report_missing(struct reader *reader, const struct node *map, const char *what,
                           const struct field *fields, size_t count)
{
    bool complete = true;
    for (size_t i = 0; i < count; i++)
        if (fields[i].need == REQUIRED && node_find(map, fields[i].key) == NULL) {
            problem_error(reader->problems, map->place, "%s needs the key \"%s\"%s%s", what,
                          fields[i].key, fields[i].expected != NULL ? ": " : "",
                          fields[i].expected != NULL ? fields[i].expected : "");
            complete = false;
        }
    return complete;
}

bool fields_read(struct reader *reader, const struct node *map, const char *what,
                 const struct field *fields, size_t count, void *target)
{
    bool fine = true;
    if (!node_must_be(reader, map, NODE_MAP, "a map of keys and values"))
        return false;
    for (size_t i = 0; i < map->count; i++) {
        const struct field *field = find_field(fields, count, map->entries[i].key.text);
        if (field == NULL) {
            report_unknown(reader, &map->entries[i].key, what, fields, count);
            fine = false;
        } else if (!field->read(reader, field, &map->entries[i].value,
                                (uint8_t *)target + field->offset)) {
            fine = false;
        }
    }
    return report_missing(reader, map, what, fields, count) && fine;
}

bool field_wrong(struct reader *reader, const struct node *node, const char *expected)
{
    if (node->kind == NODE_SCALAR && !node_is_null(node))
        problem_error(reader->problems, node->place, "\"%.*s\" is not what is expected here: %s",
                      TEXT_ARGS(text_cut(node->text, 60)), expected);
    else
        problem_error(reader->problems, node->place, "found %s, expected %s",
                      node_description(node), expected);
    return false;
}

bool node_must_be(struct reader *reader, const struct node *node, enum node_kind kind,
                  const char *expected)
{
    return node->kind == kind ? true : field_wrong(reader, node, expected);
}

bool name_is_fine(struct reader *reader, struct text name, struct place place)
{
    bool fine = name.size > 0 && name.size <= NAME_BYTES_MAX;
    for (size_t at = 0; fine && at < name.size;) {
        uint32_t code_point;
        at += utf8_decode((struct text){name.bytes + at, name.size - at}, &code_point);
        fine = !unicode_is_invisible(code_point) && code_point != ' ' && code_point != ',' &&
               code_point != ';';
    }
    if (!fine)
        problem_error(reader->problems, place,
                      "a name has 1 to %d bytes, all of them visible, without spaces, , and ;",
                      NAME_BYTES_MAX);
    return fine;
}

struct text words_of_choices(struct arena *arena, const char *const *choices)
{
    struct text words = TEXT("");
    for (size_t i = 0; choices[i] != NULL; i++) {
        const char *before = i == 0 ? "" : choices[i + 1] != NULL ? ", " : " or ";
        words = arena_printf(arena, "%.*s%s%s", TEXT_ARGS(words), before, choices[i]);
    }
    return words;
}

struct text path_from_folder(struct reader *reader, struct text path)
{
    bool is_absolute = path.size > 0 && path.bytes[0] == '/';
    return arena_printf(reader->arena, "%.*s%.*s", is_absolute ? 0 : (int)reader->folder.size,
                        reader->folder.bytes, TEXT_ARGS(path));
}

const struct text *names_only(struct reader *reader, const struct name_list *list)
{
    struct text *names = arena_array(reader->arena, list->count, sizeof *names);
    for (size_t i = 0; i < list->count; i++)
        names[i] = arena_text(reader->arena, list->names[i].text);
    return names;
}
