/* terminal.c - see terminal.h. Without a terminal a question is answered no. */
#include "proxy/commands/terminal.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

const char *terminal_style(FILE *out, enum style style)
{
    static const char *const sequences[] = {
        [STYLE_PLAIN] = "\033[0m", [STYLE_BOLD] = "\033[1m",  [STYLE_BAD] = "\033[1;31m",
        [STYLE_GOOD] = "\033[32m", [STYLE_FAINT] = "\033[2m",
    };
    const char *no_color = getenv("NO_COLOR");
    bool colour = isatty(fileno(out)) != 0 && (no_color == NULL || no_color[0] == '\0');
    return colour ? sequences[style] : "";
}

void terminal_print_visible(FILE *out, struct text text)
{
    struct buffer visible;
    buffer_init(&visible, LIMIT_HTTP_ANSWER_BYTES);
    unicode_append_visible(&visible, text);
    fwrite(buffer_text(&visible).bytes, 1, visible.size, out);
    buffer_release(&visible);
}

/* Reads up to a line end. False: the end of input, or a line that is too long. */
static bool read_line(FILE *in, char line[TERMINAL_LINE_MAX])
{
    if (fgets(line, TERMINAL_LINE_MAX, in) == NULL)
        return false;
    size_t size = strlen(line);
    if (size == 0 || line[size - 1] != '\n')
        return false;
    line[size - 1] = '\0';
    return true;
}

bool terminal_ask_password(const char *prompt, char password[TERMINAL_LINE_MAX])
{
    FILE *terminal = fopen("/dev/tty", "r+e");
    if (terminal == NULL)
        return false;
    /* Unbuffered, so that the password stays in no buffer of the library. */
    setvbuf(terminal, NULL, _IONBF, 0);
    struct termios before;
    if (tcgetattr(fileno(terminal), &before) != 0) {
        fclose(terminal);
        return false;
    }
    struct termios silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    fputs(prompt, terminal);
    tcsetattr(fileno(terminal), TCSAFLUSH, &silent);
    bool read = read_line(terminal, password);
    tcsetattr(fileno(terminal), TCSAFLUSH, &before);
    fputc('\n', terminal);
    fclose(terminal);
    return read;
}

bool terminal_can_ask(void)
{
    return isatty(STDIN_FILENO) != 0;
}

bool terminal_ask_yes(const char *question)
{
    if (!terminal_can_ask())
        return false;
    printf("%s [y/N] ", question);
    fflush(stdout);
    char line[TERMINAL_LINE_MAX];
    return read_line(stdin, line) &&
           (strcmp(line, "y") == 0 || strcmp(line, "yes") == 0 || strcmp(line, "Y") == 0);
}

struct instant instant_from_text(const char *text)
{
    struct tm utc = {0};
    const char *rest = text != NULL ? strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;
    return (struct instant){rest != NULL ? (int64_t)timegm(&utc) * 1000000 : 0};
}

void span_to_text(int64_t us, char text[TERMINAL_SPAN_MAX])
{
    int64_t seconds = us > 0 ? us / 1000000 : 0;
    if (seconds < 60)
        snprintf(text, TERMINAL_SPAN_MAX, "%lld s", (long long)seconds);
    else if (seconds < 3600)
        snprintf(text, TERMINAL_SPAN_MAX, "%lld min", (long long)(seconds / 60));
    else if (seconds < 86400)
        snprintf(text, TERMINAL_SPAN_MAX, "%lld h", (long long)(seconds / 3600));
    else
        snprintf(text, TERMINAL_SPAN_MAX, "%lld d", (long long)(seconds / 86400));
}

void table_init(struct table *table, size_t columns)
{
    INVARIANT(columns > 0 && columns <= TABLE_COLUMNS_MAX);
    *table = (struct table){.columns = columns};
}

void table_add(struct table *table, struct text cell)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity > 0 ? table->capacity * 2 : 64;
        table->cells = memory_resize(table->cells, table->capacity * sizeof *table->cells);
    }
    struct buffer *place = &table->cells[table->count++];
    buffer_init(place, LIMIT_HTTP_ANSWER_BYTES);
    unicode_append_visible(place, cell);
}

void table_add_string(struct table *table, const char *cell)
{
    table_add(table, text_from(cell));
}

static void find_widths(const struct table *table, size_t widths[TABLE_COLUMNS_MAX])
{
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
        widths[i] = 0;
    for (size_t i = 0; i < table->count; i++) {
        size_t width = utf8_length(buffer_text(&table->cells[i]));
        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
}

void table_print(const struct table *table, FILE *out)
{
    size_t widths[TABLE_COLUMNS_MAX];
    find_widths(table, widths);
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % table->columns;
        struct text cell = buffer_text(&table->cells[i]);
        bool heading = i < table->columns;
        if (heading)
            fputs(terminal_style(out, STYLE_BOLD), out);
        fwrite(cell.bytes, 1, cell.size, out);
        if (heading)
            fputs(terminal_style(out, STYLE_PLAIN), out);
        if (column + 1 == table->columns)
            fputc('\n', out);
        else
            fprintf(out, "%*s", (int)(widths[column] - utf8_length(cell) + 2), "");
    }
}

void table_release(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        buffer_release(&table->cells[i]);
    free(table->cells);
}
