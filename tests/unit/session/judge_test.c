/* judge_test.c - whole messages judged offline: what several statements in one text may do together. */
#include "proxy/session/judge.h"

#include <criterion/criterion.h>
#include <string.h>

static struct arena arena;

static struct rule rule(enum verdict verdict, const enum verb *verbs, size_t count, const char *on)
{
    struct rule rule = {
        .name = TEXT("p.1"), .verdict = verdict, .max_rows = LIMIT_NONE, .max_effect = LIMIT_NONE, .max_cost = -1};
    struct object_pattern *pattern = arena_allocate(&arena, sizeof *pattern);
    const char *problem;
    cr_assert(object_pattern_parse(&arena, text_from(on), false, pattern, &problem));
    for (size_t i = 0; i < count; i++)
        rule.verbs[verbs[i]] = true;
    rule.on = pattern;
    rule.on_count = 1;
    return rule;
}

/* Selects pass, updates are limited to ten rows, deletes are held; with `maker`, tables may be made and
 * functions called. */
static struct policy policy(bool maker)
{
    static struct rule rules[5];
    static const enum verb read[] = {VERB_SELECT}, write[] = {VERB_UPDATE}, erase[] = {VERB_DELETE},
                           make[] = {VERB_CREATE, VERB_CALL}, role[] = {VERB_SET};
    static struct text path[1];
    rules[0] = rule(VERDICT_ALLOW, read, 1, "shop.*");
    rules[1] = rule(VERDICT_ALLOW, write, 1, "shop.*");
    rules[1].max_rows = 10;
    rules[2] = rule(VERDICT_HOLD, erase, 1, "shop.*");
    rules[3] = rule(VERDICT_ALLOW, make, 2, "shop.*");
    rules[4] = rule(VERDICT_ALLOW, role, 1, "role:*");
    path[0] = TEXT("shop");
    return (struct policy){.name = TEXT("p"),
                           .rules = rules,
                           .rule_count = maker ? 5 : 3,
                           .search_path = path,
                           .search_path_count = 1,
                           .search_path_pinned = true,
                           .hold_quorum = 1};
}

static struct judgement judge(const struct policy *policy, const char *sql)
{
    const struct judge_context context = {.policy = policy};
    struct judgement judgement;
    judge_text(&arena, &context, text_from(sql), NULL, 0, &judgement);
    return judgement;
}

static const struct {
    const char *sql;
    bool maker;
    enum verdict verdict;
    bool alone; /* rejected only for its company */
} cases[] = {
    {"", false, VERDICT_ALLOW, false},
    {" ; -- nothing\n;", false, VERDICT_ALLOW, false},
    {"SELECT id FROM shop.orders", false, VERDICT_ALLOW, false},
    {"SELECT id FROM shop.orders; SELECT id FROM shop.orders", false, VERDICT_ALLOW, false},
    {"SELECT id FROM shop.orders; SELECT id FROM hr.people", false, VERDICT_REJECT, false},
    {"UPDATE shop.orders SET status = 'x'", false, VERDICT_ALLOW, false},
    {"UPDATE shop.orders SET status = 'x'; SELECT 1", false, VERDICT_REJECT, true},
    {"BEGIN; UPDATE shop.orders SET status = 'x'; COMMIT", false, VERDICT_REJECT, true},
    {"DELETE FROM shop.orders", false, VERDICT_HOLD, false},
    {"DELETE FROM shop.orders;", false, VERDICT_HOLD, false},
    {"SELECT 1; DELETE FROM shop.orders", false, VERDICT_REJECT, true},
    {"BEGIN; SELECT id FROM shop.orders; ROLLBACK; SELECT id FROM shop.orders", false,
     VERDICT_ALLOW, false},
    {"SET DateStyle = ISO; SELECT id FROM shop.orders", false, VERDICT_ALLOW, false},
    {"SET search_path = shop; SELECT id FROM shop.orders", false, VERDICT_ALLOW, false},
    {"SET search_path = hr; SELECT id FROM shop.orders", false, VERDICT_REJECT, false},
    {"RESET ALL; SELECT id FROM shop.orders", false, VERDICT_ALLOW, false},
    {"CREATE TABLE shop.t (id int)", true, VERDICT_ALLOW, false},
    {"CREATE TABLE shop.t (id int); SELECT id FROM shop.t", true, VERDICT_REJECT, true},
    {"CREATE TABLE shop.t (id int); COMMIT", true, VERDICT_ALLOW, false},
    {"CREATE TABLE shop.t (id int); SELECT 1", true, VERDICT_ALLOW, false},
    {"CREATE TABLE shop.t (id int); SET DateStyle = ISO", true, VERDICT_ALLOW, false},
    {"SET ROLE bob; SELECT id FROM shop.orders", true, VERDICT_REJECT, true},
    {"SELECT shop.f(1); SELECT id FROM shop.orders", true, VERDICT_REJECT, true},
    {"SELECT id FROM shop.orders; SELECT shop.f(1)", true, VERDICT_ALLOW, false},
    {"SET SESSION AUTHORIZATION DEFAULT; RESET ALL; CLOSE ALL; UNLISTEN *; SELECT "
     "pg_advisory_unlock_all(); DISCARD SEQUENCES; DISCARD TEMP",
     false, VERDICT_ALLOW, false},
    {"RESET ROLE; SELECT id FROM shop.orders", false, VERDICT_ALLOW, false},
    {"RESET ROLE; SELECT id FROM shop.orders", true, VERDICT_REJECT, true},
    {"RESET ALL; UNLISTEN *; CLOSE ALL; DEALLOCATE ALL; DISCARD SEQUENCES", true, VERDICT_ALLOW,
     false},
    {"SELECT id FROM shop.orders; ROLLBACK; SELECT id FROM shop.orders", true, VERDICT_REJECT,
     true},
};

