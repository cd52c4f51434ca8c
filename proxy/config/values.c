/*
 * values.c - scalars of a configuration file: numbers, durations, sizes, paths, secrets.
 *
 * A quoted scalar is a text and nothing else. What is out of range is an error, never rounded.
 */
#include "proxy/config/fields.h"

#include "proxy/base/limits.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit durations[] = {
    {"ms", 1000},
    {"s", 1000000},
    {"m", 60 * 1000000LL},
    {"h", 3600 * 1000000LL},
    {"d", 24 * 3600 * 1000000LL},
    {NULL, 0},
};

static const struct unit sizes[] = {
    {"", 1}, {"kB", 1024}, {"MB", 1024 * 1024}, {"GB", 1024 * 1024 * 1024}, {NULL, 0},
};

static const char *expected_of(const struct field *field, const char *otherwise)
{
    return field->expected != NULL ? field->expected : otherwise;
}

static bool is_value(const struct node *node)
{
    return node->kind == NODE_SCALAR && !node_is_null(node);
}

bool field_text(struct reader *reader, const struct field *field, const struct node *node,
                void *target)
{
    struct text *text = target;
    if (!is_value(node) || node->text.size == 0 || text_has_byte(node->text, '\0'))
        return field_wrong(reader, node, expected_of(field, "a text"));
    *text = arena_text(reader->arena, node->text);
    return true;
}

bool field_name(struct reader *reader, const struct field *field, const struct node *node,
                void *target)
{
    return field_text(reader, field, node, target) &&
           name_is_fine(reader, node->text, node->place);
}

bool field_path(struct reader *reader, const struct field *field, const struct node *node,
                void *target)
{
    struct text *path = target;
    if (!field_text(reader, field, node, path))
        return false;
    *path = path_from_folder(reader, *path);
    return true;
}

bool field_choice(struct reader *reader, const struct field *field, const struct node *node,
                  void *target)
{
    int *choice = target;
    for (int i = 0; is_value(node) && field->choices[i] != NULL; i++)
        if (text_is(node->text, field->choices[i])) {
            *choice = i;
            return true;
        }
    return field_wrong(reader, node, words_of_choices(reader->scratch, field->choices).bytes);
}

bool field_flag(struct reader *reader, const struct field *field, const struct node *node,
                void *target)
{
    bool *flag = target;
    *flag = text_is(node->text, "true");
    if (is_value(node) && node->is_plain && (*flag || text_is(node->text, "false")))
        return true;
    return field_wrong(reader, node, expected_of(field, "true or false"));
}

static bool check_range(struct reader *reader, const struct field *field, const struct node *node,
                        int64_t value, int64_t factor)
{
    if (value >= field->least && (field->most == 0 || value <= field->most))
        return true;
    if (field->most == 0)
        problem_error(reader->problems, node->place, "%.*s is too small, the least is %lld%s",
                      TEXT_ARGS(node->text), (long long)(field->least / factor),
                      factor == 1000 ? "ms" : "");
    else
        problem_error(reader->problems, node->place, "%.*s is out of range: %lld to %lld%s",
                      TEXT_ARGS(node->text), (long long)(field->least / factor),
                      (long long)(field->most / factor), factor == 1000 ? "ms" : "");
    return false;
}

bool field_integer(struct reader *reader, const struct field *field, const struct node *node,
                   void *target)
{
    int64_t *value = target;
    if (!is_value(node) || !node->is_plain || !text_to_int64(node->text, value))
        return field_wrong(reader, node, expected_of(field, "an integer"));
    return check_range(reader, field, node, *value, 1);
}

bool field_number(struct reader *reader, const struct field *field, const struct node *node,
                  void *target)
{
    double *value = target;
    char digits[40];
    char *end = digits;
    if (is_value(node) && node->is_plain && node->text.size < sizeof digits &&
        strspn(node->text.bytes, "0123456789.eE+") == node->text.size) {
        memcpy(digits, node->text.bytes, node->text.size);
        digits[node->text.size] = '\0';
        *value = strtod(digits, &end);
        if (end == digits + node->text.size && isfinite(*value))
            return true;
    }
    return field_wrong(reader, node, expected_of(field, "a number, not below 0"));
}

static bool read_with_unit(struct text text, const struct unit *units, int64_t *value)
{
    size_t digits = 0;
    while (digits < text.size && text.bytes[digits] >= '0' && text.bytes[digits] <= '9')
        digits++;
    int64_t number;
    struct text unit = {text.bytes + digits, text.size - digits};
    if (!text_to_int64((struct text){text.bytes, digits}, &number))
        return false;
    for (; units->name != NULL; units++)
        if (text_is(unit, units->name))
            return !__builtin_mul_overflow(number, units->factor, value);
    return false;
}

