/*
 * watch.c - see watch.h. A hold that leaves the list is asked for once more, to say what became of it.
 */
#include "proxy/commands/watch.h"

#include "proxy/commands/commands.h"
#include "proxy/commands/hold_text.h"
#include "proxy/commands/terminal.h"

#include "proxy/base/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTERVAL_S = 1, LINES_AROUND = 5, ROWS_MOST = 100, ROWS_LEAST = 5 };

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

struct watch {
    struct client *client;
    const char *path;
    bool json;
    bool screen;
    json_t *last; /* the list that is on the screen */
    json_t *seen; /* number of a hold → its state and approvals, as told */
    struct instant away; /* since when the server gives no answer; 0: it does */
};

/* --- on a terminal --- */

static void paint(const struct watch *watch)
{
    char clock[INSTANT_TEXT_SIZE];
    instant_to_clock_text(watch->away.us != 0 ? watch->away : clock_now(), clock);
    terminal_clear_screen(stdout);
    fprintf(stdout, "%spgwicket holds, %s%s; ^C ends%s\n\n",
            terminal_style(stdout, watch->away.us != 0 ? STYLE_BAD : STYLE_FAINT),
            watch->away.us != 0 ? "NO ANSWER since " : "", clock,
            terminal_style(stdout, STYLE_PLAIN));
    hold_list_print(stdout, watch->last, clock_now());
    fflush(stdout);
}

/* --- line by line --- */

static void print_line(const struct watch *watch, const json_t *hold)
{
    if (watch->json) {
        char *line = json_dumps(hold, JSON_COMPACT | JSON_ENSURE_ASCII);
        puts(line);
        free(line);
        fflush(stdout);
        return;
    }
    char clock[INSTANT_TEXT_SIZE];
    struct buffer text;
    buffer_init(&text, LIMIT_HTTP_ANSWER_BYTES);
    instant_to_clock_text(clock_now(), clock);
    buffer_printf(&text, "%s  hold %" PRId64 " %s  ", clock,
                  (int64_t)json_integer_value(json_object_get(hold, "id")),
                  hold_word(hold, "state"));
    buffer_append_string(&text, hold_word(hold, "agent"));
    buffer_append_string(&text, ": ");
    hold_summary(&text, hold);
    size_t approvals = json_array_size(json_object_get(hold, "approvals"));
    int64_t quorum = (int64_t)json_integer_value(json_object_get(hold, "quorum"));
    if (strcmp(hold_word(hold, "state"), "pending") == 0 && approvals > 0)
        buffer_printf(&text, ", approved by %zu of %" PRId64, approvals, quorum);
    terminal_print_visible(stdout, buffer_text(&text));
    putchar('\n');
    fflush(stdout);
    buffer_release(&text);
}

/* Told once for each state and number of approvals. `key` becomes the hold's in `seen`. */
static void tell_if_new(struct watch *watch, const json_t *hold, char key[24])
{
    char now[64];
    snprintf(key, 24, "%" PRId64, (int64_t)json_integer_value(json_object_get(hold, "id")));
    snprintf(now, sizeof now, "%.32s %zu", hold_word(hold, "state"),
             json_array_size(json_object_get(hold, "approvals")));
    const char *before = json_string_value(json_object_get(watch->seen, key));
    if (before == NULL || strcmp(before, now) != 0)
        print_line(watch, hold);
    json_object_set_new(watch->seen, key, json_string(now));
}

/* What is not in the list any more: out of it, or pushed out by newer ones. */
static void tell_of_gone(struct watch *watch, const json_t *listed)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(watch->seen, next, key, value)
    {
        char again[24];
        if (json_object_get(listed, key) != NULL)
            continue;
        char *path = client_path(watch->client, "/api/holds/%s", key);
        int code = client_get(watch->client, path);
        free(path);
        if (code == EXIT_UNREACHABLE)
            return;
        if (code == EXIT_FINE)
            tell_if_new(watch, client_reply(watch->client), again);
        json_object_del(watch->seen, key);
    }
}

static void tell_changes(struct watch *watch, const json_t *holds)
{
    json_t *listed = json_object();
    /* The list begins with the newest; what happened is told from the oldest on. */
    for (size_t i = json_array_size(holds); i > 0; i--) {
        char key[24];
        tell_if_new(watch, json_array_get(holds, i - 1), key);
        json_object_set_new(listed, key, json_true());
    }
    tell_of_gone(watch, listed);
    json_decref(listed);
}

/* --- asking --- */

/* As many holds as the screen has room for. */
static void add_limit(const struct watch *watch, struct buffer *path)
{
    size_t rows = watch->screen ? terminal_height(stdout) : 0;
    rows = rows > LINES_AROUND + ROWS_LEAST ? rows - LINES_AROUND : ROWS_LEAST;
    if (!watch->screen || rows > ROWS_MOST)
        rows = ROWS_MOST;
    buffer_printf(path, "%climit=%zu", strchr(watch->path, '?') != NULL ? '&' : '?', rows);
}

static int look(struct watch *watch)
{
    struct buffer path;
    buffer_init(&path, LIMIT_HTTP_HEADER_BYTES);
    buffer_append_string(&path, watch->path);
    add_limit(watch, &path);
    int code = client_get(watch->client, buffer_string(&path));
    buffer_release(&path);
    if (code != EXIT_FINE)
        return code;
    watch->away.us = 0;
    json_decref(watch->last);
    watch->last = json_incref(json_object_get(client_reply(watch->client), "holds"));
    if (watch->screen)
        paint(watch);
    else
        tell_changes(watch, watch->last);
    return EXIT_FINE;
}

static void say_away(struct watch *watch)
{
    if (watch->away.us == 0) {
        watch->away = clock_now();
        if (!watch->screen)
            client_explain(watch->client);
    }
    if (watch->screen)
        paint(watch);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* EXIT_UNREACHABLE only before the first answer. */
static int go_on(struct watch *watch)
{
    bool answered = false;
    while (stopped == 0) {
        int code = look(watch);
        if (stopped != 0)
            break;
        if (code == EXIT_NO || (code != EXIT_FINE && !answered))
            return code;
        if (code != EXIT_FINE)
            say_away(watch);
        answered = true;
        nanosleep(&(struct timespec){.tv_sec = INTERVAL_S}, NULL);
    }
    return EXIT_FINE;
}

int watch_holds(struct client *client, const char *path, bool json)
{
    struct watch watch = {.client = client,
                          .path = path,
                          .json = json,
                          .screen = !json && terminal_is_screen(stdout),
                          .seen = json_object()};
    catch_signals();
    client_be_quiet(client, &stopped);
    if (watch.screen) {
        setvbuf(stdout, NULL, _IOFBF, BUFSIZ * 8);
        terminal_enter_screen(stdout);
    }
    int code = go_on(&watch);
    if (watch.screen)
        terminal_leave_screen(stdout);
    if (code != EXIT_FINE)
        client_explain(client);
    json_decref(watch.last);
    json_decref(watch.seen);
    return code;
}
