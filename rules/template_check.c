/*
 * template_check.c - one value against its parameter.
 *
 * Whatever its form, a value becomes text first; the text must be of the parameter's type and obey each
 * keyword. Everything that is not understood is a problem with words for the agent.
 */
#include "rules/template_value.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <math.h>
#include <stdlib.h>

enum { QUOTED_CHARACTERS_MAX = 40, QUOTED_BYTES_MAX = 400, WORDS_BYTES_MAX = 64 };

struct checking {
    struct arena *arena;
    const struct template_parameter *parameter;
    size_t item; /* from 1, of an array; 0: the value itself */
    struct text *problem;
};

/* --- what is wrong, in words ---------------------------------------------------------------------- */

static struct text first_characters(struct text text, size_t count)
{
    size_t at = 0;
    while (count > 0 && at < text.size) {
        size_t size = utf8_sequence(text_behind(text, at));
        at += size > 0 ? size : 1;
        count--;
    }
    return text_front(text, at);
}

/* Bytes that nobody can read are shown as such. */
static struct text quoted(struct arena *arena, struct text value)
{
    struct buffer out;
    struct text shown = first_characters(value, QUOTED_CHARACTERS_MAX);
    buffer_init(&out, QUOTED_BYTES_MAX);
    unicode_append_visible(&out, shown);
    struct text words = first_characters(buffer_text(&out), QUOTED_CHARACTERS_MAX);
    bool is_cut = shown.size < value.size || words.size < out.size;
    words = arena_printf(arena, "\"%.*s\"%s", TEXT_ARGS(words), is_cut ? "..." : "");
    buffer_release(&out);
    return words;
}

static bool wrong(const struct checking *checking, struct text must, struct text got)
{
    struct text item = checking->item == 0
                           ? TEXT("")
                           : arena_printf(checking->arena, "item %zu ", checking->item);
    *checking->problem = arena_printf(checking->arena, "%.*smust %.*s%s%.*s%s", TEXT_ARGS(item),
                                      TEXT_ARGS(must), got.size > 0 ? " (got " : "", TEXT_ARGS(got),
                                      got.size > 0 ? ")" : "");
    return false;
}

static bool wrong_value(const struct checking *checking, struct text must, struct text value)
{
    return wrong(checking, must, quoted(checking->arena, value));
}

static const char *const type_words[TEMPLATE_TYPE_COUNT] = {
    [TEMPLATE_INTEGER] = "be an integer of at most 64 bits",
    [TEMPLATE_NUMBER] = "be a number as JSON writes it",
    [TEMPLATE_NUMERIC] = "be a number as JSON writes it",
    [TEMPLATE_STRING] = "be a string in quotes",
    [TEMPLATE_BOOLEAN] = "be true or false",
    [TEMPLATE_DATE] = "be a date like 2026-11-30",
    [TEMPLATE_TIMESTAMP] = "be a date and time without offset, like 2026-11-30T12:00:00",
    [TEMPLATE_TIMESTAMPTZ] = "be a date and time with offset, like 2026-11-30T12:00:00Z",
    [TEMPLATE_UUID] = "be a UUID with hyphens",
    [TEMPLATE_JSON] = "be one JSON value",
};

static bool wrong_type(const struct checking *checking, struct text value)
{
    return wrong_value(checking, text_from(type_words[checking->parameter->type]), value);
}

static bool wrong_form(const struct checking *checking, const char *must)
{
    return wrong(checking, text_from(must), TEXT(""));
}

/* --- numbers -------------------------------------------------------------------------------------- */

/* False: the limit is written and does not hold. */
static bool limit_holds(const struct checking *checking, const struct decimal *value,
                        struct text limit, bool is_lower, bool is_exclusive)
{
    struct decimal bound;
    if (limit.size == 0)
        return true;
    bool understood = decimal_parse(checking->arena, limit, &bound);
    INVARIANT(understood);
    int order = decimal_compare(value, &bound);
    if (!is_lower)
        order = -order;
    return is_exclusive ? order > 0 : order >= 0;
}

static bool multiple_holds(const struct checking *checking, const struct decimal *value,
                           struct text multiple_of)
{
    struct decimal of;
    if (multiple_of.size == 0)
        return true;
    bool understood = decimal_parse(checking->arena, multiple_of, &of);
    INVARIANT(understood);
    return decimal_is_multiple(value, &of);
}