bool field_duration(struct reader *reader, const struct field *field, const struct node *node,
                    void *target)
{
    int64_t *us = target;
    if (!is_value(node) || !read_with_unit(node->text, durations, us))
        return field_wrong(reader, node,
                           expected_of(field, "a duration, an integer with ms, s, m, h or d: 20s"));
    return check_range(reader, field, node, *us, 1000);
}

bool field_size(struct reader *reader, const struct field *field, const struct node *node,
                void *target)
{
    int64_t *bytes = target;
    if (!is_value(node) || !read_with_unit(node->text, sizes, bytes))
        return field_wrong(reader, node,
                           expected_of(field, "a size, an integer with kB, MB or GB: 8MB"));
    return check_range(reader, field, node, *bytes, 1);
}

bool field_names(struct reader *reader, const struct field *field, const struct node *node,
                 void *target)
{
    struct name_list *list = target;
    bool fine = true;
    if (!node_must_be(reader, node, NODE_LIST, expected_of(field, "a list: [a, b]")))
        return false;
    if (node->count > LIMIT_CONFIGURATION_LIST) {
        problem_error(reader->problems, node->place, "the list has more than %d items",
                      LIMIT_CONFIGURATION_LIST);
        return false;
    }
    struct placed_text *names = arena_array(reader->scratch, node->count, sizeof *names);
    for (size_t i = 0; i < node->count; i++) {
        const struct node *item = &node->items[i];
        names[i] = (struct placed_text){item->text, item->place};
        if (!is_value(item) || item->text.size == 0 || text_has_byte(item->text, '\0'))
            fine = field_wrong(reader, item, "a text");
        for (size_t j = 0; j < i && fine; j++)
            if (text_equal(names[j].text, item->text)) {
                problem_error(reader->problems, item->place, "\"%.*s\" stands twice in this list",
                              TEXT_ARGS(item->text));
                fine = false;
            }
    }
    *list = (struct name_list){names, node->count, true};
    return fine;
}

bool field_not_built(struct reader *reader, const struct field *field, const struct node *node,
                     void *target)
{
    (void)target;
    problem_error(reader->problems, node->place, "%s is not built yet", field->key);
    return false;
}

static struct text without_newline(struct text text)
{
    if (text.size > 0 && text.bytes[text.size - 1] == '\n')
        text.size--;
    if (text.size > 0 && text.bytes[text.size - 1] == '\r')
        text.size--;
    return text;
}

static bool read_secret_file(struct reader *reader, const struct node *node, struct text *secret)
{
    struct text path = path_from_folder(reader, node->text);
    char *bytes = arena_allocate(reader->scratch, LIMIT_SECRET_FILE_BYTES + 1);
    FILE *file = fopen(path.bytes, "rb");
    if (file == NULL) {
        problem_error(reader->problems, node->place, "cannot open %.*s: %s", TEXT_ARGS(path),
                      strerror(errno));
        return false;
    }
    size_t size = fread(bytes, 1, LIMIT_SECRET_FILE_BYTES + 1, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    *secret = without_newline((struct text){bytes, size});
    if (!failed && size <= LIMIT_SECRET_FILE_BYTES)
        return true;
    problem_error(reader->problems, node->place, "%.*s %s", TEXT_ARGS(path),
                  failed ? "cannot be read" : "is too long for a secret");
    return false;
}

static bool read_environment(struct reader *reader, const struct node *node, struct text *secret)
{
    const char *value = getenv(arena_text(reader->scratch, node->text).bytes);
    if (value == NULL)
        problem_error(reader->problems, node->place, "the environment has no variable %.*s",
                      TEXT_ARGS(node->text));
    *secret = arena_text(reader->scratch, text_from(value));
    return value != NULL;
}

static bool read_reference(struct reader *reader, const struct node *node, struct text *secret)
{
    const struct node *key = node->count == 1 ? &node->entries[0].key : NULL;
    const struct node *value = node->count == 1 ? &node->entries[0].value : NULL;
    if (key == NULL || !is_value(value) || value->text.size == 0)
        return field_wrong(reader, node, "a text, {file: PATH} or {env: NAME}");
    if (text_is(key->text, "file"))
        return read_secret_file(reader, value, secret);
    if (text_is(key->text, "env"))
        return read_environment(reader, value, secret);
    return field_wrong(reader, node, "a text, {file: PATH} or {env: NAME}");
}

bool field_secret(struct reader *reader, const struct field *field, const struct node *node,
                  void *target)
{
    struct text *secret = target;
    *secret = TEXT("");
    if (node->kind == NODE_LIST || node_is_null(node))
        return field_wrong(reader, node,
                           expected_of(field, "a text, {file: PATH} or {env: NAME}"));
    if (node->kind == NODE_SCALAR)
        *secret = arena_text(reader->scratch, node->text);
    else if (!read_reference(reader, node, secret))
        return false;
    if (secret->size > 0 && !text_has_byte(*secret, '\0'))
        return true;
    problem_error(reader->problems, node->place, "%s is empty or not a text", field->key);
    return false;
}
