/* http.c - see http.h. A wrong header, path or query is false; nothing is cut or repaired. */
#include "proxy/review/http.h"

#include "proxy/base/base64.h"
#include "proxy/base/digest.h"
#include "proxy/base/unicode.h"

#include <openssl/crypto.h>
#include <string.h>

static struct text rest_from(struct text text, size_t at)
{
    return (struct text){text.bytes + at, text.size - at};
}

static size_t find_byte(struct text text, char byte)
{
    const char *found = text.size > 0 ? memchr(text.bytes, byte, text.size) : NULL;
    return found != NULL ? (size_t)(found - text.bytes) : text.size;
}

static bool is_plain(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.bytes[i] < 0x20 || text.bytes[i] == 0x7F)
            return false;
    return text.size > 0 && utf8_valid(text);
}

bool credentials_parse(struct text header, struct credentials *credentials)
{
    static const struct text empty = {"", 0};
    credentials->name = empty;
    credentials->password = empty;
    struct text scheme = {header.bytes, find_byte(header, ' ')};
    if (!text_is_ignoring_case(scheme, "Basic") || scheme.size == header.size)
        return false;
    struct text encoded = rest_from(header, scheme.size + 1);
    size_t size;
    if (!base64_decode(encoded, credentials->memory, sizeof credentials->memory, &size))
        return false;
    struct text both = {(const char *)credentials->memory, size};
    size_t colon = find_byte(both, ':');
    if (colon == both.size)
        return false;
    credentials->name = (struct text){both.bytes, colon};
    credentials->password = rest_from(both, colon + 1);
    return is_plain(credentials->name) && is_plain(credentials->password);
}

bool credentials_set(struct text name, struct text password, struct credentials *credentials,
                     struct text *sent)
{
    static const struct text empty = {"", 0};
    credentials->name = credentials->password = *sent = empty;
    if (!is_plain(name) || !is_plain(password) || text_has_byte(name, ':') ||
        name.size + password.size + 1 > CREDENTIALS_MAX)
        return false;
    char *memory = (char *)credentials->memory;
    memcpy(memory, name.bytes, name.size);
    memory[name.size] = ':';
    memcpy(memory + name.size + 1, password.bytes, password.size);
    credentials->name = (struct text){memory, name.size};
    credentials->password = (struct text){memory + name.size + 1, password.size};
    *sent = (struct text){memory, name.size + 1 + password.size};
    return true;
}

void credentials_wipe(struct credentials *credentials)
{
    OPENSSL_cleanse(credentials, sizeof *credentials);
}

bool path_matches(struct text path, const char *pattern, struct text *argument)
{
    struct text rest = path;
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == ':') {
            *argument = (struct text){rest.bytes, find_byte(rest, '/')};
            if (argument->size == 0)
                return false;
            rest = rest_from(rest, argument->size);
        } else {
            if (rest.size == 0 || rest.bytes[0] != *pattern)
                return false;
            rest = rest_from(rest, 1);
        }
    }
    return rest.size == 0;
}

/* -1: not a hexadecimal digit. */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte of two hexadecimal digits at the front; -1: there are none. */
static int hex_byte(struct text text)
{
    if (text.size < 2)
        return -1;
    int high = hex_digit(text.bytes[0]);
    int low = hex_digit(text.bytes[1]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool percent_decode(struct arena *arena, struct text encoded, struct text *decoded)
{
    char *bytes = arena_allocate(arena, encoded.size + 1);
    size_t size = 0;
    for (size_t at = 0; at < encoded.size; at++) {
        int byte = (unsigned char)encoded.bytes[at];
        if (byte == '%') {
            byte = hex_byte(rest_from(encoded, at + 1));
            at += 2;
        }
        if (byte < 0)
            return false;
        bytes[size++] = (char)byte;
    }
    *decoded = (struct text){bytes, size};
    return utf8_valid(*decoded);
}

bool number_parse(struct text text, int64_t *number)
{
    return text.size > 0 && text.bytes[0] >= '1' && text.bytes[0] <= '9' &&
           text_to_int64(text, number);
}

bool digest_parse(struct text text, uint8_t *digest)
{
    if (text.size != SHA256_SIZE * 2)
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        int byte = hex_byte(rest_from(text, i * 2));
        if (byte < 0)
            return false;
        digest[i] = (uint8_t)byte;
    }
    return true;
}

int query_next(struct arena *arena, struct text *query, struct text *name, struct text *value)
{
    if (query->size == 0)
        return 0;
    struct text pair = {query->bytes, find_byte(*query, '&')};
    *query = rest_from(*query, pair.size < query->size ? pair.size + 1 : pair.size);
    struct text raw_name = {pair.bytes, find_byte(pair, '=')};
    struct text raw_value =
        rest_from(pair, raw_name.size < pair.size ? raw_name.size + 1 : raw_name.size);
    if (!percent_decode(arena, raw_name, name) || !percent_decode(arena, raw_value, value))
        return -1;
    return 1;
}

bool content_type_is_json(struct text header)
{
    struct text type = {header.bytes, find_byte(header, ';')};
    while (type.size > 0 && type.bytes[type.size - 1] == ' ')
        type.size--;
    return text_is_ignoring_case(type, "application/json");
}