static bool check_limits(const struct checking *checking, const struct decimal *value,
                         struct text text)
{
    const struct template_parameter *p = checking->parameter;
    const struct {
        const char *words;
        struct text limit;
        bool holds;
    } limits[] = {
        {"be at least", p->minimum, limit_holds(checking, value, p->minimum, true, false)},
        {"be at most", p->maximum, limit_holds(checking, value, p->maximum, false, false)},
        {"be greater than", p->exclusive_minimum,
         limit_holds(checking, value, p->exclusive_minimum, true, true)},
        {"be less than", p->exclusive_maximum,
         limit_holds(checking, value, p->exclusive_maximum, false, true)},
        {"be a multiple of", p->multiple_of, multiple_holds(checking, value, p->multiple_of)},
    };
    for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
        if (!limits[i].holds)
            return wrong_value(checking,
                               arena_printf(checking->arena, "%s %.*s", limits[i].words,
                                            TEXT_ARGS(text_cut(limits[i].limit, WORDS_BYTES_MAX))),
                               text);
    return true;
}

/* What the server's float8 would refuse: beyond its range, or so small that it would be 0. */
static bool fits_float8(struct arena *arena, const struct decimal *decimal, struct text text)
{
    enum { POINT_MAX = 400 };
    if (decimal->digits.size == 0)
        return true;
    int64_t top = (int64_t)decimal->digits.size + decimal->exponent;
    if (top > POINT_MAX || top < -POINT_MAX)
        return false;
    double value = strtod(arena_text(arena, text).bytes, NULL);
    return isfinite(value) && value != 0;
}

static bool check_number(const struct checking *checking, struct text text, struct text *bound)
{
    struct decimal decimal;
    enum template_type type = checking->parameter->type;
    if (!decimal_parse(checking->arena, text, &decimal))
        return wrong_type(checking, text);
    bool is_plain = !text_has_byte(text, 'e') && !text_has_byte(text, 'E');
    *bound = decimal.digits.size > 0 || is_plain ? text : TEXT("0");
    if (type == TEMPLATE_INTEGER ? !decimal_to_integer(checking->arena, &decimal, bound)
        : type == TEMPLATE_NUMBER ? !fits_float8(checking->arena, &decimal, text)
                                  : !decimal_fits_numeric(&decimal))
        return wrong_type(checking, text);
    return check_limits(checking, &decimal, text);
}

/* --- strings -------------------------------------------------------------------------------------- */

static bool check_length(const struct checking *checking, struct text text)
{
    const struct template_parameter *p = checking->parameter;
    int64_t length = (int64_t)utf8_length(text);
    bool is_short = p->min_length >= 0 && length < p->min_length;
    bool is_long = p->max_length >= 0 && length > p->max_length;
    if (!is_short && !is_long)
        return true;
    long long limit = is_short ? p->min_length : p->max_length;
    return wrong(checking,
                 arena_printf(checking->arena, "have at %s %lld character%s",
                              is_short ? "least" : "most", limit, limit == 1 ? "" : "s"),
                 arena_printf(checking->arena, "%lld", (long long)length));
}

static bool check_string(const struct checking *checking, struct text text, struct text *bound)
{
    const struct template_parameter *p = checking->parameter;
    *bound = text;
    if (!utf8_valid(text))
        return wrong_value(checking, TEXT("be valid UTF-8 without character 0"), text);
    if (!check_length(checking, text))
        return false;
    if (p->compiled != NULL && !template_pattern_matches(p->compiled, text))
        return wrong_value(checking,
                           arena_printf(checking->arena, "match ^(?:%.*s)$",
                                        TEXT_ARGS(text_cut(p->pattern, WORDS_BYTES_MAX))),
                           text);
    return true;
}

/* --- others --------------------------------------------------------------------------------------- */

static bool is_hex(char byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

static bool read_uuid(struct arena *arena, struct text text, struct text *bound)
{
    enum { UUID_BYTES = 36 };
    if (text.size != UUID_BYTES)
        return false;
    char *bytes = arena_allocate(arena, UUID_BYTES);
    for (size_t i = 0; i < UUID_BYTES; i++) {
        char byte = text.bytes[i];
        bool is_hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_hyphen ? byte != '-' : !is_hex(byte))
            return false;
        bytes[i] = byte >= 'A' && byte <= 'F' ? (char)(byte | 0x20) : byte;
    }
    *bound = (struct text){bytes, UUID_BYTES};
    return true;
}

static bool read_boolean(struct text text, struct text *bound)
{
    *bound = text;
    return text_is(text, "true") || text_is(text, "false");
}

static bool check_by_type(const struct checking *checking, struct text text, struct text *bound)
{
    bool fine = false;
    *bound = text;
    switch (checking->parameter->type) {
    case TEMPLATE_INTEGER:
    case TEMPLATE_NUMBER:
    case TEMPLATE_NUMERIC:
        return check_number(checking, text, bound);
    case TEMPLATE_STRING:
        return check_string(checking, text, bound);
    case TEMPLATE_BOOLEAN:
        fine = read_boolean(text, bound);
        break;
    case TEMPLATE_DATE:
        fine = date_parse(checking->arena, text, bound);
        break;
    case TEMPLATE_TIMESTAMP:
        fine = timestamp_parse(checking->arena, text, false, bound);
        break;
    case TEMPLATE_TIMESTAMPTZ:
        fine = timestamp_parse(checking->arena, text, true, bound);
        break;
    case TEMPLATE_UUID:
        fine = read_uuid(checking->arena, text, bound);
        break;
    case TEMPLATE_JSON:
        fine = json_is_valid(text);
        break;
    case TEMPLATE_NONE:
    case TEMPLATE_TYPE_COUNT:
        break;
    }
    return fine ? true : wrong_type(checking, text);
}

