/* summary_test.c - effects in words: what a headline, a list and a button say. */
#include "proxy/review/summary.h"

#include "proxy/review/plan.h"
#include "proxy/review/words.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define TABLE(name, via, inserted, updated, deleted)                                               \
    "{\"table\": \"" name "\", \"via\": \"" via "\", \"constraint\": \"c\", \"action\": "           \
    "\"cascade\", \"parent\": \"p\", \"depth\": 1, \"inserted\": " #inserted ", \"updated\": "      \
    #updated ", \"deleted\": " #deleted ", \"total\": null}"
#define OBJECT(kind, name, change, via, rows)                                                      \
    "{\"kind\": \"" kind "\", \"name\": \"" name "\", \"change\": \"" change "\", \"via\": \"" via  \
    "\", \"parent\": \"\", \"detail\": \"\", \"rows\": " #rows ", \"bytes\": null}"
#define EFFECT(tables, objects)                                                                    \
    "{\"known\": true, \"bound\": \"rows\", \"tables\": [" tables "], \"objects\": [" objects       \
    "], \"locks\": [], \"triggers\": [], \"rows\": null, \"not_undone\": [], \"notices\": [], "     \
    "\"duration_ms\": 1}"

static const struct {
    const char *verb;
    const char *effect;
    double estimate;
    enum hold_state state;
    const char *headline;
    const char *also;
    const char *button;
    enum confirmation confirmation;
    const char *typed; /* what is accepted */
} cases[] = {
    {"delete", EFFECT(TABLE("s.a", "target", 0, 0, 1), ""), 1, HOLD_PENDING,
     "Deletes 1 row of s.a", "", "Release: delete 1 row", CONFIRM_NOTHING, ""},
    {"delete",
     EFFECT(TABLE("s.a", "target", 0, 0, 42) "," TABLE("s.b", "cascade", 0, 0, 126) "," TABLE(
                "s.c", "cascade", 0, 9, 17) "," TABLE("s.d", "trigger", 42, 0, 0),
            ""),
     40, HOLD_EXECUTED, "Deleted 42 rows of s.a",
     "and with them 143 rows of 2 more tables; changes 9, inserts 42",
     "Release: delete 185 rows, change 9, insert 42", CONFIRM_NOTHING, ""},
    {"update",
     EFFECT(TABLE("s.a", "target", 0, 8, 0) "," TABLE("s.b", "cascade", 0, 231, 0), ""), 7,
     HOLD_REFUSED, "Would have changed 8 rows of s.a", "and with them 231 rows of s.b",
     "Release: change 239 rows in 2 tables", CONFIRM_NOTHING, ""},
    {"update", EFFECT(TABLE("s.a", "target", 0, 3907, 0), ""), 40, HOLD_PENDING,
     "Changes 3,907 rows of s.a", "", "Release: change 3,907 rows", CONFIRM_NUMBER, "3.907"},
    {"insert", EFFECT(TABLE("s.a", "target", 1001, 0, 0), ""), -1, HOLD_UNKNOWN,
     "May have inserted 1,001 rows into s.a", "", "Release: insert 1,001 rows", CONFIRM_NUMBER,
     "1 001"},
    {"insert", EFFECT(TABLE("s.a", "target", 3, 2, 0), ""), -1, HOLD_PENDING,
     "Inserts 3 rows into s.a", "changes 2", "Release: change 2 rows, insert 3", CONFIRM_NOTHING,
     ""},
    {"delete", EFFECT(TABLE("s.a", "target", 0, 0, 0), ""), 3, HOLD_PENDING,
     "Deletes no rows of s.a", "", "Release: change no rows", CONFIRM_NOTHING, ""},
    {"drop",
     EFFECT("", OBJECT("table", "s.a", "dropped", "target", 48213) "," OBJECT(
                    "view", "s.v", "dropped", "cascade", null)),
     -1, HOLD_PENDING, "Drops table s.a with 48,213 rows", "and with it 1 view",
     "Release: drop 2 objects, lose 48,213 rows", CONFIRM_NUMBER, "48213"},
    {"create", EFFECT("", OBJECT("index", "s.i", "created", "target", null)), -1, HOLD_EXPIRED,
     "Would have created index s.i", "", "Release: create 1 object", CONFIRM_NOTHING, ""},
    {"call", "{\"known\": false, \"why\": \"it may not\"}", -1, HOLD_PENDING,
     "Effect unknown: CALL", "it may not", "Release with unknown effect", CONFIRM_UNKNOWN,
     "unknown"},
    {"update", "not json", 2400000, HOLD_PENDING,
     "Effect unknown: UPDATE, estimated 2,400,000 rows", "the stored effect cannot be read",
     "Release with unknown effect", CONFIRM_UNKNOWN, "unknown"},
};

