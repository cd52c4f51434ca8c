/*
 * pins_test.c - what code of triggers may have moved is read back before the next message is judged.
 */
#include "tests/unit/session/rig.h"

#include "proxy/base/digest.h"
#include "proxy/wire/build.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define CODED "INSERT INTO shop.coded VALUES ('a', 'b')"
#define READ "SELECT id FROM shop.t"

static struct rig rig;

static void begin(void)
{
    rig_begin(&rig);
    rig.policy.rule_count = 6;
}
static void end(void) { rig_end(&rig); }

TestSuite(pins, .init = begin, .fini = end);

static void run(const char *sql) { rig_run(&rig, rig_query(&rig, sql)); }

/* What the client gets of one more reading: "TDCZI", or how the session ended. */
static const char *read_on(void)
{
    rig_forget(&rig);
    run(READ);
    return rig_client(&rig);
}

static int questions(void)
{
    int count = 0;
    const char *what = "SELECT (SELECT pg_catalog.string_agg(c.relname";
    size_t size = strlen(what);
    for (size_t i = 0; i + size <= rig.to_server.size; i++)
        count += memcmp((const char *)rig.to_server.bytes + i, what, size) == 0;
    return count;
}

Test(pins, they_are_read_before_and_behind_code_and_what_did_not_move_is_no_matter)
{
    run(CODED);
    cr_assert_eq(questions(), 1);
    cr_assert_str_eq(rig_client(&rig), "CZI");
    cr_assert_str_eq(read_on(), "TDCZI");
    cr_assert_eq(questions(), 1);
    cr_assert_str_eq(read_on(), "TDCZI");
    cr_assert_eq(questions(), 0, "once is enough");
}

Test(pins, a_statement_without_code_asks_nothing_more)
{
    run(READ);
    int before = questions();
    run("INSERT INTO shop.t VALUES ('a', 'b')");
    cr_assert_str_eq(read_on(), "TDCZI");
    cr_assert_leq(before, 1);
    cr_assert_eq(questions(), 0);
}

Test(pins, whatever_has_moved_ends_the_session_before_anything_else_runs)
{
    static const struct rig_pins moves[] = {{.path = "public"}, {.role = "tenant"}, {.path = "a", .role = "b"}};
    for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
        rig.moving = "INSERT INTO shop.coded";
        rig.moved = moves[i];
        run(CODED);
        cr_assert_str_eq(read_on(), "E(42501)");
        cr_assert(rig.closed);
        cr_assert_eq(rig_times(&rig, "Q(SELECT)"), 0, "%s", rig_server(&rig));
        end();
        begin();
    }
}

Test(pins, in_a_batch_the_next_execution_waits_for_the_answer)
{
    struct text batch = rig_join(&rig, rig_extended(&rig, CODED), rig_extended(&rig, READ));
    rig.moving = "INSERT INTO shop.coded";
    rig.moved = (struct rig_pins){.path = "public"};
    rig_run(&rig, batch);
    cr_assert(rig.closed);
    cr_assert_null(strstr(rig_client(&rig), "D"), "%s", rig_client(&rig));
}

Test(pins, a_message_cannot_go_on_behind_code)
{
    run(CODED "; " READ);
    cr_assert_str_eq(rig_client(&rig), "E(42501)ZI");
}

Test(pins, what_code_has_deferred_to_the_end_is_looked_at_there)
{
    rig.moving = "COMMIT";
    rig.moved = (struct rig_pins){.path = "public"};
    run("BEGIN");
    run(CODED);
    cr_assert_str_eq(read_on(), "TDCZT");
    run("COMMIT");
    cr_assert_str_eq(read_on(), "E(42501)");
    cr_assert(rig.closed);
}

Test(pins, so_it_is_where_the_client_itself_took_another_role_up_to_the_end)
{
    static const char *const orders[][2] = {{"SET LOCAL ROLE tenant", CODED}, {CODED, "SET LOCAL ROLE tenant"}};
    for (size_t i = 0; i < 2 * ARRAY_SIZE(orders); i++) {
        bool moves = i % 2 == 1;
        rig.moving = moves ? "COMMIT" : NULL;
        rig.moved = (struct rig_pins){.path = "public"};
        run("BEGIN");
        run(orders[i / 2][0]);
        run(orders[i / 2][1]);
        cr_assert_str_eq(read_on(), "TDCZT");
        run("COMMIT");
        cr_assert_str_eq(read_on(), moves ? "E(42501)" : "TDCZI");
        end();
        begin();
    }
}

Test(pins, code_may_not_take_a_role_that_the_client_did_not)
{
    rig.moving = "INSERT INTO shop.coded";
    rig.moved = (struct rig_pins){.role = "owner"};
    run("BEGIN");
    run("SET LOCAL ROLE tenant");
    run(CODED);
    cr_assert_str_eq(read_on(), "E(42501)");
}

