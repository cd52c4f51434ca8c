/* redact_test.c - what is left of a server's error: texts of every kind, bodies of any shape. */
#include "proxy/session/redact.h"

#include "proxy/base/limits.h"

#include <criterion/criterion.h>
#include <string.h>

static struct arena arena;
static struct catalog *catalog;
static struct policy policy;
static struct decide_context context;

/* select on shop.people without its column ssn. */
static void setup(void)
{
    static const struct column columns[] = {{.name = TEXT_INIT("id"), .number = 1},
                                            {.name = TEXT_INIT("email"), .number = 2},
                                            {.name = TEXT_INIT("ssn"), .number = 3}};
    static const struct relation people = {.oid = 1,
                                           .schema = TEXT_INIT("shop"),
                                           .name = TEXT_INIT("people"),
                                           .kind = 'r',
                                           .columns = columns,
                                           .column_count = ARRAY_SIZE(columns)};
    static struct rule rule;
    static struct object_pattern on, hidden;
    const char *problem;
    cr_assert(object_pattern_parse(&arena, TEXT("shop.people"), false, &on, &problem));
    cr_assert(object_pattern_parse(&arena, TEXT("*.*.ssn"), true, &hidden, &problem));
    rule = (struct rule){.name = TEXT("p.1"), .verdict = VERDICT_ALLOW, .on = &on, .on_count = 1};
    rule.max_rows = LIMIT_NONE;
    rule.max_effect = LIMIT_NONE;
    rule.max_cost = -1;
    rule.verbs[VERB_SELECT] = true;
    policy = (struct policy){.name = TEXT("p"), .rules = &rule, .rule_count = 1, .hidden = &hidden};
    policy.hidden_count = 1;
    catalog = catalog_new();
    catalog_add_relation(catalog, &people);
    catalog_seal(catalog, (struct instant){0}, 150000);
    context = (struct decide_context){.policy = &policy, .catalog = catalog};
}

static void teardown(void)
{
    catalog_release(catalog);
    arena_release(&arena);
}

TestSuite(redact, .init = setup, .fini = teardown);

static struct analysis analysis;

static struct redact_scope scope_of(const char *sql)
{
    static const struct text path[] = {TEXT_INIT("shop")};
    const struct analyse_context names = {
        .catalog = catalog, .search_path = path, .search_path_count = 1};
    analyse(&arena, &names, text_from(sql), &analysis);
    cr_assert_eq(analysis.result, ANALYSE_OK, "%s: %.*s", sql, TEXT_ARGS(analysis.message));
    return (struct redact_scope){.context = &context,
                                 .statements = analysis.statements,
                                 .statement_count = analysis.statement_count,
                                 .own = text_from(sql)};
}

/* Fields are written with '|' behind each. */
static struct text body_of(const char *fields)
{
    struct text body = arena_text(&arena, text_from(fields));
    char *bytes = (char *)(uintptr_t)body.bytes;
    for (size_t i = 0; i < body.size; i++)
        if (bytes[i] == '|')
            bytes[i] = '\0';
    return (struct text){body.bytes, body.size + 1};
}

static const char *shown(const char *fields, const struct redact_scope *scope)
{
    static char text[4096];
    struct error_fields decoded;
    struct buffer out;
    struct text body = body_of(fields);
    cr_assert(decode_error(body, &decoded), "%s", fields);
    buffer_init(&out, LIMIT_BACKEND_MESSAGE_BYTES);
    redact(&out, &arena, body, &decoded, decoded.position, scope);
    cr_assert_not(out.overflow);
    cr_assert_lt(out.size, sizeof text);
    struct error_fields again;
    cr_assert(decode_error(buffer_text(&out), &again), "%s", fields);
    memcpy(text, out.bytes, out.size);
    for (size_t i = 0; i + 1 < out.size; i++)
        if (text[i] == '\0')
            text[i] = '|';
    buffer_release(&out);
    return text;
}

#define LEFT_OUT "DNames and values that the policy does not open are left out.|"

