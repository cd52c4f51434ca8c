/*
 * template_binary.c - the binary forms in which drivers send parameters, as the text that says the same.
 *
 * One row for each type that a template takes. Bytes that are left over, digits out of range, infinity
 * and NaN are no value. Of a float the shortest text is taken that reads back as it.
 */
#include "rules/template_value.h"

#include "proxy/base/cursor.h"
#include "proxy/base/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* False: not a value. The cursor's end is looked at by the caller. */
typedef bool read_function(struct arena *arena, struct cursor *cursor, struct text *text);

static bool read_int2(struct arena *arena, struct cursor *cursor, struct text *text)
{
    *text = arena_printf(arena, "%d", (int16_t)cursor_u16(cursor));
    return true;
}

static bool read_int4(struct arena *arena, struct cursor *cursor, struct text *text)
{
    *text = arena_printf(arena, "%d", (int32_t)cursor_u32(cursor));
    return true;
}

static int64_t cursor_i64(struct cursor *cursor)
{
    uint64_t high = cursor_u32(cursor);
    return (int64_t)(high << 32 | cursor_u32(cursor));
}

static bool read_int8(struct arena *arena, struct cursor *cursor, struct text *text)
{
    *text = arena_printf(arena, "%lld", (long long)cursor_i64(cursor));
    return true;
}

static bool read_float4(struct arena *arena, struct cursor *cursor, struct text *text)
{
    union {
        uint32_t bits;
        float value;
    } number = {.bits = cursor_u32(cursor)};
    char digits[32];
    for (int precision = 6; precision <= 9; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, (double)number.value);
        if (strtof(digits, NULL) == number.value)
            break;
    }
    *text = arena_text(arena, text_from(digits));
    return isfinite(number.value);
}

static bool read_float8(struct arena *arena, struct cursor *cursor, struct text *text)
{
    union {
        int64_t bits;
        double value;
    } number = {.bits = cursor_i64(cursor)};
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number.value);
        if (strtod(digits, NULL) == number.value)
            break;
    }
    *text = arena_text(arena, text_from(digits));
    return isfinite(number.value);
}

/* --- numeric: digits to the base 10000, the first of weight 10000^weight -------------------------- */

enum { BASE_DIGITS = 4, SIGN_NEGATIVE = 0x4000, SCALE_MAX = 16383 };

struct numeric {
    const uint16_t *digits;
    int count, weight, scale;
};

static unsigned numeric_digit(const struct numeric *numeric, int weight)
{
    int at = numeric->weight - weight;
    return at >= 0 && at < numeric->count ? numeric->digits[at] : 0;
}

static size_t append_digit(char *bytes, size_t size, unsigned digit)
{
    for (unsigned unit = 1000; unit > 0; unit /= 10)
        bytes[size++] = (char)('0' + digit / unit % 10);
    return size;
}

/* Digits behind the scale would be cut off by the server. */
static bool is_zero_behind(const char *bytes, size_t from, size_t size)
{
    for (size_t i = from; i < size; i++)
        if (bytes[i] != '0')
            return false;
    return true;
}

static bool print_numeric(struct arena *arena, const struct numeric *numeric, bool negative,
                          struct text *text)
{
    int top = numeric->weight > 0 ? numeric->weight : 0;
    int last = numeric->weight - numeric->count + 1;
    int bottom = -(numeric->scale + BASE_DIGITS - 1) / BASE_DIGITS;
    bottom = last < bottom ? last : bottom;
    size_t groups = (size_t)(top - (bottom < 0 ? bottom : 0) + 1);
    char *bytes = arena_allocate(arena, groups * BASE_DIGITS);
    size_t size = 0;
    for (int weight = top; weight >= 0; weight--)
        size = append_digit(bytes, size, numeric_digit(numeric, weight));
    size_t whole = size;
    for (int weight = -1; weight >= bottom; weight--)
        size = append_digit(bytes, size, numeric_digit(numeric, weight));
    size_t first = 0;
    while (first + 1 < whole && bytes[first] == '0')
        first++;
    *text = arena_printf(arena, "%s%.*s%s%.*s", negative ? "-" : "", (int)(whole - first),
                         bytes + first, numeric->scale > 0 ? "." : "", numeric->scale,
                         bytes + whole);
    return is_zero_behind(bytes, whole + (size_t)numeric->scale, size);
}

static bool read_numeric(struct arena *arena, struct cursor *cursor, struct text *text)
{
    struct numeric numeric = {.count = cursor_u16(cursor)};
    numeric.weight = (int16_t)cursor_u16(cursor);
    unsigned sign = cursor_u16(cursor);
    numeric.scale = cursor_u16(cursor);
    if ((sign != 0 && sign != SIGN_NEGATIVE) || numeric.scale > SCALE_MAX ||
        cursor_left(cursor) != (size_t)numeric.count * 2)
        return false;
    uint16_t *digits = arena_array(arena, (size_t)numeric.count, sizeof *digits);
    for (int i = 0; i < numeric.count; i++) {
        digits[i] = cursor_u16(cursor);
        if (digits[i] > 9999)
            return false;
    }
    numeric.digits = digits;
    return print_numeric(arena, &numeric, sign != 0, text);
}

