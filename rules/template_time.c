/*
 * template_time.c - dates and times of RFC 3339, and PostgreSQL's binary ones.
 *
 * What is not a date of the calendar, or would be rounded by the server, is refused: leap seconds, hour
 * 24, a seventh digit of a second, an offset beyond the server's.
 */
#include "rules/template_value.h"

enum { YEAR_MAX = 9999, OFFSET_HOUR_MAX = 15, EPOCH_YEAR = 2000, FRACTION_DIGITS_MAX = 6 };

#define DAY_US (24 * 3600 * 1000000LL)

struct calendar_date {
    int64_t year, month, day;
};

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_of_month(int64_t year, int64_t month)
{
    static const int64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* From 0001-01-01 to January 1st of the year. */
static int64_t days_before(int64_t year)
{
    int64_t past = year - 1;
    return past * 365 + past / 4 - past / 100 + past / 400;
}

/* `count` digits at *at. */
static bool read_digits(struct text text, size_t *at, size_t count, int64_t *value)
{
    *value = 0;
    if (text.size - *at < count)
        return false;
    for (size_t end = *at + count; *at < end; ++*at) {
        char byte = text.bytes[*at];
        if (byte < '0' || byte > '9')
            return false;
        *value = *value * 10 + (byte - '0');
    }
    return true;
}

static bool read_byte(struct text text, size_t *at, const char *one_of)
{
    for (; *at < text.size && *one_of != '\0'; one_of++)
        if (text.bytes[*at] == *one_of) {
            ++*at;
            return true;
        }
    return false;
}

static bool read_date(struct text text, size_t *at, struct calendar_date *date)
{
    return read_digits(text, at, 4, &date->year) && read_byte(text, at, "-") &&
           read_digits(text, at, 2, &date->month) && read_byte(text, at, "-") &&
           read_digits(text, at, 2, &date->day) && date->year >= 1 && date->month >= 1 &&
           date->month <= 12 && date->day >= 1 &&
           date->day <= days_of_month(date->year, date->month);
}

/* 12:34:56.789; zeros at the end say nothing and stay beyond *end. */
static bool read_time(struct text text, size_t *at, size_t *end)
{
    int64_t hour, minute, second, digit;
    if (!read_digits(text, at, 2, &hour) || !read_byte(text, at, ":") ||
        !read_digits(text, at, 2, &minute) || !read_byte(text, at, ":") ||
        !read_digits(text, at, 2, &second) || hour > 23 || minute > 59 || second > 59)
        return false;
    *end = *at;
    if (!read_byte(text, at, "."))
        return true;
    size_t count = 0;
    for (size_t next = *at; read_digits(text, &next, 1, &digit); *at = next)
        if (++count > FRACTION_DIGITS_MAX && digit != 0)
            return false;
        else if (digit != 0)
            *end = next;
    return count > 0;
}

static bool read_offset(struct text text, size_t *at)
{
    int64_t hour, minute;
    if (read_byte(text, at, "Zz"))
        return true;
    return read_byte(text, at, "+-") && read_digits(text, at, 2, &hour) &&
           read_byte(text, at, ":") && read_digits(text, at, 2, &minute) &&
           hour <= OFFSET_HOUR_MAX && minute <= 59;
}

bool date_parse(struct arena *arena, struct text text, struct text *bound)
{
    size_t at = 0;
    struct calendar_date date;
    *bound = arena_text(arena, text);
    return read_date(text, &at, &date) && at == text.size;
}

bool timestamp_parse(struct arena *arena, struct text text, bool with_offset, struct text *bound)
{
    size_t at = 0, time_end = 0;
    struct calendar_date date;
    if (!read_date(text, &at, &date) || !read_byte(text, &at, "Tt "))
        return false;
    struct text day = text_front(text, at - 1);
    size_t time_at = at;
    if (!read_time(text, &at, &time_end))
        return false;
    struct text time = {text.bytes + time_at, time_end - time_at};
    struct text offset = text_behind(text, at);
    if (with_offset && !read_offset(text, &at))
        return false;
    if (text_is_ignoring_case(offset, "z"))
        offset = TEXT("+00:00");
    *bound = arena_printf(arena, "%.*sT%.*s%.*s", TEXT_ARGS(day), TEXT_ARGS(time), TEXT_ARGS(offset));
    return at == text.size;
}

/* Days from 0001-01-01 on. */
static struct calendar_date date_of_days(int64_t days)
{
    struct calendar_date date = {.year = days / 366 + 1, .month = 1};
    while (days_before(date.year + 1) <= days)
        date.year++;
    days -= days_before(date.year);
    while (days >= days_of_month(date.year, date.month))
        days -= days_of_month(date.year, date.month++);
    date.day = days + 1;
    return date;
}

static bool date_of_epoch_days(int64_t days, struct calendar_date *date)
{
    days += days_before(EPOCH_YEAR);
    if (days < 0 || days >= days_before(YEAR_MAX + 1))
        return false;
    *date = date_of_days(days);
    return true;
}

bool date_from_days(struct arena *arena, int32_t days, struct text *text)
{
    struct calendar_date date;
    if (!date_of_epoch_days(days, &date))
        return false;
    *text = arena_printf(arena, "%04d-%02d-%02d", (int)date.year, (int)date.month, (int)date.day);
    return true;
}

bool timestamp_from_us(struct arena *arena, int64_t us, bool with_offset, struct text *text)
{
    struct calendar_date date;
    int64_t days = us / DAY_US, rest = us % DAY_US;
    if (rest < 0) {
        rest += DAY_US;
        days--;
    }
    if (!date_of_epoch_days(days, &date))
        return false;
    *text = arena_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02d.%06d%s", (int)date.year,
                         (int)date.month, (int)date.day, (int)(rest / 3600000000LL),
                         (int)(rest / 60000000 % 60), (int)(rest / 1000000 % 60),
                         (int)(rest % 1000000), with_offset ? "Z" : "");
    return true;
}