static const struct {
    const char *sql;
    const char *sent;
    const char *expected;
} cases[] = {
    /* Nothing to hide in it. */
    {"SELECT 1/0 FROM people", "SERROR|VERROR|C22012|Mdivision by zero|Fint.c|L1|Rint4div|",
     "SERROR|VERROR|C22012|Mdivision by zero|"},
    /* Names: the agent's table, an open column, a hidden one. */
    {"INSERT INTO people (id) VALUES (1)",
     "VERROR|C23502|Mnull value in column \"email\" of relation \"people\" violates|DFailing row "
     "(1)|sshop|"
     "tpeople|cemail|",
     "SERROR|VERROR|C23502|Mnull value in column \"email\" of relation \"people\" "
     "violates|" LEFT_OUT},
    {"INSERT INTO people (id) VALUES (1)",
     "VERROR|C23502|Mnull value in column \"ssn\" of relation \"people\" violates|",
     "SERROR|VERROR|C23502|Mnull value in column \"...\" violates|" LEFT_OUT},
    {"INSERT INTO people (id) VALUES (1)",
     "VERROR|C23514|Mrow for \"people\" violates \"people_ssn_check\"|",
     "SERROR|VERROR|C23514|Mrow for \"people\" violates \"...\"|" LEFT_OUT},
    /* Values, whatever they look like: with marks in them, in other languages, guessed. */
    {"SELECT id FROM people", "VERROR|C22P02|Minvalid input: \"4711\"|",
     "SERROR|VERROR|C22P02|Minvalid input: \"...\"|" LEFT_OUT},
    {"SELECT id, '4711' FROM people", "VERROR|C22P02|Minvalid input: \"4711\"|",
     "SERROR|VERROR|C22P02|Minvalid input: \"...\"|" LEFT_OUT},
    {"SELECT id FROM people", "VERROR|C22P02|Minvalid input: \"47\"11\" here|",
     "SERROR|VERROR|C22P02|Minvalid input: \"...\"|" LEFT_OUT},
    {"SELECT id FROM people", "VERROR|C22P02|Minvalid input: \"4\"7\"11\" here|",
     "SERROR|VERROR|C22P02|Minvalid input: \"...\" here|" LEFT_OUT},
    {"SELECT id FROM people",
     "SFEHLER|VERROR|C22P02|Mung\xC3\xBCltige Eingabe \xE2\x80\x9E"
     "4711\xE2\x80\x9C|",
     "SERROR|VERROR|C22P02|Mung\xC3\xBCltige Eingabe \"...\"|" LEFT_OUT},
    {"SELECT id FROM people",
     "VERROR|C22P02|Mentr\xC3\xA9"
     "e \xC2\xAB\xC2\xA0"
     "4711\xC2\xA0\xC2\xBB invalide|",
     "SERROR|VERROR|C22P02|Mentr\xC3\xA9"
     "e \"...\" invalide|" LEFT_OUT},
    /* The agent's own words come back where no row is quoted. */
    {"SELECT id FROM people", "VERROR|C42P01|Mrelation \"id\" does not exist|",
     "SERROR|VERROR|C42P01|Mrelation \"id\" does not exist|"},
    {"SELECT id FROM people", "VERROR|C42P01|Mrelation \"secret\" does not exist|",
     "SERROR|VERROR|C42P01|Mrelation \"...\" does not exist|" LEFT_OUT},
    {"SELECT id FROM people", "VERROR|C42P01|Mrelation \"eopl\" does not exist|",
     "SERROR|VERROR|C42P01|Mrelation \"...\" does not exist|" LEFT_OUT},
    {"SELECT id FROM people", "VERROR|C42501|Mpermission denied for table secret|",
     "SERROR|VERROR|C42501|Mpermission denied for table ...|" LEFT_OUT},
    {"SELECT id FROM people", "VERROR|C42501|Mpermission denied for table people|",
     "SERROR|VERROR|C42501|Mpermission denied for table people|"},
    /* With a position it is about the text alone; a hint may still name what is hidden. */
    {"SELECT ssm FROM people",
     "VERROR|C42703|Mcolumn \"ssm\" does not exist|HPerhaps you meant \"people.ssn\".|P8|",
     "SERROR|VERROR|C42703|Mcolumn \"ssm\" does not exist|" LEFT_OUT "P8|"},
    {"SELECT emial FROM people",
     "VERROR|C42703|Mcolumn \"emial\" does not exist|HPerhaps you meant \"people.email\".|P8|",
     "SERROR|VERROR|C42703|Mcolumn \"emial\" does not exist|HPerhaps you meant "
     "\"people.email\".|P8|"},
    /* The owner's words. */
    {"SELECT id FROM people", "VERROR|CP0001|Mno \"secret\" please|Dx|Hy|WPL|Rexec_stmt_raise|",
     "SERROR|VERROR|CP0001|Mno \"secret\" please|" LEFT_OUT},
    /* COPY: a field that cannot be read is the agent's own, what a trigger says is not. */
    {"COPY people (id) FROM STDIN",
     "VERROR|C22P02|Minvalid \"x\"|WCOPY people, line 3, column id: \"x\"|",
     "SERROR|VERROR|C22P02|Minvalid \"x\"|WCOPY people, line 3, column id: \"x\"|"},
    {"COPY people (id) FROM STDIN",
     "VERROR|C22P02|Minvalid \"x\"|WPL f()\nCOPY people, line 3, column id: \"x\"|",
     "SERROR|VERROR|C22P02|Minvalid \"...\"|" LEFT_OUT "WCOPY, line 3|"},
    {"COPY people (id) FROM STDIN",
     "VERROR|C22P02|Minvalid \"x\"|WCOPY people, line 3: \"x, column y\"|",
     "SERROR|VERROR|C22P02|Minvalid \"...\"|" LEFT_OUT "WCOPY, line 3|"},
    {"SELECT id FROM people",
     "VERROR|C22P02|Minvalid \"x\"|WCOPY people, line 3, column id: \"x\"|",
     "SERROR|VERROR|C22P02|Minvalid \"...\"|" LEFT_OUT},
    /* About the session's own statements, portals, cursors, savepoints: as it is; what an owner's
     * function does with some is reported with a context. */
    {"SELECT id FROM people", "SERROR|VERROR|C26000|Mprepared statement \"s\" does not exist|L1|",
     "SERROR|VERROR|C26000|Mprepared statement \"s\" does not exist|L1|"},
    {"SELECT id FROM people", "SERROR|VERROR|C42P05|Mprepared statement \"s\" already exists|",
     "SERROR|VERROR|C42P05|Mprepared statement \"s\" already exists|"},
    {"SELECT id FROM people", "SERROR|VERROR|C34000|Mportal \"secret\" does not exist|WPL f()|",
     "SERROR|VERROR|C34000|Mportal \"...\" does not exist|" LEFT_OUT},
    {"SELECT id FROM people", "VERROR|C26000|Mno|Dsecret|Rexec_stmt_raise|",
     "SERROR|VERROR|C26000|Mno|" LEFT_OUT},
    {"SELECT id FROM people", "SERROR|VERROR|C57014|Mcanceling statement due to user request|L1|",
     "SERROR|VERROR|C57014|Mcanceling statement due to user request|L1|"},
    {"SELECT id FROM people", "VERROR|C57014|Mcanceling statement|WSQL statement \"secret\"|",
     "SERROR|VERROR|C57014|Mcanceling statement|"},
    /* A foreign server's words, which need not quote hosts. */
    {"SELECT id FROM people",
     "VERROR|C08006|Mconnection to server at \"db7\" (10.1.1.7), port 5432 failed|Dat db7|",
     "SERROR|VERROR|C08006|Mthe server of a foreign table cannot be reached or has "
     "failed|" LEFT_OUT},
    {"SELECT id FROM people", "VERROR|CHV00L|Maccess denied for 'root'@'10.1.1.7'|",
     "SERROR|VERROR|CHV00L|Mthe server of a foreign table cannot be reached or has "
     "failed|" LEFT_OUT},
};

