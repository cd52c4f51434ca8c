/*
 * held_value.c - see held_value.h.
 *
 * The forms are those of PostgreSQL's receive functions. Every byte has to be accounted for: what is left
 * over, a count or a flag that the server would not write, and a type that is not listed are no value.
 * Texts are PostgreSQL's, times in ISO style, times with a zone in UTC.
 */
#include "proxy/session/held_value.h"

#include "proxy/base/buffer.h"
#include "proxy/base/cursor.h"
#include "proxy/base/digest.h"
#include "proxy/base/limits.h"
#include "rules/template_value.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

typedef bool print_function(struct arena *arena, struct cursor *cursor, struct text *text);

static int64_t cursor_i64(struct cursor *cursor)
{
    uint64_t high = cursor_u32(cursor);
    return (int64_t)(high << 32 | cursor_u32(cursor));
}

static bool print_text(struct arena *arena, struct cursor *cursor, struct text *text)
{
    *text = arena_text(arena, cursor_bytes(cursor, cursor_left(cursor)));
    return true;
}

static bool print_oid(struct arena *arena, struct cursor *cursor, struct text *text)
{
    *text = arena_printf(arena, "%" PRIu32, cursor_u32(cursor));
    return true;
}

static bool print_bytea(struct arena *arena, struct cursor *cursor, struct text *text)
{
    struct text bytes = cursor_bytes(cursor, cursor_left(cursor));
    char *digits = arena_allocate(arena, 2 * bytes.size + 3);
    memcpy(digits, "\\x", 2);
    hex_from_bytes(bytes.bytes, bytes.size, digits + 2);
    *text = text_from(digits);
    return true;
}

/* --- numbers that are none ------------------------------------------------------------------------- */

static bool print_special_float(struct arena *arena, bool exponent, bool fraction, bool negative,
                                struct text *text)
{
    (void)arena;
    *text = fraction ? TEXT("NaN") : negative ? TEXT("-Infinity") : TEXT("Infinity");
    return exponent;
}

static bool print_special_float4(struct arena *arena, struct cursor *cursor, struct text *text)
{
    uint32_t bits = cursor_u32(cursor);
    return print_special_float(arena, (bits >> 23 & 0xFF) == 0xFF, (bits & 0x7FFFFF) != 0,
                               bits >> 31 != 0, text);
}

static bool print_special_float8(struct arena *arena, struct cursor *cursor, struct text *text)
{
    uint64_t bits = (uint64_t)cursor_i64(cursor);
    return print_special_float(arena, (bits >> 52 & 0x7FF) == 0x7FF, (bits & 0xFFFFFFFFFFFFF) != 0,
                               bits >> 63 != 0, text);
}

static bool print_special_numeric(struct arena *arena, struct cursor *cursor, struct text *text)
{
    (void)arena;
    uint16_t count = cursor_u16(cursor);
    (void)cursor_u16(cursor); /* weight */
    uint16_t sign = cursor_u16(cursor);
    (void)cursor_u16(cursor); /* scale */
    *text = sign == 0xC000 ? TEXT("NaN") : sign == 0xD000 ? TEXT("Infinity") : TEXT("-Infinity");
    return count == 0 && (sign == 0xC000 || sign == 0xD000 || sign == 0xF000);
}

/* --- times ------------------------------------------------------------------------------------------ */

static bool print_infinite(bool late, bool early, struct text *text)
{
    *text = late ? TEXT("infinity") : TEXT("-infinity");
    return late || early;
}

static bool print_infinite_date(struct arena *arena, struct cursor *cursor, struct text *text)
{
    (void)arena;
    int32_t days = (int32_t)cursor_u32(cursor);
    return print_infinite(days == INT32_MAX, days == INT32_MIN, text);
}

static bool print_infinite_timestamp(struct arena *arena, struct cursor *cursor, struct text *text)
{
    (void)arena;
    int64_t us = cursor_i64(cursor);
    return print_infinite(us == INT64_MAX, us == INT64_MIN, text);
}

static struct text clock_text(struct arena *arena, uint64_t us)
{
    return arena_printf(arena, "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ".%06" PRIu64,
                        us / 3600000000, us / 60000000 % 60, us / 1000000 % 60, us % 1000000);
}

enum { ZONE_SECONDS_MAX = 16 * 3600 };

static bool print_time(struct arena *arena, struct cursor *cursor, struct text *text)
{
    int64_t us = cursor_i64(cursor);
    *text = clock_text(arena, (uint64_t)us);
    return us >= 0 && us <= 86400000000;
}

