/* base64.c - see base64.h. Decoding accepts one spelling of each value only. */
#include "proxy/base/base64.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(const void *bytes, size_t size, char *text)
{
    const uint8_t *in = bytes;
    size_t out = 0;
    for (size_t at = 0; at < size; at += 3) {
        size_t left = size - at;
        uint32_t group = (uint32_t)in[at] << 16;
        group |= left > 1 ? (uint32_t)in[at + 1] << 8 : 0;
        group |= left > 2 ? in[at + 2] : 0U;
        text[out++] = alphabet[group >> 18];
        text[out++] = alphabet[group >> 12 & 63];
        text[out++] = left > 1 ? alphabet[group >> 6 & 63] : '=';
        text[out++] = left > 2 ? alphabet[group & 63] : '=';
    }
    text[out] = '\0';
    return out;
}

/* 0 to 63, or -1. */
static int value_of(char character)
{
    const char *found = character != '\0' ? strchr(alphabet, character) : NULL;
    return found != NULL ? (int)(found - alphabet) : -1;
}

static size_t padding_of(struct text text)
{
    if (text.size == 0 || text.bytes[text.size - 1] != '=')
        return 0;
    return text.bytes[text.size - 2] == '=' ? 2 : 1;
}

bool base64_decode(struct text text, uint8_t *bytes, size_t size_max, size_t *size)
{
    if (text.size % 4 != 0)
        return false;
    size_t padding = padding_of(text);
    *size = text.size / 4 * 3 - padding;
    if (*size > size_max)
        return false;
    uint32_t bits = 0;
    size_t out = 0;
    for (size_t i = 0; i < text.size - padding; i++) {
        int value = value_of(text.bytes[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0)
            bytes[out++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    /* The last character's bits below the last byte must be zero. */
    uint32_t spare = padding == 2 ? 0x0F : padding == 1 ? 0x03 : 0;
    return (bits & spare) == 0;
}