static void expect(struct text found, const char *expected)
{
    cr_expect(text_is(found, expected), "\"%.*s\", not \"%s\"", TEXT_ARGS(found), expected);
}

Test(summary, effects_are_put_into_words)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct arena arena;
        struct summary summary;
        arena_init(&arena);
        const struct hold hold = {.verb = text_from(cases[i].verb),
                                  .effect = text_from(cases[i].effect),
                                  .estimate_rows = cases[i].estimate,
                                  .state = cases[i].state};
        summary_make(&summary, &arena, &hold);
        expect(summary_headline(&summary, &arena), cases[i].headline);
        expect(summary_also(&summary, &arena), cases[i].also);
        expect(summary_button(&summary, &arena), cases[i].button);
        cr_expect_eq(summary.confirmation, cases[i].confirmation, "%s", cases[i].headline);
        cr_expect(summary_is_confirmed(&summary, text_from(cases[i].typed)));
        if (cases[i].confirmation != CONFIRM_NOTHING) {
            cr_expect_not(summary_is_confirmed(&summary, TEXT("")));
            cr_expect_not(summary_is_confirmed(&summary, TEXT("40")));
            cr_expect_not(summary_is_confirmed(&summary, TEXT("yes")));
        }
        arena_release(&arena);
    }
}

Test(summary, times_and_numbers_are_put_into_words)
{
    struct arena arena;
    arena_init(&arena);
    const struct instant now = {1764501657 * (int64_t)1000000};
    const struct instant soon = {now.us + 23 * 60 * (int64_t)1000000 + 5};
    expect(left_words(&arena, soon, now), "23 min left");
    expect(left_words(&arena, now, soon), "no time left");
    expect(ago_words(&arena, now, soon), "23 min ago");
    expect(ago_words(&arena, now, now), "just now");
    expect(span_words(&arena, 900 * (int64_t)1000000), "15 minutes");
    expect(span_words(&arena, 3600 * (int64_t)1000000), "1 hour");
    expect(clock_words(&arena, now), "11:20:57");
    expect(date_words(&arena, now), "30 Nov");
    expect(machine_time(&arena, now), "2025-11-30T11:20:57Z");
    expect(number_words(&arena, -1234567), "-1,234,567");
    expect(number_words(&arena, 123), "123");
    expect(size_words(&arena, 12 * 1024 * 1024), "12 MB");
    expect(size_words(&arena, 1536), "1.5 kB");
    expect(share_words(&arena, 17, 50), "34 %");
    expect(share_words(&arena, 1, 1000000), "below 0.01 %");
    arena_release(&arena);
}

Test(summary, plans_become_lines_and_name_the_table)
{
    struct arena arena;
    struct buffer out;
    arena_init(&arena);
    buffer_init(&out, 4096);
    struct text plan = TEXT(
        "[{\"Plan\": {\"Node Type\": \"ModifyTable\", \"Operation\": \"Delete\", \"Schema\": \"shop\", "
        "\"Relation Name\": \"orders\", \"Alias\": \"o\", \"Startup Cost\": 0.42, \"Total Cost\": 12.5, "
        "\"Plan Rows\": 0, \"Plans\": [{\"Node Type\": \"Index Scan\", \"Index Name\": \"i\", "
        "\"Relation Name\": \"orders\", \"Plan Rows\": 40, \"Index Cond\": \"(id = 1)\"}]}}]");
    cr_expect(plan_lines(&out, plan));
    cr_expect_str_eq(buffer_string(&out), "Delete on shop.orders o  (cost=0.42..12.50 rows=0)\n"
                                          "  -> Index Scan using i on orders  (cost=0.00..0.00 rows=40)\n"
                                          "        Index Cond: (id = 1)\n");
    expect(plan_target(&arena, plan), "shop.orders");
    buffer_clear(&out);
    static const char *const others[] = {"", "x", "{}", "[]", "[1]", "[{\"Plan\": 1}]"};
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        cr_expect_not(plan_lines(&out, text_from(others[i])), "%s", others[i]);
        expect(plan_target(&arena, text_from(others[i])), "");
    }
    cr_expect_eq(out.size, 0);
    buffer_release(&out);
    arena_release(&arena);
}
