/*
 * terminal.h - what people read and answer: text without hidden characters, tables, times,
 * questions. Colour is used only where the output is a terminal and NO_COLOR is not set.
 */
#ifndef PGWICKET_COMMANDS_TERMINAL_H
#define PGWICKET_COMMANDS_TERMINAL_H

#include "proxy/base/buffer.h"
#include "proxy/base/clock.h"

#include <stdio.h>

enum { TERMINAL_LINE_MAX = 1024 };

enum style { STYLE_PLAIN = 0, STYLE_BOLD, STYLE_BAD, STYLE_GOOD, STYLE_FAINT };

/* The escape sequence that begins a style (STYLE_PLAIN ends one); "" where colour is not used. */
const char *terminal_style(FILE *out, enum style style);

/* Can the cursor be moved there? Not in a file, a pipe, or where TERM is dumb or not said. */
bool terminal_is_screen(FILE *out);

size_t terminal_height(FILE *out); /* in lines; 0: not known */

/* A screen of our own in place of what was there, until it is left; then what is painted on it. */
void terminal_enter_screen(FILE *out);
void terminal_clear_screen(FILE *out);
void terminal_leave_screen(FILE *out);

/* Everything that a terminal would obey or not show is written as an escape. */
void terminal_print_visible(FILE *out, struct text text);

/* Asks on the terminal, without echo. False: there is none. */
bool terminal_ask_password(const char *prompt, char password[TERMINAL_LINE_MAX]);

/* Asks a question whose answer is no unless it is yes. False also where there is no terminal. */
bool terminal_ask_yes(const char *question);
bool terminal_can_ask(void);

/* Asks for one line; false where there is none. */
bool terminal_ask_line(const char *prompt, char line[TERMINAL_LINE_MAX]);

/* "2026-11-30T11:20:57.657123Z"; 0 if it is not of that form. */
struct instant instant_from_text(const char *text);

/* "5 min", "3 h", "2 d": between two points in time, the larger unit rounded down. */
enum { TERMINAL_SPAN_MAX = 24 };
void span_to_text(int64_t us, char text[TERMINAL_SPAN_MAX]);

/* A table: cells are made visible, columns as wide as their widest cell. On a terminal that is too
 * narrow the column `shrinks` is cut. */
enum { TABLE_COLUMNS_MAX = 8 };

struct table_cell {
    struct buffer text;
    enum style style;
};

struct table {
    size_t columns;
    size_t shrinks;
    struct table_cell *cells; /* row by row, the headings first */
    size_t count;
    size_t capacity;
};

void table_init(struct table *table, const char *const *headings, size_t columns);
void table_add(struct table *table, struct text cell);
void table_add_string(struct table *table, const char *cell); /* NULL: "" */
void table_style(struct table *table, enum style style);      /* of the cell that was added last */
void table_print(const struct table *table, FILE *out);
void table_release(struct table *table);

#endif