Test(redact, leaves_what_is_open)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct redact_scope scope = scope_of(cases[i].sql);
        cr_expect_str_eq(shown(cases[i].sent, &scope), cases[i].expected, "case %zu: %s", i,
                         shown(cases[i].sent, &scope));
    }
}

Test(redact, tells_nothing_when_nothing_is_known)
{
    static const struct redact_scope nothing;
    cr_expect_str_eq(
        shown("VFATAL|C57P01|Mterminating \"connection\"|Dsecret|Wsecret|ttable|", &nothing),
        "SFATAL|VFATAL|C57P01|Mterminating \"...\"|" LEFT_OUT);
    const struct redact_scope at_commit = {.context = &context};
    cr_expect_str_eq(
        shown("VERROR|C23503|Mviolates \"key\"|DKey (ssn)=(1)|sshop|tpeople|nkey|", &at_commit),
        "SERROR|VERROR|C23503|Mviolates \"...\"|" LEFT_OUT);
    const char *own = "SERROR|VERROR|C34000|Mportal \"p\" does not exist|L1|";
    cr_expect_str_eq(shown(own, &nothing), own);
}

Test(redact, changes_nothing_where_all_is_open)
{
    const char *sent =
        "SERROR|VERROR|C23502|Mnull in \"ssn\"|Drow|sshop|tpeople|Wx|qy|p1|Fz|L1|Rr|";
    struct redact_scope scope = scope_of("SELECT id FROM people");
    policy.hidden_count = 0;
    cr_expect_str_eq(shown(sent, &scope), sent);
    policy.hidden_count = 1;
    cr_expect_str_neq(shown(sent, &scope), sent);
}

