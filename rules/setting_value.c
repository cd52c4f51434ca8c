/* setting_value.c - see setting_value.h; what is not understood compares as different. */
#include "rules/setting_value.h"

#include <string.h>
#include <strings.h>

enum { SCHEMA_BYTES_MAX = 256 };

static const struct {
    const char *name;
    int64_t ms;
} units[] = {
    {"", 1},         {"ms", 1},          {"s", 1000},
    {"min", 60000},  {"h", 3600 * 1000}, {"d", 24 * 3600 * 1000},
};

static bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

static struct text trim(struct text value)
{
    while (value.size > 0 && is_space(value.bytes[0]))
        value = (struct text){value.bytes + 1, value.size - 1};
    while (value.size > 0 && is_space(value.bytes[value.size - 1]))
        value.size--;
    return value;
}

static size_t count_digits(struct text value)
{
    size_t digits = 0;
    while (digits < value.size && value.bytes[digits] >= '0' && value.bytes[digits] <= '9')
        digits++;
    return digits;
}

bool setting_timeout_ms(struct text value, int64_t *ms)
{
    value = trim(value);
    size_t digits = count_digits(value);
    int64_t number;
    if (!text_to_int64((struct text){value.bytes, digits}, &number))
        return false;
    if (digits > 1 && value.bytes[0] == '0') /* the server would read it as octal */
        return false;
    struct text unit = trim((struct text){value.bytes + digits, value.size - digits});
    if (text_is(unit, "us")) {
        *ms = number / 1000;
        return number % 1000 == 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (text_is(unit, units[i].name))
            return !__builtin_mul_overflow(number, units[i].ms, ms) && *ms <= INT32_MAX;
    return false;
}

static bool is_abbreviation(struct text value, const char *word, size_t size_min)
{
    return value.size >= size_min && value.size <= strlen(word) &&
           strncasecmp(value.bytes, word, value.size) == 0;
}

bool setting_boolean(struct text value, bool *boolean)
{
    value = trim(value);
    *boolean = is_abbreviation(value, "true", 1) || is_abbreviation(value, "yes", 1) ||
               is_abbreviation(value, "on", 2) || text_is(value, "1");
    return *boolean || is_abbreviation(value, "false", 1) || is_abbreviation(value, "no", 1) ||
           is_abbreviation(value, "off", 2) || text_is(value, "0");
}

/* The next item of a list at commas, without the spaces around it. */
static bool next_item(struct text *rest, struct text *item)
{
    if (rest->bytes == NULL)
        return false;
    const char *comma = rest->size > 0 ? memchr(rest->bytes, ',', rest->size) : NULL;
    size_t size = comma != NULL ? (size_t)(comma - rest->bytes) : rest->size;
    *item = trim((struct text){rest->bytes, size});
    *rest = comma != NULL ? (struct text){comma + 1, rest->size - size - 1} : (struct text){NULL, 0};
    return true;
}

static bool lists_equal(struct text a, struct text b)
{
    struct text left, right;
    bool more;
    do {
        more = next_item(&a, &left);
        if (more != next_item(&b, &right) || (more && !text_equal(left, right)))
            return false;
    } while (more);
    return true;
}

static bool booleans_equal(struct text a, struct text b)
{
    bool left, right;
    return setting_boolean(a, &left) && setting_boolean(b, &right) && left == right;
}

static bool timeouts_equal(struct text a, struct text b)
{
    int64_t left, right;
    return setting_timeout_ms(a, &left) && setting_timeout_ms(b, &right) && left == right;
}

static const struct {
    const char *name;
    bool (*equal)(struct text, struct text);
} typed[] = {
    {"array_nulls", booleans_equal},
    {"datestyle", lists_equal},
    {"default_transaction_deferrable", booleans_equal},
    {"default_transaction_read_only", booleans_equal},
    {"escape_string_warning", booleans_equal},
    {"idle_in_transaction_session_timeout", timeouts_equal},
    {"idle_session_timeout", timeouts_equal},
    {"jit", booleans_equal},
    {"lock_timeout", timeouts_equal},
    {"row_security", booleans_equal},
    {"standard_conforming_strings", booleans_equal},
    {"statement_timeout", timeouts_equal},
    {"transaction_read_only", booleans_equal},
    {"transform_null_equals", booleans_equal},
};

bool setting_values_equal(struct text name, struct text a, struct text b)
{
    if (text_equal(a, b))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(typed); i++)
        if (text_is(name, typed[i].name))
            return typed[i].equal(a, b);
    return false;
}

/* The next name of a list of identifiers, as the server splits it: unquoted ones fold to lower case.
 * False where none can be read. */
static bool next_identifier(struct text *rest, char *name, size_t *size)
{
    *rest = trim(*rest);
    bool quoted = rest->size > 0 && rest->bytes[0] == '"', closed = !quoted;
    size_t at = quoted ? 1 : 0;
    for (*size = 0; at < rest->size && *size < SCHEMA_BYTES_MAX; at++) {
        char byte = rest->bytes[at];
        if (quoted && byte == '"' && (at + 1 == rest->size || rest->bytes[at + 1] != '"')) {
            closed = true;
            at++;
            break;
        }
        if (quoted && byte == '"')
            at++;
        if (!quoted && (byte == ',' || byte == '"' || is_space(byte)))
            break;
        name[(*size)++] =
            !quoted && byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
    }
    *rest = trim((struct text){rest->bytes + at, rest->size - at});
    return closed && *size > 0;
}

bool setting_is_search_path(struct text value, const struct text *schemas, size_t count)
{
    struct text rest = trim(value);
    char name[SCHEMA_BYTES_MAX];
    size_t size;
    if (count == 0)
        return rest.size == 0 || text_is(rest, "\"\"");
    for (size_t i = 0; i < count; i++) {
        if (!next_identifier(&rest, name, &size) ||
            !text_equal((struct text){name, size}, schemas[i]))
            return false;
        if (i + 1 < count && (rest.size == 0 || rest.bytes[0] != ','))
            return false;
        if (i + 1 < count)
            rest = (struct text){rest.bytes + 1, rest.size - 1};
    }
    return rest.size == 0;
}

struct text setting_search_path(struct arena *arena, const struct text *schemas, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += 2 * schemas[i].size + 4;
    char *list = arena_allocate(arena, size + 1);
    size = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            list[size++] = ',';
            list[size++] = ' ';
        }
        list[size++] = '"';
        for (size_t j = 0; j < schemas[i].size; j++) {
            if (schemas[i].bytes[j] == '"')
                list[size++] = '"';
            list[size++] = schemas[i].bytes[j];
        }
        list[size++] = '"';
    }
    return (struct text){list, size};
}

struct text setting_lower_case(struct arena *arena, struct text name)
{
    char *lower = arena_allocate(arena, name.size + 1);
    for (size_t i = 0; i < name.size; i++) {
        char byte = name.bytes[i];
        lower[i] = byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
    }
    return (struct text){lower, name.size};
}