/* Choices are in the form in which values of the type are bound; numbers are equal as numbers. */
static bool is_choice(const struct template_parameter *p, struct text bound)
{
    bool found = false;
    bool is_decimal = p->type == TEMPLATE_NUMBER || p->type == TEMPLATE_NUMERIC;
    struct decimal value, choice;
    struct arena scratch;
    arena_init(&scratch);
    for (size_t i = 0; i < p->choice_count && !found; i++) {
        arena_reset(&scratch);
        found = is_decimal ? decimal_parse(&scratch, bound, &value) &&
                                 decimal_parse(&scratch, p->choices[i], &choice) &&
                                 decimal_compare(&value, &choice) == 0
                           : text_equal(bound, p->choices[i]);
    }
    arena_release(&scratch);
    return found;
}

static bool check_choice(const struct checking *checking, struct text text, struct text bound)
{
    const struct template_parameter *p = checking->parameter;
    struct text words = TEXT("be one of ");
    if (p->choice_count == 0 || is_choice(p, bound))
        return true;
    for (size_t i = 0; i < p->choice_count && words.size <= WORDS_BYTES_MAX; i++)
        words = arena_printf(checking->arena, "%.*s%s%.*s", TEXT_ARGS(words), i == 0 ? "" : ", ",
                             TEXT_ARGS(p->choices[i]));
    if (words.size > WORDS_BYTES_MAX)
        words = arena_printf(checking->arena, "%.*s...",
                             TEXT_ARGS(text_cut(words, WORDS_BYTES_MAX)));
    return wrong_value(checking, words, text);
}

/* --- forms ---------------------------------------------------------------------------------------- */

static bool is_number_type(enum template_type type)
{
    return type == TEMPLATE_INTEGER || type == TEMPLATE_NUMBER || type == TEMPLATE_NUMERIC;
}

/* A driver that declares a type means a value of it: a date is no string, a number no date. */
static bool family_suits(enum type_family family, enum template_type type)
{
    static const enum template_type types[] = {
        [FAMILY_BOOLEAN] = TEMPLATE_BOOLEAN,         [FAMILY_DATE] = TEMPLATE_DATE,
        [FAMILY_TIMESTAMP] = TEMPLATE_TIMESTAMP,     [FAMILY_UUID] = TEMPLATE_UUID,
        [FAMILY_TIMESTAMPTZ] = TEMPLATE_TIMESTAMPTZ, [FAMILY_JSON] = TEMPLATE_JSON,
    };
    switch (family) {
    case FAMILY_TEXT:
        return true;
    case FAMILY_INTEGER:
    case FAMILY_FLOAT:
    case FAMILY_NUMERIC:
        return is_number_type(type);
    case FAMILY_BOOLEAN:
    case FAMILY_DATE:
    case FAMILY_TIMESTAMP:
    case FAMILY_TIMESTAMPTZ:
    case FAMILY_UUID:
    case FAMILY_JSON:
        return types[family] == type;
    case FAMILY_UNKNOWN:
        break;
    }
    return false;
}

static bool wrong_declaration(const struct checking *checking)
{
    const struct template_parameter *p = checking->parameter;
    const char *brackets = p->array ? "[]" : "";
    return wrong(checking,
                 arena_printf(checking->arena, "be sent as %s%s, or as text",
                              template_type_name(p->type), brackets),
                 TEXT(""));
}

/* A parameter declared as text may hold an array's literal. */
static bool check_declared(const struct checking *checking, uint32_t oid, bool is_binary)
{
    const struct template_parameter *p = checking->parameter;
    bool is_array;
    enum type_family family = type_family(oid, &is_array);
    bool suits = family_suits(family, p->type) &&
                 (is_array == p->array || (p->array && family == FAMILY_TEXT && !is_binary));
    return suits ? true : wrong_declaration(checking);
}

static bool check_one(const struct checking *checking, struct text text, struct text *bound)
{
    return check_by_type(checking, text, bound) && check_choice(checking, text, *bound);
}