Test(redact, names_are_open_under_introspection_but_for_those_made_of_closed_ones)
{
    const char *plain = "VERROR|C23503|Mviolates \"people_fkey\"|sshop|tpeople|";
    const char *telling = "VERROR|C23505|Mviolates \"people_ssn_key\"|sshop|tpeople|";
    const char *value = "VERROR|C22P02|Mviolates \"people_fkey\"|sshop|tpeople|";
    struct redact_scope scope = scope_of("SELECT id FROM people");
    policy.introspection = true;
    cr_expect_str_eq(shown(plain, &scope), "SERROR|VERROR|C23503|Mviolates \"people_fkey\"|");
    cr_expect_str_eq(shown(telling, &scope), "SERROR|VERROR|C23505|Mviolates \"...\"|" LEFT_OUT);
    cr_expect_str_eq(shown(value, &scope), "SERROR|VERROR|C22P02|Mviolates \"...\"|" LEFT_OUT);
}

Test(redact, a_parameter_that_cannot_be_read_is_the_clients_own)
{
    struct redact_scope scope = scope_of("SELECT id FROM people WHERE id = $1");
    const char *sent = "VERROR|C22P02|Minvalid \"x\"|Wunnamed portal parameter $1|";
    cr_expect_str_eq(shown(sent, &scope), "SERROR|VERROR|C22P02|Minvalid \"...\"|" LEFT_OUT);
    scope.binds = true;
    cr_expect_str_eq(shown(sent, &scope),
                     "SERROR|VERROR|C22P02|Minvalid \"x\"|Wunnamed portal parameter $1|");
}

Test(redact, is_bounded_whatever_the_server_sends)
{
    enum { MARKS = 100000 };
    struct buffer body, out;
    struct error_fields fields;
    struct redact_scope scope = scope_of("SELECT id FROM people");
    buffer_init(&body, MARKS + 100);
    buffer_init(&out, MARKS + 1000);
    buffer_append(&body, "C42P01\0M", 8);
    for (size_t i = 0; i < MARKS; i++)
        buffer_append_byte(&body, i % 2 == 0 ? '"' : 'x');
    buffer_append(&body, "\0\0", 2);
    cr_assert(decode_error(buffer_text(&body), &fields));
    redact(&out, &arena, buffer_text(&body), &fields, 0, &scope);
    cr_expect_lt(out.size, 200);
    buffer_release(&body);
    buffer_release(&out);
}
