/* terminal.c - see terminal.h. Without a terminal a question is answered no. */
#include "proxy/commands/terminal.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

bool terminal_is_screen(FILE *out)
{
    const char *kind = getenv("TERM");
    return isatty(fileno(out)) != 0 && kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
}

/* Zeros where it is not known. */
static struct winsize size_of_terminal(FILE *out)
{
    struct winsize size = {0};
    if (isatty(fileno(out)) != 0)
        (void)!ioctl(fileno(out), TIOCGWINSZ, &size);
    return size;
}

size_t terminal_height(FILE *out)
{
    return size_of_terminal(out).ws_row;
}

const char *terminal_style(FILE *out, enum style style)
{
    static const char *const sequences[] = {
        [STYLE_PLAIN] = "\033[0m", [STYLE_BOLD] = "\033[1m",  [STYLE_BAD] = "\033[1;31m",
        [STYLE_GOOD] = "\033[32m", [STYLE_FAINT] = "\033[2m",
    };
    const char *no_color = getenv("NO_COLOR");
    bool colour = terminal_is_screen(out) && (no_color == NULL || no_color[0] == '\0');
    return colour ? sequences[style] : "";
}

/* The other screen, without a cursor. */
void terminal_enter_screen(FILE *out)
{
    fputs("\033[?1049h\033[?25l", out);
}

void terminal_clear_screen(FILE *out)
{
    fputs("\033[H\033[2J", out);
}

void terminal_leave_screen(FILE *out)
{
    fputs("\033[?25h\033[?1049l", out);
    fflush(out);
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

bool terminal_ask_line(const char *prompt, char line[TERMINAL_LINE_MAX])
{
    if (!terminal_can_ask())
        return false;
    fputs(prompt, stdout);
    fflush(stdout);
    return read_line(stdin, line);
}

bool terminal_ask_yes(const char *question)
{
    char line[TERMINAL_LINE_MAX];
    if (!terminal_can_ask())
        return false;
    fputs(question, stdout);
    return terminal_ask_line(" [y/N] ", line) &&
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

void table_init(struct table *table, const char *const *headings, size_t columns)
{
    INVARIANT(columns > 0 && columns <= TABLE_COLUMNS_MAX);
    *table = (struct table){.columns = columns, .shrinks = columns};
    for (size_t i = 0; i < columns; i++) {
        table_add_string(table, headings[i]);
        table_style(table, STYLE_BOLD);
    }
}

void table_add(struct table *table, struct text cell)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity > 0 ? table->capacity * 2 : 64;
        table->cells = memory_resize(table->cells, table->capacity * sizeof *table->cells);
    }
    struct table_cell *place = &table->cells[table->count++];
    place->style = STYLE_PLAIN;
    buffer_init(&place->text, LIMIT_HTTP_ANSWER_BYTES);
    unicode_append_visible(&place->text, cell);
}

void table_add_string(struct table *table, const char *cell)
{
    table_add(table, text_from(cell));
}

void table_style(struct table *table, enum style style)
{
    INVARIANT(table->count > 0);
    table->cells[table->count - 1].style = style;
}

enum { BETWEEN_COLUMNS = 2, COLUMN_WIDTH_LEAST = 12 };

static void find_widths(const struct table *table, FILE *out, size_t widths[TABLE_COLUMNS_MAX])
{
    size_t room = size_of_terminal(out).ws_col;
    size_t total = (table->columns - 1) * BETWEEN_COLUMNS;
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
        widths[i] = 0;
    for (size_t i = 0; i < table->count; i++) {
        size_t width = utf8_length(buffer_text(&table->cells[i].text));
        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
    for (size_t i = 0; i < table->columns; i++)
        total += widths[i];
    if (table->shrinks == table->columns || room == 0 || total <= room)
        return;
    size_t *width = &widths[table->shrinks];
    size_t wanted = *width + room > total ? *width + room - total : 0;
    *width = wanted > COLUMN_WIDTH_LEAST ? wanted : COLUMN_WIDTH_LEAST;
}

/* At most so many characters, the last of them … where some are missing. Returns their number. */
static size_t print_cut(FILE *out, struct text text, size_t width)
{
    size_t length = utf8_length(text);
    if (length <= width) {
        fwrite(text.bytes, 1, text.size, out);
        return length;
    }
    size_t size = 0;
    for (size_t i = 0; i + 1 < width; i++) {
        uint32_t code_point;
        size += utf8_decode(text_behind(text, size), &code_point);
    }
    fwrite(text.bytes, 1, size, out);
    fputs("…", out);
    return width;
}

void table_print(const struct table *table, FILE *out)
{
    size_t widths[TABLE_COLUMNS_MAX];
    find_widths(table, out, widths);
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % table->columns;
        const struct table_cell *cell = &table->cells[i];
        if (cell->style != STYLE_PLAIN)
            fputs(terminal_style(out, cell->style), out);
        size_t length = print_cut(out, buffer_text(&cell->text), widths[column]);
        if (cell->style != STYLE_PLAIN)
            fputs(terminal_style(out, STYLE_PLAIN), out);
        if (column + 1 == table->columns)
            fputc('\n', out);
        else
            fprintf(out, "%*s", (int)(widths[column] - length + BETWEEN_COLUMNS), "");
    }
}

void table_release(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        buffer_release(&table->cells[i].text);
    free(table->cells);
}