/* The zone counts seconds to the west. */
static bool print_timetz(struct arena *arena, struct cursor *cursor, struct text *text)
{
    bool fine = print_time(arena, cursor, text);
    int32_t west = (int32_t)cursor_u32(cursor);
    if (!fine || west <= -ZONE_SECONDS_MAX || west >= ZONE_SECONDS_MAX)
        return false;
    int32_t away = west < 0 ? -west : west;
    *text = arena_printf(arena, "%.*s%c%02d:%02d:%02d", TEXT_ARGS(*text), west > 0 ? '-' : '+',
                         away / 3600, away / 60 % 60, away % 60);
    return true;
}

static bool print_interval(struct arena *arena, struct cursor *cursor, struct text *text)
{
    int64_t us = cursor_i64(cursor);
    int32_t days = (int32_t)cursor_u32(cursor), months = (int32_t)cursor_u32(cursor);
    uint64_t length = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;
    *text = arena_printf(arena, "%" PRId32 " mons %" PRId32 " days %s%.*s", months, days,
                         us < 0 ? "-" : "", TEXT_ARGS(clock_text(arena, length)));
    return true;
}

/* --- addresses and bits ----------------------------------------------------------------------------- */

/* Family, length of the mask, whether it is a cidr, number of bytes, bytes. */
static bool print_inet(struct arena *arena, struct cursor *cursor, struct text *text)
{
    enum { FAMILY_4 = 2, FAMILY_6 = 3 };
    uint8_t family = cursor_u8(cursor), bits = cursor_u8(cursor), is_cidr = cursor_u8(cursor);
    uint8_t size = cursor_u8(cursor);
    struct text bytes = cursor_bytes(cursor, size);
    char address[INET6_ADDRSTRLEN];
    if ((family != FAMILY_4 && family != FAMILY_6) || size != (family == FAMILY_4 ? 4 : 16) ||
        bytes.size != size || bits > size * 8 || is_cidr > 1 ||
        inet_ntop(family == FAMILY_4 ? AF_INET : AF_INET6, bytes.bytes, address, sizeof address) == NULL)
        return false;
    *text = is_cidr == 1 || bits < size * 8 ? arena_printf(arena, "%s/%d", address, bits)
                                            : arena_printf(arena, "%s", address);
    return true;
}

static bool print_macaddr(struct arena *arena, struct cursor *cursor, struct text *text)
{
    size_t size = cursor_left(cursor);
    struct text all = TEXT("");
    for (size_t i = 0; i < size && i < 8; i++)
        all = arena_printf(arena, "%.*s%s%02x", TEXT_ARGS(all), i > 0 ? ":" : "", cursor_u8(cursor));
    *text = all;
    return size == 6 || size == 8;
}

