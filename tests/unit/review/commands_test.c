/* commands_test.c - the approver's commands against a real review server, and what they print. */
#include "proxy/commands/commands.h"

#include "proxy/commands/arguments.h"
#include "proxy/commands/hold_text.h"
#include "proxy/commands/terminal.h"
#include "unit/review/server.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct site_under_test site;

static void begin(void)
{
    char url[64];
    site_begin(&site, WITH_STORE);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", site.port);
    setenv("PGWICKET_URL", url, 1);
    setenv("PGWICKET_USER", "alice", 1);
    setenv("PGWICKET_PASSWORD", "alice-secret", 1);
}

static void end(void)
{
    site_end(&site);
}

TestSuite(commands, .init = begin, .fini = end, .timeout = 60);

struct output {
    int code;
    char text[8192]; /* both outputs */
};

/* Runs a command as from a script: without a terminal. */
static void run(struct output *output, command_function *command, const char *const *words)
{
    char *argv[16];
    int argc = 0;
    for (; words[argc] != NULL; argc++)
        argv[argc] = strdup(words[argc]);
    argv[argc] = NULL;
    FILE *file = tmpfile();
    int before[3] = {dup(0), dup(1), dup(2)};
    fflush(NULL);
    cr_assert_not_null(freopen("/dev/null", "r", stdin));
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    output->code = command(argc, argv);
    fflush(NULL);
    for (int i = 0; i < 3; i++) {
        dup2(before[i], i);
        close(before[i]);
    }
    rewind(file);
    size_t size = fread(output->text, 1, sizeof output->text - 1, file);
    output->text[size] = '\0';
    fclose(file);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
}

#define RUN(output, command, ...)                                                                  \
    run(output, command, (const char *const[]){"command", __VA_ARGS__, NULL})

static void expect(const struct output *output, int code, const char *part)
{
    cr_expect_eq(output->code, code, "%d: %s", output->code, output->text);
    cr_expect_not_null(strstr(output->text, part), "\"%s\" is not in: %s", part, output->text);
}

Test(commands, show_prints_effect_statement_and_digest_without_hidden_characters)
{
    char digest[SHA256_HEX_SIZE];
    site_hold(&site, "DELETE FROM shop.orders WHERE note = 'a\xE2\x80\xAE\x1B[2Jb'", 1, digest);
    struct output output;
    RUN(&output, command_show, "1");
    expect(&output, EXIT_FINE, "42 deleted  shop.orders");
    expect(&output, EXIT_FINE, "'a\\u{202E}\\u{1B}[2Jb'");
    expect(&output, EXIT_FINE, digest);
    cr_expect_null(strchr(output.text, '\x1B'), "no colour in a file");
    RUN(&output, command_show, "1", "--json");
    expect(&output, EXIT_FINE, "\"digest\":\"");
    RUN(&output, command_show, "2");
    expect(&output, EXIT_NO, "no such hold");
}

Test(commands, holds_lists_what_is_asked_for)
{
    char digest[SHA256_HEX_SIZE];
    site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    struct output output;
    RUN(&output, command_holds, "--agent", "support-bot");
    expect(&output, EXIT_FINE, "1   pending  support-bot  delete 42 in shop.orders");
    RUN(&output, command_holds, "--state=refused");
    expect(&output, EXIT_FINE, "nothing");
    RUN(&output, command_holds, "--all", "--state", "refused");
    expect(&output, EXIT_USAGE, "exclude");
    RUN(&output, command_holds, "--state", "red");
    expect(&output, EXIT_NO, "not a state");
}

Test(commands, release_without_a_terminal_needs_the_digest_or_yes)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    struct output output;
    RUN(&output, command_release, "1");
    expect(&output, EXIT_USAGE, "--digest or --yes");
    RUN(&output, command_release, "1", "--digest", "5f0c");
    expect(&output, EXIT_USAGE, "64 hexadecimal digits");
    char other[SHA256_HEX_SIZE];
    memset(other, 'a', sizeof other - 1);
    other[sizeof other - 1] = '\0';
    RUN(&output, command_release, "1", "--digest", other);
    expect(&output, EXIT_NO, "digest");
    cr_expect_eq(site_state(&site, id), HOLD_PENDING);
    RUN(&output, command_release, "1", "--digest", digest);
    expect(&output, EXIT_FINE, "is released; it may run until");
    cr_expect_eq(site_state(&site, id), HOLD_RELEASED);
    RUN(&output, command_release, "1", "--digest", digest);
    expect(&output, EXIT_NO, "hold 1 is released");
}

Test(commands, release_with_yes_shows_first_and_counts_approvals)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 2, digest);
    struct output output;
    RUN(&output, command_release, "1", "--yes");
    expect(&output, EXIT_FINE, "DELETE FROM shop.orders");
    expect(&output, EXIT_FINE, "approved by 1 of 2");
    RUN(&output, command_release, "1", "--yes");
    expect(&output, EXIT_NO, "not yours to decide");
    setenv("PGWICKET_PASSWORD", "bob-secret", 1);
    RUN(&output, command_release, "1", "--yes", "--user", "bob");
    expect(&output, EXIT_FINE, "is released");
    cr_expect_eq(site_state(&site, id), HOLD_RELEASED);
}

