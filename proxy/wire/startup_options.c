/*
 * startup_options.c - the `options` startup parameter: the server's command line, of which only
 * settings are understood. Everything else in it makes startup_options false.
 */
#include "proxy/wire/startup.h"

#include <string.h>

/* isspace() of the C locale. */
static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Takes one word off the front, its backslashes resolved; false when only spaces are left. */
static bool next_word(struct arena *arena, struct text *rest, struct text *word)
{
    size_t at = 0;
    while (at < rest->size && is_space(rest->bytes[at]))
        at++;
    if (at == rest->size)
        return false;
    char *bytes = arena_allocate(arena, rest->size - at + 1);
    size_t size = 0;
    for (; at < rest->size && !is_space(rest->bytes[at]); at++) {
        if (rest->bytes[at] == '\\' && ++at == rest->size)
            break;
        bytes[size++] = rest->bytes[at];
    }
    *rest = (struct text){rest->bytes + at, rest->size - at};
    *word = (struct text){bytes, size};
    return true;
}

/* "name=value"; as everywhere on the server's command line, '-' in a name stands for '_'. */
static bool split_setting(struct arena *arena, struct text word, struct startup_parameter *setting)
{
    const char *equals = word.size > 0 ? memchr(word.bytes, '=', word.size) : NULL;
    if (equals == NULL || equals == word.bytes)
        return false;
    size_t name_size = (size_t)(equals - word.bytes);
    char *name = arena_allocate(arena, name_size + 1);
    for (size_t i = 0; i < name_size; i++)
        name[i] = word.bytes[i] == '-' ? '_' : word.bytes[i];
    setting->name = (struct text){name, name_size};
    setting->value = (struct text){equals + 1, word.size - name_size - 1};
    return true;
}

/* "-c a=b", "-ca=b" and "--a=b". */
static bool read_setting(struct arena *arena, struct text *rest, struct text word,
                         struct startup_parameter *setting)
{
    if (!text_starts_with(word, "-c") && !text_starts_with(word, "--"))
        return false;
    struct text assignment = {word.bytes + 2, word.size - 2};
    if (text_is(word, "-c") && !next_word(arena, rest, &assignment))
        return false;
    return split_setting(arena, assignment, setting);
}

bool startup_options(struct arena *arena, struct text options, struct startup_parameter *settings,
                     size_t settings_max, size_t *count)
{
    *count = 0;
    struct text word;
    while (next_word(arena, &options, &word)) {
        struct startup_parameter setting;
        if (*count == settings_max || !read_setting(arena, &options, word, &setting))
            return false;
        settings[(*count)++] = setting;
    }
    return true;
}