Test(judge, decides_on_a_message_as_a_whole)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct policy p = policy(cases[i].maker);
        struct judgement judgement = judge(&p, cases[i].sql);
        cr_expect_eq(judgement.verdict, cases[i].verdict, "%s: %.*s", cases[i].sql,
                     TEXT_ARGS(judgement.error.message));
        cr_expect_eq(judgement.alone, cases[i].alone, "%s", cases[i].sql);
        if (judgement.verdict != VERDICT_REJECT)
            continue;
        cr_expect_eq(strlen(judgement.error.sqlstate), 5, "%s", cases[i].sql);
        cr_expect(text_starts_with(judgement.error.message, "pgwicket: "), "%s", cases[i].sql);
        cr_expect_leq(judgement.error.message.size, 200, "%s", cases[i].sql);
    }
    arena_release(&arena);
}

Test(judge, points_at_the_first_statement_that_is_rejected)
{
    struct policy p = policy(false);
    struct judgement judgement =
        judge(&p, "SELECT 1; SELECT id FROM hr.a; SELECT id FROM hr.b");
    cr_expect_eq(judgement.decisive, 1);
    cr_expect_not_null(memmem(judgement.error.message.bytes, judgement.error.message.size, "hr.a", 4));
    arena_release(&arena);
}

Test(judge, gives_the_servers_own_syntax_error)
{
    struct policy p = policy(false);
    struct judgement judgement = judge(&p, "SELECT FORM shop.orders WHERE");
    cr_expect_eq(judgement.verdict, VERDICT_REJECT);
    cr_expect_str_eq(judgement.error.sqlstate, "42601");
    cr_expect(text_starts_with(judgement.error.message, "syntax error"));
    cr_expect_null(judgement.decisions);
    arena_release(&arena);
}

Test(judge, leaves_a_transparent_policy_alone)
{
    struct policy p = policy(true);
    static struct rule everything;
    static const enum verb none[] = {VERB_SELECT};
    everything = rule(VERDICT_ALLOW, none, 1, "*");
    everything.all_verbs = true;
    for (size_t i = 0; i < VERB_COUNT; i++)
        everything.verbs[i] = true;
    p.rules = &everything;
    p.rule_count = 1;
    p.transparent = true;
    p.search_path_pinned = false;
    cr_expect_eq(judge(&p, "CREATE TABLE t (id int); SELECT id FROM t; SET ROLE none").verdict,
                 VERDICT_ALLOW);
    cr_expect_eq(judge(&p, "SET client_encoding = 'SJIS'").verdict, VERDICT_REJECT);
    arena_release(&arena);
}