/* --- others --------------------------------------------------------------------------------------- */

static bool read_boolean(struct arena *arena, struct cursor *cursor, struct text *text)
{
    (void)arena;
    uint8_t value = cursor_u8(cursor);
    *text = value == 1 ? TEXT("true") : TEXT("false");
    return value <= 1;
}

static bool read_date(struct arena *arena, struct cursor *cursor, struct text *text)
{
    return date_from_days(arena, (int32_t)cursor_u32(cursor), text);
}

static bool read_timestamp(struct arena *arena, struct cursor *cursor, struct text *text)
{
    return timestamp_from_us(arena, cursor_i64(cursor), false, text);
}

static bool read_timestamptz(struct arena *arena, struct cursor *cursor, struct text *text)
{
    return timestamp_from_us(arena, cursor_i64(cursor), true, text);
}

static bool read_uuid(struct arena *arena, struct cursor *cursor, struct text *text)
{
    unsigned char b[16];
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = cursor_u8(cursor);
    *text = arena_printf(
        arena, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
        b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    return true;
}

static bool read_text(struct arena *arena, struct cursor *cursor, struct text *text)
{
    (void)arena;
    *text = cursor_bytes(cursor, cursor_left(cursor));
    return true;
}

/* The text behind the version of the format. */
static bool read_jsonb(struct arena *arena, struct cursor *cursor, struct text *text)
{
    return cursor_u8(cursor) == 1 && read_text(arena, cursor, text);
}

static const struct {
    uint32_t oid, array_oid;
    enum type_family family;
    read_function *read;
} types[] = {
    {25, 1009, FAMILY_TEXT, read_text},      /* text */
    {1043, 1015, FAMILY_TEXT, read_text},    /* varchar */
    {1042, 1014, FAMILY_TEXT, read_text},    /* bpchar */
    {705, 0, FAMILY_TEXT, read_text},        /* unknown */
    {21, 1005, FAMILY_INTEGER, read_int2},   /* int2 */
    {23, 1007, FAMILY_INTEGER, read_int4},   /* int4 */
    {20, 1016, FAMILY_INTEGER, read_int8},   /* int8 */
    {700, 1021, FAMILY_FLOAT, read_float4},  /* float4 */
    {701, 1022, FAMILY_FLOAT, read_float8},  /* float8 */
    {1700, 1231, FAMILY_NUMERIC, read_numeric},
    {16, 1000, FAMILY_BOOLEAN, read_boolean},
    {1082, 1182, FAMILY_DATE, read_date},
    {1114, 1115, FAMILY_TIMESTAMP, read_timestamp},
    {1184, 1185, FAMILY_TIMESTAMPTZ, read_timestamptz},
    {2950, 2951, FAMILY_UUID, read_uuid},
    {114, 199, FAMILY_JSON, read_text},      /* json */
    {3802, 3807, FAMILY_JSON, read_jsonb},
};

enum type_family type_family(uint32_t oid, bool *array)
{
    *array = false;
    for (size_t i = 0; oid != 0 && i < ARRAY_SIZE(types); i++)
        if (types[i].oid == oid || types[i].array_oid == oid) {
            *array = types[i].array_oid == oid;
            return types[i].family;
        }
    return FAMILY_UNKNOWN;
}

uint32_t array_type_of(uint32_t element)
{
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (types[i].oid == element)
            return types[i].array_oid;
    return 0;
}

bool binary_text(struct arena *arena, uint32_t oid, struct text bytes, struct text *text)
{
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (types[i].oid == oid)
            return types[i].read(arena, &cursor, text) && cursor_done(&cursor);
    return false;
}

/* Number of dimensions, a flag for NULLs, the type, and for each dimension size and lower bound. */
bool binary_items(struct arena *arena, struct text bytes, uint32_t *element,
                  struct array_items *items)
{
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    *items = (struct array_items){0};
    uint32_t dimensions = cursor_u32(&cursor);
    (void)cursor_u32(&cursor);
    *element = cursor_u32(&cursor);
    if (dimensions == 0)
        return cursor_done(&cursor);
    uint32_t count = cursor_u32(&cursor), lower_bound = cursor_u32(&cursor);
    if (dimensions != 1 || lower_bound != 1 || count > cursor_left(&cursor) / 4)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (i > LIMIT_TEMPLATE_ITEMS)
            return true;
        struct array_item *item = arena_push(arena, (void **)&items->items, &items->count,
                                             &items->capacity, sizeof *item);
        uint32_t size = cursor_u32(&cursor);
        item->is_null = size == UINT32_MAX;
        if (!item->is_null)
            item->text = cursor_bytes(&cursor, size);
    }
    return cursor_done(&cursor);
}
