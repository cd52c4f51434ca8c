/*
 * unicode.c - UTF-8 and the characters that a reader of a statement would not notice.
 *
 * Nothing here fails: bytes that are not UTF-8 have sequence size 0, and each caller says what that
 * means for it.
 */
#include "proxy/base/unicode.h"

#include "proxy/base/invariant.h"
#include "proxy/base/unicode_ranges.h"

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Size that the first byte announces; 0 for a byte that cannot be first. C0, C1 would be overlong,
 * F5 and more lie above U+10FFFF. */
static size_t announced_size(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return 2;
    if (first >= 0xE0 && first <= 0xEF)
        return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

/* The second byte's range is what excludes overlong forms, surrogates and the end of Unicode. */
static bool is_second(uint8_t first, uint8_t second)
{
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return is_continuation(second);
    }
}

size_t utf8_sequence(struct text text)
{
    if (text.size == 0)
        return 0;
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    size_t size = bytes[0] != 0 ? announced_size(bytes[0]) : 0;
    if (size > text.size || (size > 1 && !is_second(bytes[0], bytes[1])))
        return 0;
    for (size_t i = 2; i < size; i++)
        if (!is_continuation(bytes[i]))
            return 0;
    return size;
}

bool utf8_valid(struct text text)
{
    while (text.size > 0) {
        size_t size = utf8_sequence(text);
        if (size == 0)
            return false;
        text.bytes += size;
        text.size -= size;
    }
    return true;
}

size_t utf8_decode(struct text text, uint32_t *code_point)
{
    static const uint8_t first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    size_t size = utf8_sequence(text);
    INVARIANT(size > 0);
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    uint32_t value = bytes[0] & first_bits[size];
    for (size_t i = 1; i < size; i++)
        value = value << 6 | (bytes[i] & 0x3FU);
    *code_point = value;
    return size;
}

size_t utf8_length(struct text text)
{
    size_t length = 0;
    for (size_t i = 0; i < text.size; i++)
        length += !is_continuation((uint8_t)text.bytes[i]);
    return length;
}

/* Everything but combining marks. Sorted. */
static const struct unicode_range invisible[] = {
    {0x0000, 0x001F},      /* control characters */
    {0x007F, 0x00A0},      /* DELETE, C1 control characters, no-break space */
    {0x00AD, 0x00AD},      /* soft hyphen */
    {0x0600, 0x0605},      /* Arabic number signs: format characters */
    {0x061C, 0x061C},      /* Arabic letter mark: bidirectional */
    {0x06DD, 0x06DD},      /* Arabic end of ayah: format */
    {0x070F, 0x070F},      /* Syriac abbreviation mark: format */
    {0x0890, 0x0891},      /* Arabic pound and piastre mark: format */
    {0x08E2, 0x08E2},      /* Arabic disputed end of ayah: format */
    {0x115F, 0x1160},      /* Hangul fillers: blank letters */
    {0x1680, 0x1680},      /* Ogham space */
    {0x180E, 0x180E},      /* Mongolian vowel separator */
    {0x2000, 0x200F},      /* spaces of all widths, zero-width space and joiners, direction marks */
    {0x2028, 0x202F},      /* line and paragraph separator, bidirectional overrides, narrow space */
    {0x205F, 0x206F},      /* mathematical space, word joiner, invisible operators, isolates */
    {0x2800, 0x2800},      /* braille blank */
    {0x3000, 0x3000},      /* ideographic space */
    {0x3164, 0x3164},      /* Hangul filler */
    {0xD800, 0xDFFF},      /* surrogates: not characters */
    {0xE000, 0xF8FF},      /* private use: looks as the font likes */
    {0xFDD0, 0xFDEF},      /* noncharacters */
    {0xFEFF, 0xFEFF},      /* byte order mark, zero-width no-break space */
    {0xFFA0, 0xFFA0},      /* halfwidth Hangul filler */
    {0xFFF0, 0xFFFB},      /* default-ignorable, interlinear annotation */
    {0x110BD, 0x110BD},    /* Kaithi number sign: format */
    {0x110CD, 0x110CD},    /* Kaithi number sign above: format */
    {0x13430, 0x1345F},    /* Egyptian hieroglyph format controls */
    {0x1BCA0, 0x1BCA3},    /* shorthand format controls */
    {0x1D159, 0x1D159},    /* musical null notehead: blank */
    {0x1D173, 0x1D17A},    /* musical format controls */
    {0xE0000, 0xE0FFF},    /* tags, variation selectors, default-ignorable */
    {0xF0000, UINT32_MAX}, /* private use, and beyond Unicode */
};

static bool in_ranges(const struct unicode_range *ranges, size_t count, uint32_t code_point)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code_point > ranges[middle].last)
            low = middle + 1;
        else if (code_point < ranges[middle].first)
            high = middle;
        else
            return true;
    }
    return false;
}

bool unicode_is_invisible(uint32_t code_point)
{
    if (code_point >= 0x20 && code_point < 0x7F)
        return false;
    /* The last two code points of each plane are noncharacters. */
    return (code_point & 0xFFFE) == 0xFFFE ||
           in_ranges(invisible, ARRAY_SIZE(invisible), code_point) ||
           in_ranges(unicode_combining, unicode_combining_count, code_point);
}

void unicode_append_visible(struct buffer *out, struct text text)
{
    while (text.size > 0) {
        uint32_t code_point = 0;
        size_t size = utf8_sequence(text);
        if (size > 0)
            utf8_decode(text, &code_point);
        if (size == 0)
            buffer_printf(out, "\\x%02X", (unsigned)(uint8_t)text.bytes[0]);
        else if (unicode_is_invisible(code_point))
            buffer_printf(out, "\\u{%X}", (unsigned)code_point);
        else
            buffer_append(out, text.bytes, size);
        size += size == 0;
        text.bytes += size;
        text.size -= size;
    }
}