static bool print_bits(struct arena *arena, struct cursor *cursor, struct text *text)
{
    uint32_t count = cursor_u32(cursor);
    struct text bytes = cursor_bytes(cursor, cursor_left(cursor));
    if (bytes.size != (count + (uint64_t)7) / 8)
        return false;
    char *digits = arena_allocate(arena, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        digits[i] = (char)('0' + ((unsigned char)bytes.bytes[i / 8] >> (7 - i % 8) & 1));
    *text = (struct text){digits, count};
    return true;
}

/* --- by type ---------------------------------------------------------------------------------------- */

/* Fixed OIDs of PostgreSQL (pg_type.dat), besides those that binary_text() knows. */
static const struct {
    uint32_t type;
    print_function *print;
} printers[] = {
    {17, print_bytea},
    {18, print_text}, /* "char" */
    {19, print_text}, /* name */
    {26, print_oid},
    {142, print_text}, /* xml */
    {650, print_inet}, /* cidr */
    {700, print_special_float4},
    {701, print_special_float8},
    {774, print_macaddr}, /* macaddr8 */
    {829, print_macaddr},
    {869, print_inet},
    {1082, print_infinite_date},
    {1083, print_time},
    {1114, print_infinite_timestamp},
    {1184, print_infinite_timestamp},
    {1186, print_interval},
    {1266, print_timetz},
    {1560, print_bits}, /* bit */
    {1562, print_bits}, /* bit varying */
    {1700, print_special_numeric},
};

static bool scalar_text(struct arena *arena, const struct catalog *catalog, uint32_t oid,
                        struct text bytes, struct text *text)
{
    if (binary_text(arena, oid, bytes, text)) {
        *text = arena_text(arena, *text);
        return true;
    }
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    for (size_t i = 0; i < ARRAY_SIZE(printers); i++)
        if (printers[i].type == oid)
            return printers[i].print(arena, &cursor, text) && cursor_done(&cursor);
    const struct type *type = catalog != NULL ? catalog_type_by_oid(catalog, oid) : NULL;
    return type != NULL && type->kind == 'e' && print_text(arena, &cursor, text);
}

/* A domain's values have the form of its base. */
static uint32_t without_domains(const struct catalog *catalog, uint32_t oid)
{
    enum { NESTING_MAX = 32 };
    for (int depth = 0; catalog != NULL && depth < NESTING_MAX; depth++) {
        const struct type *type = catalog_type_by_oid(catalog, oid);
        if (type == NULL || type->kind != 'd')
            break;
        oid = type->base;
    }
    return oid;
}

/* --- arrays ----------------------------------------------------------------------------------------- */

enum { DIMENSIONS_MAX = 6 }; /* PostgreSQL's */

struct array {
    struct arena *arena;
    const struct catalog *catalog;
    uint32_t element;
    struct cursor cursor;
    struct buffer out;
    uint32_t dimensions;
    uint32_t counts[DIMENSIONS_MAX];
};

static bool is_plain(struct text item)
{
    static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-+.:";
    for (size_t i = 0; i < item.size; i++)
        if (item.bytes[i] == '\0' || strchr(plain, item.bytes[i]) == NULL)
            return false;
    return item.size > 0 && !text_is_ignoring_case(item, "null");
}

static void append_item(struct buffer *out, struct text item)
{
    bool quoted = !is_plain(item);
    if (quoted)
        buffer_append_byte(out, '"');
    for (size_t i = 0; i < item.size; i++) {
        if (item.bytes[i] == '"' || item.bytes[i] == '\\')
            buffer_append_byte(out, '\\');
        buffer_append(out, &item.bytes[i], 1);
    }
    if (quoted)
        buffer_append_byte(out, '"');
}

static bool print_item(struct array *array)
{
    uint32_t size = cursor_u32(&array->cursor);
    struct text text;
    if (size == UINT32_MAX) {
        buffer_append_string(&array->out, "NULL");
        return true;
    }
    if (size > cursor_left(&array->cursor) ||
        !scalar_text(array->arena, array->catalog, without_domains(array->catalog, array->element),
                     cursor_bytes(&array->cursor, size), &text))
        return false;
    append_item(&array->out, text);
    return true;
}

static bool print_dimension(struct array *array, uint32_t dimension)
{
    if (dimension == array->dimensions)
        return print_item(array);
    buffer_append_byte(&array->out, '{');
    for (uint32_t i = 0; i < array->counts[dimension]; i++) {
        if (i > 0)
            buffer_append_byte(&array->out, ',');
        if (!print_dimension(array, dimension + 1))
            return false;
    }
    buffer_append_byte(&array->out, '}');
    return true;
}

/* [0:1]={…} where a dimension does not begin with 1. */
static bool read_dimensions(struct array *array)
{
    struct cursor *cursor = &array->cursor;
    struct text bounds = TEXT("");
    bool shown = false;
    uint64_t items = 1;
    array->dimensions = cursor_u32(cursor);
    uint32_t has_nulls = cursor_u32(cursor), element = cursor_u32(cursor);
    if (array->dimensions > DIMENSIONS_MAX || has_nulls > 1 || element != array->element)
        return false;
    for (uint32_t i = 0; i < array->dimensions; i++) {
        array->counts[i] = cursor_u32(cursor);
        int32_t lower = (int32_t)cursor_u32(cursor);
        items *= array->counts[i];
        if (items > cursor_left(cursor) / 4) /* each has a length of 4 bytes */
            return false;
        shown = shown || lower != 1;
        bounds = arena_printf(array->arena, "%.*s[%" PRId32 ":%" PRId64 "]", TEXT_ARGS(bounds), lower,
                              (int64_t)lower + array->counts[i] - 1);
    }
    if (items == 0) /* drivers send an empty array with a dimension, too */
        array->dimensions = 0;
    else if (shown)
        buffer_printf(&array->out, "%.*s=", TEXT_ARGS(bounds));
    return true;
}

static bool array_text(struct array *array, struct text *text)
{
    buffer_init(&array->out, LIMIT_HELD_BYTES);
    bool fine = read_dimensions(array);
    if (fine && array->dimensions == 0)
        buffer_append_string(&array->out, "{}");
    else
        fine = fine && print_dimension(array, 0);
    *text = arena_text(array->arena, buffer_text(&array->out));
    fine = fine && cursor_done(&array->cursor) && !array->out.overflow;
    buffer_release(&array->out);
    return fine;
}

/* 0: it is no array. */
static uint32_t element_of(const struct catalog *catalog, uint32_t oid)
{
    const struct type *type = catalog != NULL ? catalog_type_by_oid(catalog, oid) : NULL;
    return type != NULL && type->is_array ? type->base : 0;
}

bool held_value_text(struct arena *arena, const struct catalog *catalog, uint32_t type,
                     struct text bytes, struct text *text)
{
    type = without_domains(catalog, type);
    struct array array = {.arena = arena,
                          .catalog = catalog,
                          .element = element_of(catalog, type),
                          .cursor = cursor_over(bytes.bytes, bytes.size)};
    return array.element != 0 ? array_text(&array, text)
                              : scalar_text(arena, catalog, type, bytes, text);
}
