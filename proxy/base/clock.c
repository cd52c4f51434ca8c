/* clock.c - see clock.h. */
#include "proxy/base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

struct instant clock_now(void)
{
    return (struct instant){read_us(CLOCK_REALTIME)};
}

int64_t clock_monotonic_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

enum { SECOND_US = 1000000 };

/* Rounds down, so that instants before 1970 have a positive fraction too. */
static int fraction_us(struct instant instant)
{
    int fraction = (int)(instant.us % SECOND_US);
    return fraction < 0 ? fraction + SECOND_US : fraction;
}

static struct tm to_utc(struct instant instant)
{
    time_t seconds = (time_t)(instant.us / SECOND_US - (instant.us % SECOND_US < 0));
    struct tm utc;
    gmtime_r(&seconds, &utc);
    return utc;
}

void instant_to_text(struct instant instant, char text[INSTANT_TEXT_SIZE])
{
    struct tm utc = to_utc(instant);
    char seconds[24] = ""; /* stays so where the year does not fit */
    if (strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        seconds[0] = '\0';
    snprintf(text, INSTANT_TEXT_SIZE, "%s.%06dZ", seconds, fraction_us(instant));
}

void instant_to_clock_text(struct instant instant, char text[INSTANT_TEXT_SIZE])
{
    struct tm utc = to_utc(instant);
    strftime(text, INSTANT_TEXT_SIZE, "%H:%M:%S UTC", &utc);
}
