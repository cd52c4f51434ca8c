/* words.c - see words.h. Nothing fails; a time beyond the calendar is shown as its beginning. */
#include "proxy/review/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static const int64_t second_us = 1000000;

static const struct unit {
    int64_t seconds;
    const char *one;
    const char *many;
    const char *brief;
} units[] = {
    {86400, "day", "days", "days"},
    {3600, "hour", "hours", "h"},
    {60, "minute", "minutes", "min"},
    {1, "second", "seconds", "s"},
};

struct text number_words(struct arena *arena, int64_t number)
{
    char digits[24];
    char out[32];
    int size = snprintf(digits, sizeof digits, "%" PRId64, number);
    size_t at = 0;
    for (int i = 0; i < size; i++) {
        bool separates = i > 0 && (size - i) % 3 == 0 && digits[i - 1] != '-';
        if (separates)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    return arena_text(arena, (struct text){out, at});
}

struct text count_words(struct arena *arena, int64_t count, const char *one, const char *many)
{
    return arena_printf(arena, "%.*s %s", TEXT_ARGS(number_words(arena, count)),
                        count == 1 ? one : many);
}

struct text rows_words(struct arena *arena, int64_t rows)
{
    struct text number = rows == 0 ? TEXT("no") : number_words(arena, rows);
    return arena_printf(arena, "%.*s %s", TEXT_ARGS(number), rows == 1 ? "row" : "rows");
}

struct text size_words(struct arena *arena, int64_t bytes)
{
    static const char *const names[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof names / sizeof names[0]) {
        value /= 1024;
        unit++;
    }
    return arena_printf(arena, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, names[unit]);
}

/* As the script of the pages has it: hours and days from two of them on. */
static const struct unit *unit_of(int64_t seconds)
{
    for (size_t i = 0; i + 1 < sizeof units / sizeof units[0]; i++)
        if (seconds >= (units[i].seconds > 60 ? 2 : 1) * units[i].seconds)
            return &units[i];
    return &units[sizeof units / sizeof units[0] - 1];
}

/* The largest that measures it exactly. */
static const struct unit *exact_unit_of(int64_t seconds)
{
    size_t i = 0;
    while (seconds % units[i].seconds != 0)
        i++;
    return &units[i];
}

static struct text brief(struct arena *arena, int64_t seconds, const char *behind)
{
    const struct unit *unit = unit_of(seconds);
    return arena_printf(arena, "%" PRId64 " %s %s", seconds / unit->seconds, unit->brief, behind);
}

struct text left_words(struct arena *arena, struct instant until, struct instant now)
{
    int64_t seconds = (until.us - now.us) / second_us;
    return seconds > 0 ? brief(arena, seconds, "left") : TEXT("no time left");
}

struct text ago_words(struct arena *arena, struct instant then, struct instant now)
{
    int64_t seconds = (now.us - then.us) / second_us;
    return seconds > 0 ? brief(arena, seconds, "ago") : TEXT("just now");
}

struct text span_words(struct arena *arena, int64_t span_us)
{
    int64_t seconds = span_us / second_us;
    const struct unit *unit = exact_unit_of(seconds);
    return count_words(arena, seconds / unit->seconds, unit->one, unit->many);
}

static struct tm parts_of(struct instant instant)
{
    struct tm parts = {0};
    time_t seconds = (time_t)(instant.us / second_us);
    return gmtime_r(&seconds, &parts) != NULL ? parts : (struct tm){0};
}

struct text clock_words(struct arena *arena, struct instant instant)
{
    struct tm parts = parts_of(instant);
    return arena_printf(arena, "%02d:%02d:%02d", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

struct text minute_words(struct arena *arena, struct instant instant)
{
    struct tm parts = parts_of(instant);
    return arena_printf(arena, "%02d:%02d", parts.tm_hour, parts.tm_min);
}

struct text date_words(struct arena *arena, struct instant instant)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm parts = parts_of(instant);
    return arena_printf(arena, "%d %s", parts.tm_mday, months[parts.tm_mon]);
}

struct text machine_time(struct arena *arena, struct instant instant)
{
    struct tm parts = parts_of(instant);
    return arena_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900,
                        parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                        parts.tm_sec);
}

struct text share_words(struct arena *arena, int64_t part, int64_t whole)
{
    double share = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    if (part > 0 && share < 0.01)
        return TEXT("below 0.01 %");
    return arena_printf(arena, "%.*f %%", share >= 10 ? 0 : share >= 1 ? 1 : 2, share);
}
