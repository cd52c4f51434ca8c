/* hold_list.c - holds as a table. See hold_text.h. */
#include "proxy/commands/hold_text.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMN_WHAT = 3, SOON_US = 300 * 1000000 };

/* What time is left for it, if any. */
static void add_time_left(struct table *table, const json_t *hold, struct instant now)
{
    bool pending = strcmp(hold_word(hold, "state"), "pending") == 0;
    bool released = strcmp(hold_word(hold, "state"), "released") == 0;
    struct instant end = instant_from_text(hold_word(hold, pending ? "expires" : "run_until"));
    char text[TERMINAL_SPAN_MAX] = "";
    if ((pending || released) && end.us > 0)
        span_to_text(end.us - now.us, text);
    table_add_string(table, text);
    if (text[0] != '\0' && end.us - now.us < SOON_US)
        table_style(table, STYLE_BAD);
}

static void add_hold(struct table *table, const json_t *hold, struct instant now)
{
    char text[TERMINAL_SPAN_MAX];
    snprintf(text, sizeof text, "%" PRId64,
             (int64_t)json_integer_value(json_object_get(hold, "id")));
    table_add_string(table, text);
    table_add_string(table, hold_word(hold, "state"));
    table_style(table, hold_style(hold));
    table_add_string(table, hold_word(hold, "agent"));
    struct buffer summary;
    buffer_init(&summary, LIMIT_HTTP_ANSWER_BYTES);
    hold_summary(&summary, hold);
    table_add(table, buffer_text(&summary));
    buffer_release(&summary);
    span_to_text(now.us - instant_from_text(hold_word(hold, "created")).us, text);
    table_add_string(table, text);
    add_time_left(table, hold, now);
}

void hold_list_print(FILE *out, const json_t *holds, struct instant now)
{
    static const char *const headings[] = {"ID", "STATE", "AGENT", "WHAT", "AGE", "LEFT"};
    struct table table;
    table_init(&table, headings, ARRAY_SIZE(headings));
    table.shrinks = COLUMN_WHAT;
    size_t i;
    const json_t *hold;
    json_array_foreach(holds, i, hold) add_hold(&table, hold, now);
    if (json_array_size(holds) > 0)
        table_print(&table, out);
    else
        fputs("nothing\n", out);
    table_release(&table);
}