Test(commands, refuse_needs_a_reason_and_sends_it)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    struct output output;
    RUN(&output, command_refuse, "1");
    expect(&output, EXIT_USAGE, "--reason");
    RUN(&output, command_refuse, "1", "--reason", " ");
    expect(&output, EXIT_USAGE, "--reason");
    RUN(&output, command_refuse, "1", "--reason", "\xFF");
    expect(&output, EXIT_USAGE, "UTF-8");
    cr_expect_eq(site_state(&site, id), HOLD_PENDING);
    RUN(&output, command_refuse, "1", "--reason", "say \"who\" first");
    expect(&output, EXIT_FINE, "hold 1 is refused");
    RUN(&output, command_show, "1");
    expect(&output, EXIT_FINE, "refuse by alice: say \"who\" first");
}

Test(commands, agents_are_shown_paused_and_resumed)
{
    struct output output;
    RUN(&output, command_pause, "support-bot");
    expect(&output, EXIT_FINE, "is paused");
    cr_expect(site.paused);
    run(&output, command_status, (const char *const[]){"status", NULL});
    expect(&output, EXIT_FINE, "paused by alice");
    RUN(&output, command_resume, "support-bot");
    expect(&output, EXIT_FINE, "goes on");
    cr_expect_not(site.paused);
    RUN(&output, command_pause, "batch bot/1");
    expect(&output, EXIT_FINE, "is paused");
    RUN(&output, command_pause, "../holds");
    expect(&output, EXIT_NO, "no such agent");
}

Test(commands, health_tells_ready_from_not_ready_and_unreachable)
{
    struct output output;
    unsetenv("PGWICKET_USER");
    run(&output, command_health, (const char *const[]){"health", NULL});
    expect(&output, EXIT_FINE, "ready");
    site.ready = false;
    run(&output, command_health, (const char *const[]){"health", NULL});
    expect(&output, EXIT_NO, "not ready");
    RUN(&output, command_health, "--url", "http://127.0.0.1:1");
    expect(&output, EXIT_UNREACHABLE, "127.0.0.1:1");
}

Test(commands, password_is_needed_right_and_kept_from_open_networks)
{
    struct output output;
    setenv("PGWICKET_PASSWORD", "wrong", 1);
    run(&output, command_status, (const char *const[]){"status", NULL});
    expect(&output, EXIT_NO, "name and password");
    RUN(&output, command_status, "--url", "http://192.0.2.1:6480");
    expect(&output, EXIT_USAGE, "without TLS");
    RUN(&output, command_status, "--url", "ftp://127.0.0.1");
    cr_expect_neq(output.code, EXIT_FINE);
    unsetenv("PGWICKET_USER");
    run(&output, command_status, (const char *const[]){"status", NULL});
    expect(&output, EXIT_USAGE, "--user");
}

static const struct {
    command_function *command;
    const char *words[4];
    int code;
} usage_cases[] = {
    {command_show, {"show", "--help"}, EXIT_FINE},
    {command_holds, {"holds", "-h"}, EXIT_FINE},
    {command_release, {"release", "1", "--help"}, EXIT_FINE},
    {command_refuse, {"refuse", "--help"}, EXIT_FINE},
    {command_pause, {"pause", "--help"}, EXIT_FINE},
    {command_resume, {"resume", "--help"}, EXIT_FINE},
    {command_status, {"status", "--help"}, EXIT_FINE},
    {command_health, {"health", "--help"}, EXIT_FINE},
    {command_show, {"show"}, EXIT_USAGE},
    {command_show, {"show", "1", "2"}, EXIT_USAGE},
    {command_show, {"show", "x"}, EXIT_USAGE},
    {command_show, {"show", "--bad"}, EXIT_USAGE},
    {command_show, {"show", "1", "--url"}, EXIT_USAGE},
    {command_show, {"show", "1", "--json=yes"}, EXIT_USAGE},
    {command_status, {"status", "--user=a", "--user=b"}, EXIT_USAGE},
    {command_pause, {"pause"}, EXIT_USAGE},
};

Test(commands, usage_is_printed_for_help_and_after_mistakes)
{
    for (size_t i = 0; i < ARRAY_SIZE(usage_cases); i++) {
        struct output output;
        run(&output, usage_cases[i].command, usage_cases[i].words);
        cr_expect_eq(output.code, usage_cases[i].code, "case %zu: %s", i, output.text);
        if (usage_cases[i].code == EXIT_FINE)
            cr_expect_eq(strncmp(output.text, "usage: pgwicket ", 16), 0, "case %zu", i);
    }
}

static const struct {
    int64_t us;
    const char *text;
} span_cases[] = {
    {-5, "0 s"},
    {0, "0 s"},
    {59999999, "59 s"},
    {60000000, "1 min"},
    {3599000000, "59 min"},
    {3600000000, "1 h"},
    {86399000000, "23 h"},
    {172800000000, "2 d"},
};

