/*
 * hold_text.h - a hold in words, from the API's JSON. Everything in it may have been written by an
 * agent: nothing reaches the terminal without being made visible.
 */
#ifndef PGWICKET_COMMANDS_HOLD_TEXT_H
#define PGWICKET_COMMANDS_HOLD_TEXT_H

#include "proxy/base/buffer.h"
#include "proxy/base/clock.h"
#include "proxy/commands/terminal.h"

#include <jansson.h>
#include <stdio.h>

/* The text under a key; "" if there is none. */
const char *hold_word(const json_t *object, const char *key);

/* "delete 42 in shop.orders, 126 in 1 more table": one line for lists. */
void hold_summary(struct buffer *out, const json_t *hold);

/* The same for a terminal. */
void hold_summary_visible(struct buffer *out, const json_t *hold);

/* Of its state in a list. */
enum style hold_style(const json_t *hold);

/* A table of the holds of a list; "nothing" if there are none. */
void hold_list_print(FILE *out, const json_t *holds, struct instant now);

/* All that a decision needs: effect, rows, statement, who and why, and the digest. */
void hold_print(FILE *out, const json_t *hold, struct instant now);

#endif
