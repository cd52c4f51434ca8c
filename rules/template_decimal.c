/*
 * template_decimal.c - decimal numbers as they are written, compared digit by digit.
 *
 * A text that is not JSON's number is refused by decimal_parse; everything behind it is exact, and linear
 * in the number of digits.
 */
#include "rules/template_value.h"

/* PostgreSQL's: digits before and behind the point of a numeric. */
enum { NUMERIC_DIGITS_MAX = 131072, NUMERIC_SCALE_MAX = 16383 };

/* Beyond every type's range, and small enough to be added to. */
enum { EXPONENT_MAX = 1000 * 1000 * 1000 };

__extension__ typedef unsigned __int128 uint128;

static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

static size_t digits_from(struct text text, size_t at)
{
    size_t end = at;
    while (end < text.size && is_digit(text.bytes[end]))
        end++;
    return end - at;
}

static bool at_byte(struct text text, size_t at, char byte)
{
    return at < text.size && text.bytes[at] == byte;
}

/* "e+10" at `*at`; none is 0. */
static bool read_exponent(struct text text, size_t *at, int64_t *exponent)
{
    *exponent = 0;
    if (!at_byte(text, *at, 'e') && !at_byte(text, *at, 'E'))
        return true;
    ++*at;
    bool negative = at_byte(text, *at, '-');
    if (negative || at_byte(text, *at, '+'))
        ++*at;
    size_t count = digits_from(text, *at);
    for (size_t i = 0; i < count; i++)
        if (*exponent < EXPONENT_MAX)
            *exponent = *exponent * 10 + (text.bytes[*at + i] - '0');
    if (*exponent > EXPONENT_MAX)
        *exponent = EXPONENT_MAX;
    if (negative)
        *exponent = -*exponent;
    *at += count;
    return count > 0;
}

/* Cuts the zeros at both ends. */
static void normalise(struct decimal *decimal)
{
    struct text *digits = &decimal->digits;
    while (digits->size > 0 && digits->bytes[0] == '0')
        *digits = text_behind(*digits, 1);
    while (digits->size > 0 && digits->bytes[digits->size - 1] == '0') {
        digits->size--;
        decimal->exponent++;
    }
    if (digits->size == 0) {
        decimal->negative = false;
        decimal->exponent = 0;
    }
}

bool decimal_parse(struct arena *arena, struct text text, struct decimal *decimal)
{
    *decimal = (struct decimal){.negative = at_byte(text, 0, '-')};
    size_t at = decimal->negative ? 1 : 0;
    size_t whole_at = at, whole = digits_from(text, at), fraction = 0;
    at += whole;
    if (whole == 0 || (whole > 1 && text.bytes[whole_at] == '0'))
        return false;
    if (at_byte(text, at, '.')) {
        fraction = digits_from(text, at + 1);
        if (fraction == 0)
            return false;
        at += 1 + fraction;
    }
    size_t mantissa_end = at;
    if (!read_exponent(text, &at, &decimal->exponent) || at != text.size)
        return false;
    char *digits = arena_allocate(arena, whole + fraction);
    size_t size = 0;
    for (size_t i = whole_at; i < mantissa_end; i++)
        if (text.bytes[i] != '.')
            digits[size++] = text.bytes[i];
    decimal->digits = (struct text){digits, size};
    decimal->exponent -= (int64_t)fraction;
    decimal->scale = decimal->exponent < 0 ? -decimal->exponent : 0;
    normalise(decimal);
    return true;
}

static int compare_magnitudes(const struct decimal *a, const struct decimal *b)
{
    int64_t top_a = (int64_t)a->digits.size + a->exponent;
    int64_t top_b = (int64_t)b->digits.size + b->exponent;
    if (a->digits.size == 0 || b->digits.size == 0)
        return (a->digits.size > 0) - (b->digits.size > 0);
    if (top_a != top_b)
        return top_a > top_b ? 1 : -1;
    return text_compare(a->digits, b->digits);
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    int order = compare_magnitudes(a, b);
    return a->negative ? -order : order;
}

/* number × 10^exponent, modulo; by squares, so that 1e131071 costs no more than its few bytes. */
static uint64_t times_power_of_ten(uint64_t number, int64_t exponent, uint64_t modulus)
{
    uint64_t square = 10 % modulus;
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0)
            number = (uint64_t)((uint128)number * square % modulus);
        square = (uint64_t)((uint128)square * square % modulus);
    }
    return number;
}

/* The value's digits have no 0 at their end, so no power of ten divides them. */
bool decimal_is_multiple(const struct decimal *value, const struct decimal *of)
{
    int64_t divisor = 0;
    if (value->digits.size == 0)
        return true;
    if (of->digits.size > MULTIPLE_DIGITS_MAX || !text_to_int64(of->digits, &divisor) ||
        divisor == 0 || value->exponent < of->exponent)
        return false;
    uint64_t rest = 0, modulus = (uint64_t)divisor;
    for (size_t i = 0; i < value->digits.size; i++)
        rest = (rest * 10 + (uint64_t)(value->digits.bytes[i] - '0')) % modulus;
    return times_power_of_ten(rest, value->exponent - of->exponent, modulus) == 0;
}

bool decimal_to_integer(struct arena *arena, const struct decimal *decimal, struct text *integer)
{
    enum { DIGITS_MAX = 19 };
    int64_t value;
    if (decimal->digits.size == 0) {
        *integer = TEXT("0");
        return true;
    }
    if (decimal->exponent < 0 || decimal->exponent > DIGITS_MAX ||
        decimal->digits.size + (size_t)decimal->exponent > DIGITS_MAX)
        return false;
    *integer = arena_printf(arena, "%s%.*s%.*s", decimal->negative ? "-" : "",
                            TEXT_ARGS(decimal->digits), (int)decimal->exponent,
                            "0000000000000000000");
    return text_to_int64(*integer, &value);
}

bool decimal_fits_numeric(const struct decimal *decimal)
{
    return decimal->scale <= NUMERIC_SCALE_MAX &&
           (decimal->digits.size == 0 ||
            (int64_t)decimal->digits.size + decimal->exponent <= NUMERIC_DIGITS_MAX);
}