Test(terminal, spans_are_rounded_down)
{
    for (size_t i = 0; i < ARRAY_SIZE(span_cases); i++) {
        char text[TERMINAL_SPAN_MAX];
        span_to_text(span_cases[i].us, text);
        cr_expect_str_eq(text, span_cases[i].text);
    }
    cr_expect_eq(instant_from_text("1970-01-02T00:00:01.5Z").us, 86401000000);
    cr_expect_eq(instant_from_text("yesterday").us, 0);
    cr_expect_eq(instant_from_text(NULL).us, 0);
}

static void print(const char *json, char *text, size_t size)
{
    json_t *hold = json_loads(json, 0, NULL);
    cr_assert_not_null(hold);
    memset(text, 0, size);
    FILE *out = fmemopen(text, size, "w");
    hold_print(out, hold, (struct instant){0});
    fclose(out);
    json_decref(hold);
}

Test(hold_text, shows_cascades_rows_objects_and_what_is_not_undone)
{
    char text[4096];
    print("{\"id\": 17, \"state\": \"pending\", \"quorum\": 2, \"effect\": {\"known\": true,"
          " \"bound\": \"counts\", \"tables\": [{\"table\": \"shop.orders\", \"via\": \"target\","
          " \"updated\": 1, \"deleted\": 42, \"total\": 104000}, {\"table\": \"shop.items\","
          " \"via\": \"cascade\", \"constraint\": \"items_fkey\", \"deleted\": 126}],"
          " \"objects\": [{\"kind\": \"table\", \"name\": \"shop.old\", \"change\": \"dropped\","
          " \"via\": \"target\", \"rows\": 48213, \"bytes\": 12582912},"
          " {\"kind\": \"view\", \"name\": \"shop.totals\", \"change\": \"dropped\", \"via\": \"cascade\","
          " \"parent\": \"shop.old\", \"rows\": null, \"bytes\": null},"
          " {\"kind\": \"table\", \"name\": \"shop.x\", \"change\": \"changed\", \"via\": \"target\","
          " \"parent\": null, \"detail\": \"owner alice, now bob\"}],"
          " \"locks\": [{\"table\": \"shop.old\", \"mode\": \"access exclusive\"},"
          " {\"table\": \"shop.x\", \"mode\": \"access exclusive\"},"
          " {\"table\": \"shop.y\", \"mode\": \"row exclusive\"}],"
          " \"not_undone\": [{\"what\": \"sequence\", \"name\": \"shop.seq\", \"by\": 42}],"
          " \"rows\": {\"count\": 42, \"sample\": [{\"old\": {\"id\": 7, \"note\": \"\\u001b[2J\"},"
          " \"new\": {\"id\": 7, \"note\": null}}]}}}",
          text, sizeof text);
    static const char *const parts[] = {
        "42 deleted  shop.orders (of about 104000), target",
        "1 updated  shop.orders",
        "126 deleted  shop.items, cascade items_fkey",
        "dropped  table shop.old, 48213 rows lost, 12 MB, target\n",
        "dropped  view shop.totals, cascade of shop.old\n",
        "changed  table shop.x, target: owner alice, now bob\n",
        "While it runs nobody else can read or write: shop.old, shop.x\n",
        "sequence shop.seq by 42",
        "- id=7 note=\\u{1B}[2J",
        "+ id=7 note=null",
        "Bound by counts only",
        "2 approvals",
    };
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        cr_expect_not_null(strstr(text, parts[i]), "\"%s\" is not in: %s", parts[i], text);
}

Test(hold_text, says_what_of_the_rows_is_bound)
{
    static const struct {
        const char *bound, *fingerprint, *words;
    } cases[] = {
        {"counts", "", "Bound by counts only"},
        {"counts", "9b1c", "The target's rows are bound, those that change with them by counts only"},
        {"rows", "9b1c", NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char json[500], text[4096];
        snprintf(json, sizeof json,
                 "{\"effect\": {\"known\": true, \"bound\": \"%s\", \"tables\": [{\"table\": \"t\", \"deleted\": 1}],"
                 " \"rows\": {\"count\": 1, \"fingerprint\": \"%s\"}}}",
                 cases[i].bound, cases[i].fingerprint);
        print(json, text, sizeof text);
        if (cases[i].words != NULL)
            cr_expect_not_null(strstr(text, cases[i].words), "%s", text);
        else
            cr_expect_null(strstr(text, "bound"), "%s", text);
    }
}

Test(hold_text, unknown_effect_is_said_first_and_holes_in_the_json_do_no_harm)
{
    char text[4096];
    print("{\"effect\": {\"known\": false, \"why\": \"calls a function\"}}", text, sizeof text);
    cr_expect_not_null(strstr(text, "UNKNOWN: calls a function"), "%s", text);
    print("{}", text, sizeof text);
    cr_expect_not_null(strstr(text, "UNKNOWN"), "%s", text);
    print("{\"effect\": [], \"parameters\": 1, \"settings\": \"x\", \"approvals\": {},"
          " \"estimate\": null, \"decision\": 1}",
          text, sizeof text);
    cr_expect_not_null(strstr(text, "UNKNOWN"), "%s", text);
}
