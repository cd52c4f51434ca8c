/*
 * conninfo.c - what libpq is told to connect with.
 *
 * The texts of libpq's own parse errors are not passed on: they quote pieces of the connection
 * string, a password among them.
 */
#include "proxy/upstream/conninfo.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the startup packet holds beside `options`: user, database, application_name, and libpq's
 * own. */
enum { STARTUP_BYTES_BESIDE_OPTIONS = 1000 };

static void set_keyword(struct conninfo *info, const char *keyword, const char *value)
{
    size_t at = 0;
    while (at < info->count && strcmp(info->keywords[at], keyword) != 0)
        at++;
    INVARIANT(at + 1 < CONNINFO_KEYWORDS_MAX);
    info->keywords[at] = keyword;
    info->values[at] = value;
    if (at == info->count)
        info->count++;
}

static const char *find_keyword(const struct conninfo *info, const char *keyword)
{
    for (size_t i = 0; i < info->count; i++)
        if (strcmp(info->keywords[i], keyword) == 0)
            return info->values[i];
    return NULL;
}

void conninfo_default(struct conninfo *info, const char *keyword, const char *value)
{
    if (find_keyword(info, keyword) == NULL)
        set_keyword(info, keyword, value);
}

static bool parse(struct conninfo *info, const char *connection_string, char *problem,
                  size_t problem_size)
{
    char *libpq_error = NULL;
    PQconninfoOption *options = PQconninfoParse(connection_string, &libpq_error);
    PQfreemem(libpq_error);
    if (options == NULL) {
        snprintf(
            problem, problem_size,
            "the connection string is not valid: an unknown keyword, a keyword without '=', or "
            "a value with a space that is not quoted");
        return false;
    }
    info->parsed = options;
    for (const PQconninfoOption *option = options; option->keyword != NULL; option++)
        if (option->val != NULL)
            set_keyword(info, option->keyword, option->val);
    if (find_keyword(info, "replication") != NULL) {
        snprintf(problem, problem_size, "the connection string must not ask for replication");
        return false;
    }
    return true;
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_setting_name(struct text name)
{
    if (name.size == 0 || name.size > 255 || !is_letter(name.bytes[0]))
        return false;
    for (size_t i = 1; i < name.size; i++)
        if (!is_letter(name.bytes[i]) && !is_digit(name.bytes[i]) && name.bytes[i] != '.')
            return false;
    return true;
}

/* The server splits `options` at what its locale calls white space, which may be a byte of a UTF-8
 * character; a backslash takes that meaning from any byte. */
static void append_escaped(struct buffer *out, struct text text)
{
    for (size_t i = 0; i < text.size; i++) {
        char byte = text.bytes[i];
        if (!is_letter(byte) && !is_digit(byte))
            buffer_append_byte(out, '\\');
        buffer_append_byte(out, (uint8_t)byte);
    }
}

static void append_setting(struct buffer *options, const struct upstream_parameter *setting)
{
    buffer_append_string(options, options->size > 0 ? " -c " : "-c ");
    buffer_append_text(options, setting->name);
    buffer_append_byte(options, '=');
    append_escaped(options, setting->value);
}

static char *copy_text(struct text text)
{
    char *copy = memory_allocate(text.size + 1);
    if (text.size > 0)
        memcpy(copy, text.bytes, text.size);
    copy[text.size] = '\0';
    return copy;
}

static bool add_setting(struct conninfo *info, const struct upstream_parameter *setting,
                        char *problem, size_t problem_size)
{
    if (!is_setting_name(setting->name) || text_has_byte(setting->value, '\0')) {
        snprintf(problem, problem_size, "setting \"%.*s\" has no valid name or value",
                 TEXT_ARGS(text_cut(setting->name, 63)));
        return false;
    }
    if (text_is_ignoring_case(setting->name, "client_encoding")) {
        if (text_is_ignoring_case(setting->value, "utf8") ||
            text_is_ignoring_case(setting->value, "utf-8"))
            return true;
        snprintf(problem, problem_size, "client_encoding can only be UTF8");
        return false;
    }
    if (text_is_ignoring_case(setting->name, "application_name")) {
        free(info->application_name);
        info->application_name = copy_text(setting->value);
    } else {
        append_setting(&info->options, setting);
    }
    return true;
}

bool conninfo_build(struct conninfo *info, const char *connection_string,
                    const struct upstream_parameter *settings, size_t setting_count, char *problem,
                    size_t problem_size)
{
    *info = (struct conninfo){0};
    buffer_init(&info->options, LIMIT_STARTUP_BYTES - STARTUP_BYTES_BESIDE_OPTIONS);
    if (!parse(info, connection_string, problem, problem_size))
        return false;
    const char *own_options = find_keyword(info, "options");
    buffer_append_string(&info->options, own_options != NULL ? own_options : "");
    for (size_t i = 0; i < setting_count; i++)
        if (!add_setting(info, &settings[i], problem, problem_size))
            return false;
    if (info->options.overflow) {
        snprintf(problem, problem_size, "the settings are longer than a startup packet may be");
        return false;
    }
    /* Set even when empty, or libpq would take PGOPTIONS from the environment. */
    set_keyword(info, "options", buffer_string(&info->options));
    if (info->application_name != NULL)
        set_keyword(info, "application_name", info->application_name);
    set_keyword(info, "client_encoding", "UTF8");
    set_keyword(info, "gssencmode", "disable");
    /* A host that has gone away must not hold a session for the two hours of the system's default.
     */
    conninfo_default(info, "keepalives_idle", "30");
    conninfo_default(info, "keepalives_interval", "10");
    conninfo_default(info, "keepalives_count", "3");
    conninfo_default(info, "tcp_user_timeout", "60000");
    return true;
}

void conninfo_release(struct conninfo *info)
{
    PQconninfoFree(info->parsed);
    free(info->application_name);
    buffer_release(&info->options);
    *info = (struct conninfo){0};
}
