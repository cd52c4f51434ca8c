/* form.c - see form.h. Nothing is guessed: a broken escape or a second field of a name is an error. */
#include "proxy/review/form.h"

#include "proxy/review/http.h"

#include <string.h>

/* Plus signs are spaces; everything else is as in a query. */
static struct text with_spaces(struct arena *arena, struct text body)
{
    struct text copy = arena_text(arena, body);
    char *bytes = arena_allocate(arena, body.size + 1);
    for (size_t i = 0; i < copy.size; i++)
        bytes[i] = copy.bytes[i] == '+' ? ' ' : copy.bytes[i];
    return (struct text){bytes, copy.size};
}

/* Browsers send line breaks as CR LF. */
static struct text with_line_feeds(struct arena *arena, struct text value)
{
    char *bytes = arena_allocate(arena, value.size + 1);
    size_t size = 0;
    for (size_t i = 0; i < value.size; i++)
        if (value.bytes[i] != '\r' || i + 1 == value.size || value.bytes[i + 1] != '\n')
            bytes[size++] = value.bytes[i];
    return (struct text){bytes, size};
}

static bool has_field(const struct form *form, struct text name)
{
    for (size_t i = 0; i < form->count; i++)
        if (text_equal(form->names[i], name))
            return true;
    return false;
}

const char *form_parse(struct arena *arena, struct text body, struct form *form)
{
    *form = (struct form){0};
    struct text rest = with_spaces(arena, body);
    struct text name;
    struct text value;
    int more;
    while ((more = query_next(arena, &rest, &name, &value)) > 0) {
        if (form->count == FORM_FIELDS_MAX)
            return "the form has more fields than any of ours";
        if (has_field(form, name))
            return "a field of the form is there twice";
        form->names[form->count] = name;
        form->values[form->count++] = with_line_feeds(arena, value);
    }
    return more == 0 ? NULL : "the form cannot be decoded";
}

struct text form_value(const struct form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++)
        if (text_is(form->names[i], name))
            return form->values[i];
    return TEXT("");
}

static struct text front_to(struct text text, char byte)
{
    const char *found = text.size > 0 ? memchr(text.bytes, byte, text.size) : NULL;
    return found != NULL ? text_front(text, (size_t)(found - text.bytes)) : text;
}

static struct text without_spaces(struct text text)
{
    while (text.size > 0 && text.bytes[0] == ' ')
        text = text_behind(text, 1);
    while (text.size > 0 && text.bytes[text.size - 1] == ' ')
        text.size--;
    return text;
}

bool content_type_is_form(struct text header)
{
    return text_is_ignoring_case(without_spaces(front_to(header, ';')),
                                 "application/x-www-form-urlencoded");
}

struct text cookie_value(struct text header, const char *name)
{
    struct text found = TEXT("");
    int count = 0;
    while (header.size > 0) {
        struct text pair = front_to(header, ';');
        header = text_behind(header, pair.size < header.size ? pair.size + 1 : pair.size);
        struct text key = front_to(pair, '=');
        if (key.size == pair.size || !text_is(without_spaces(key), name))
            continue;
        found = without_spaces(text_behind(pair, key.size + 1));
        count++;
    }
    return count == 1 ? found : TEXT("");
}

bool is_local_path(struct text path)
{
    for (size_t i = 0; i < path.size; i++)
        if (path.bytes[i] <= ' ' || path.bytes[i] > '~' || path.bytes[i] == '\\')
            return false;
    return path.size > 0 && path.size <= 200 && path.bytes[0] == '/' &&
           (path.size == 1 || path.bytes[1] != '/');
}