/* Drivers' own spelling of a boolean's text; an agent's is JSON's. */
static struct text driver_boolean(const struct template_value *value)
{
    static const uint32_t boolean = 16;
    if (value->form == VALUE_TEXT && value->type == boolean) {
        if (text_is(value->bytes, "t") || text_is(value->bytes, "TRUE"))
            return TEXT("true");
        if (text_is(value->bytes, "f") || text_is(value->bytes, "FALSE"))
            return TEXT("false");
    }
    return value->bytes;
}

static bool check_scalar(const struct checking *checking, const struct template_value *value,
                         uint32_t oid, struct text *bound)
{
    struct text text = driver_boolean(value);
    if (value->form == VALUE_BINARY && !binary_text(checking->arena, oid, value->bytes, &text))
        return wrong_type(checking, value->bytes);
    return check_one(checking, text, bound);
}

static bool check_items(struct checking *checking, const struct array_items *items, uint32_t element,
                        struct text *bound)
{
    struct text *texts = arena_array(checking->arena, items->count, sizeof *texts);
    size_t size = 0;
    for (size_t i = 0; i < items->count; i++) {
        struct text text = items->items[i].text;
        checking->item = i + 1;
        if (items->items[i].is_null)
            return wrong_form(checking, "not be null");
        if (element != 0 && !binary_text(checking->arena, element, text, &text))
            return wrong_type(checking, items->items[i].text);
        if (!check_one(checking, text, &texts[i]))
            return false;
        size += texts[i].size;
        if (size > LIMIT_BIND_BYTES) /* a few binary bytes can be many digits */
            return wrong_form(checking, "be shorter");
    }
    *bound = array_literal(checking->arena, texts, items->count);
    return true;
}

static bool check_count(const struct checking *checking, size_t count)
{
    const struct template_parameter *p = checking->parameter;
    bool is_short = p->min_items >= 0 && count < (size_t)p->min_items;
    int64_t most = p->max_items >= 0 ? p->max_items : LIMIT_TEMPLATE_ITEMS;
    if (!is_short && count <= (size_t)most)
        return true;
    long long limit = is_short ? p->min_items : most;
    return wrong(checking,
                 arena_printf(checking->arena, "have at %s %lld item%s",
                              is_short ? "least" : "most", limit, limit == 1 ? "" : "s"),
                 count > LIMIT_TEMPLATE_ITEMS ? TEXT("more")
                                              : arena_printf(checking->arena, "%zu", count));
}

/* The type in a binary array's head says how its items are read. */
static bool check_array(struct checking *checking, const struct template_value *value, uint32_t oid,
                        struct text *bound)
{
    struct array_items items;
    uint32_t element = 0;
    bool is_binary = value->form == VALUE_BINARY;
    bool understood = is_binary ? binary_items(checking->arena, value->bytes, &element, &items)
                                : array_parse(checking->arena, value->bytes, &items);
    if (!understood)
        return wrong_value(checking, TEXT("be an array of one dimension like {1,2}"), value->bytes);
    if (is_binary && array_type_of(element) != oid)
        return wrong_declaration(checking);
    return check_count(checking, items.count) && check_items(checking, &items, element, bound);
}

static bool check_literal(const struct checking *checking, const struct template_value *value)
{
    const struct template_parameter *p = checking->parameter;
    switch (value->form) {
    case VALUE_LITERAL_NUMBER:
        return !p->array && is_number_type(p->type);
    case VALUE_LITERAL_BOOLEAN:
        return !p->array && p->type == TEMPLATE_BOOLEAN;
    case VALUE_LITERAL_STRING:
    case VALUE_TEXT:
    case VALUE_BINARY:
        return true;
    case VALUE_NULL:
        break;
    }
    return false;
}

static bool check_null(const struct checking *checking, struct text *bound)
{
    *bound = (struct text){0};
    return checking->parameter->nullable ? true : wrong_form(checking, "not be null");
}

bool template_check(struct arena *arena, const struct template_parameter *parameter,
                    const struct template_value *value, struct text *bound, struct text *problem)
{
    struct checking checking = {arena, parameter, 0, problem};
    uint32_t own = template_type_oid(parameter->type, parameter->array);
    uint32_t oid = value->type != 0 ? value->type : own;
    bool is_bound = value->form == VALUE_TEXT || value->form == VALUE_BINARY;
    *problem = TEXT("");
    *bound = TEXT("");
    if (value->form == VALUE_NULL)
        return check_null(&checking, bound);
    if (!check_literal(&checking, value))
        return parameter->array ? wrong_value(&checking, TEXT("be a string in quotes like '{1,2}'"),
                                              value->bytes)
                                : wrong_type(&checking, value->bytes);
    if (is_bound && !check_declared(&checking, oid, value->form == VALUE_BINARY))
        return false;
    bool fine = parameter->array ? check_array(&checking, value, oid, bound)
                                 : check_scalar(&checking, value, oid, bound);
    if (fine)
        *bound = arena_text(arena, *bound);
    return fine;
}
