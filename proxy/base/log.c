/* log.c - see log.h. Each line is one write, so lines of several threads do not mix. */
#include "proxy/base/log.h"

#include "proxy/base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

PRINTF_LIKE(2, 0)
static void write_line(const char *level, const char *format, va_list arguments)
{
    char line[2048];
    char time[INSTANT_TEXT_SIZE];
    instant_to_text(clock_now(), time);
    int size = snprintf(line, sizeof line, "%s %s ", time, level);
    int more = vsnprintf(line + size, sizeof line - (size_t)size - 1, format, arguments);
    size_t end = (size_t)size + (more > 0 ? (size_t)more : 0);
    if (end > sizeof line - 2)
        end = sizeof line - 2;
    for (size_t i = 0; i < end; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    line[end++] = '\n';
    if (write(STDERR_FILENO, line, end) < 0)
        return; /* nowhere to say it */
}

#define DEFINE_LEVEL(function, level)                                                              \
    void function(const char *format, ...)                                                         \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        write_line(level, format, arguments);                                                      \
        va_end(arguments);                                                                         \
    }

DEFINE_LEVEL(log_info, "info")
DEFINE_LEVEL(log_warning, "warning")
DEFINE_LEVEL(log_error, "error")
