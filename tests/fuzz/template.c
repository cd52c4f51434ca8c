/*
 * template.c - values and patterns of templates. What is bound must be bound again as itself, be UTF-8
 * without character 0, and hold no more than its type says; what is refused must say why.
 *
 * The first byte is the parameter's type, the second the form, then four bytes of a declared type. With
 * form 7 the rest is a pattern, a line end, and a text.
 */
#include "proxy/base/invariant.h"
#include "proxy/base/unicode.h"
#include "rules/template.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 6, FORM_PATTERN = 7 };

static void check_pattern(struct arena *arena, struct text text)
{
    struct text problem, value = TEXT("");
    const char *end = text.size > 0 ? memchr(text.bytes, '\n', text.size) : NULL;
    if (end != NULL) {
        size_t at = (size_t)(end - text.bytes);
        value = text_behind(text, at + 1);
        text = text_front(text, at);
    }
    const struct template_pattern *pattern = template_pattern_compile(arena, text, &problem);
    INVARIANT((pattern == NULL) == (problem.size > 0));
    if (pattern != NULL && utf8_valid(value))
        (void)template_pattern_matches(pattern, value);
}

/* The same value, in the form in which it was bound. */
static void check_again(struct arena *arena, const struct template_parameter *parameter,
                        struct text bound)
{
    const struct template_value value = {.form = VALUE_TEXT, .bytes = bound};
    struct text again, problem;
    INVARIANT(utf8_valid(bound));
    INVARIANT(template_check(arena, parameter, &value, &again, &problem));
    INVARIANT(text_equal(again, bound));
}

static void check_value(struct arena *arena, const uint8_t *data, size_t size)
{
    const struct template_parameter parameter = {
        .type = (enum template_type)(1 + data[0] % (TEMPLATE_TYPE_COUNT - 1)),
        .array = data[0] >= 128,
        .nullable = true,
        .min_length = -1,
        .max_length = -1,
        .min_items = -1,
        .max_items = -1};
    const struct template_value value = {
        .form = (enum value_form)(data[1] % (VALUE_BINARY + 1)),
        .type = (uint32_t)data[2] << 24 | (uint32_t)data[3] << 16 | (uint32_t)data[4] << 8 | data[5],
        .bytes = {(const char *)data + HEAD, size - HEAD}};
    struct text bound, problem;
    bool fine = template_check(arena, &parameter, &value, &bound, &problem);
    INVARIANT(fine == (problem.size == 0));
    if (fine && bound.bytes != NULL)
        check_again(arena, &parameter, bound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    if (size < HEAD)
        return 0;
    arena_init(&arena);
    if (data[1] == FORM_PATTERN)
        check_pattern(&arena, (struct text){(const char *)data + HEAD, size - HEAD});
    else
        check_value(&arena, data, size);
    arena_release(&arena);
    return 0;
}