Test(pins, after_a_savepoint_the_role_may_be_what_it_was)
{
    static const struct canned fails[] = {{.begins = "SELECT n", .error = "22012"}, {0}};
    rig.canned = fails;
    run("BEGIN");
    run("SAVEPOINT a");
    run("SET LOCAL ROLE tenant");
    run(CODED);
    run("SELECT n FROM shop.t");
    run("ROLLBACK TO SAVEPOINT a");
    cr_assert_str_eq(read_on(), "TDCZT");
}

Test(pins, a_table_that_code_leaves_in_pg_temp_is_a_candidate)
{
    rig.moving = "INSERT INTO shop.coded";
    rig.moved = (struct rig_pins){.temporary = "t"};
    run("SELECT id FROM t");
    run(CODED);
    rig_forget(&rig);
    run("SELECT id FROM t");
    cr_assert_str_eq(rig_client(&rig), "E(42501)ZI");
    cr_assert_str_eq(read_on(), "TDCZI");
}

Test(pins, a_reload_that_pins_another_setting_ends_no_session_and_hides_no_move)
{
    static const struct setting_rule pinned = {.name = TEXT_INIT("app.tenant"), .pinned = true};
    for (int moves = 0; moves < 2; moves++) {
        run(CODED);
        rig.policy.settings = &pinned;
        rig.policy.setting_count = 1;
        cr_assert_str_eq(read_on(), "TDCZI");
        rig.moving = moves ? "INSERT INTO shop.coded" : NULL;
        rig.moved = (struct rig_pins){.path = "public"};
        run(CODED);
        rig.policy.setting_count = 0;
        cr_assert_str_eq(read_on(), moves ? "E(42501)" : "TDCZI");
        end();
        begin();
    }
}

Test(pins, a_server_that_does_not_tell_them_is_not_asked_for_ever)
{
    static const struct canned fails[] = {{.begins = "SELECT (SELECT pg_catalog.string_agg", .error = "42501"}, {0}};
    rig.canned = fails;
    run(CODED);
    cr_assert_str_eq(rig_client(&rig), "E(58000)");
    cr_assert(rig.closed);
    cr_assert_eq(questions(), 1);
}

/* --- names ---------------------------------------------------------------------------------------- */

static const char *line_of(char kind, const char *name, const char *sql)
{
    char hex_of_name[2 * 64 + 1], hex_of_sql[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE];
    hex_from_bytes(name, strlen(name), hex_of_name);
    sha256(sql, strlen(sql), digest);
    hex_from_bytes(digest, sizeof digest, hex_of_sql);
    return arena_printf(&rig.arena, "%c%s %s", kind, hex_of_name, hex_of_sql).bytes;
}

static struct text bind_and_execute(const char *portal, const char *statement)
{
    struct buffer out;
    buffer_init(&out, 1000);
    build_bind(&out, text_from(portal), text_from(statement), (struct text){"\0\0\0\0\0\0", 6});
    build_execute(&out, text_from(portal), 0);
    build_sync(&out);
    struct text bytes = arena_text(&rig.arena, buffer_text(&out));
    buffer_release(&out);
    return bytes;
}

static void prepare_by_parse(void)
{
    struct buffer out;
    buffer_init(&out, 1000);
    build_parse(&out, TEXT("r"), text_from(READ), NULL, 0);
    build_sync(&out);
    rig_run(&rig, arena_text(&rig.arena, buffer_text(&out)));
    buffer_release(&out);
    cr_assert_str_eq(rig_client(&rig), "1ZI");
}

static const char *use_of_r_when_the_server_has(const char *names, bool fails)
{
    static const struct canned failing[] = {{.begins = "INSERT INTO shop.coded", .error = "P0001"}, {0}};
    prepare_by_parse();
    rig.canned = fails ? failing : NULL;
    rig.moving = "INSERT INTO shop.coded";
    rig.moved = (struct rig_pins){.names = names};
    run(CODED);
    rig_forget(&rig);
    rig_run(&rig, bind_and_execute("", "r"));
    return rig_client(&rig);
}

Test(pins, a_prepared_statement_that_code_has_replaced_is_the_clients_no_longer)
{
    cr_assert_str_eq(use_of_r_when_the_server_has(line_of('s', "r", "SELECT n FROM shop.secret"), false), "E(26000)ZI");
}

Test(pins, so_it_is_when_the_code_fails_for_names_are_not_given_back)
{
    cr_assert_str_eq(use_of_r_when_the_server_has(line_of('s', "r", "SELECT n FROM shop.secret"), true), "E(26000)ZI");
}

Test(pins, names_that_code_has_left_alone_stay)
{
    const char *others = line_of('s', "other", "SELECT n FROM shop.secret");
    cr_assert_str_eq(use_of_r_when_the_server_has(others, false), "2DCZI");
}

Test(pins, the_same_text_under_a_name_is_the_same_statement)
{
    cr_assert_str_eq(use_of_r_when_the_server_has(line_of('s', "r", READ), false), "2DCZI");
}

Test(pins, an_answer_that_cannot_be_ends_the_session)
{
    rig.no_pins = true;
    run(CODED);
    cr_assert(rig.closed);
    cr_assert_str_eq(rig_client(&rig), "E(54000)");
}
