/* template_call_test.c - EXECUTE of a template: arguments, types, values on the wire, the stricter verdict. */
#include "proxy/session/template_call.h"

#include "proxy/base/arena.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct template_parameter parameters[] = {
    {.name = TEXT_INIT("id"), .type = TEMPLATE_INTEGER, .min_length = -1, .max_length = -1, .min_items = -1, .max_items = -1},
    {.name = TEXT_INIT("tenant"), .type = TEMPLATE_STRING, .attribute = TEXT_INIT("tenant"), .min_length = -1,
     .max_length = -1, .min_items = -1, .max_items = -1},
    {.name = TEXT_INIT("note"), .type = TEMPLATE_STRING, .nullable = true, .min_length = -1, .max_length = 5,
     .min_items = -1, .max_items = -1},
};

static const struct attribute attributes[] = {{TEXT_INIT("tenant"), TEXT_INIT("17")}};

struct ground {
    struct arena arena;
    struct template template;
    struct rule rule;
    struct object_pattern on;
    struct policy policy;
};

static void begin(struct ground *ground, enum verdict verdict)
{
    const char *problem;
    *ground = (struct ground){
        .template = {.name = TEXT("t"),
                     .sql = TEXT("UPDATE shop.t SET note = $3 WHERE id = $1 AND tenant = $2"),
                     .max_rows = LIMIT_NONE,
                     .parameters = parameters,
                     .parameter_count = ARRAY_SIZE(parameters),
                     .rule_text = TEXT("t(id integer, note string)")},
        .rule = {.name = TEXT("p.1"), .verdict = verdict, .on_count = 1, .max_rows = LIMIT_NONE, .max_effect = LIMIT_NONE, .max_cost = -1}};
    arena_init(&ground->arena);
    cr_assert(object_pattern_parse(&ground->arena, TEXT("t"), false, &ground->on, &problem));
    ground->rule.on = &ground->on;
    ground->rule.verbs[VERB_EXECUTE] = true;
    ground->policy = (struct policy){.name = TEXT("p"),
                                     .rules = &ground->rule,
                                     .rule_count = 1,
                                     .search_path_pinned = true,
                                     .hold_quorum = 2,
                                     .rehearse_max_rows = 10000,
                                     .templates = &ground->template,
                                     .template_count = 1};
}

static struct judgement judge(struct ground *ground, const char *sql, const uint32_t *types, size_t type_count)
{
    const struct judge_context context = {.policy = &ground->policy,
                                          .attributes = attributes,
                                          .attribute_count = ARRAY_SIZE(attributes)};
    struct judgement judgement;
    judge_text(&ground->arena, &context, text_from(sql), types, type_count, &judgement);
    return judgement;
}

Test(template_call, arguments_are_checked_when_they_are_read)
{
    static const struct {
        const char *sql, *sqlstate, *message;
    } cases[] = {
        {"EXECUTE t(1, 'x')", "", ""},
        {"EXECUTE t(1, NULL)", "", ""},
        {"EXECUTE t($2, $1)", "", ""},
        {"EXECUTE t(1)", "22023", "pgwicket: t takes 2 arguments, 1 was given; nothing was run"},
        {"EXECUTE t", "22023", "pgwicket: t takes 2 arguments, 0 were given; nothing was run"},
        {"EXECUTE t(1, '17', 'x')", "22023", "pgwicket: t takes 2 arguments, 3 were given; nothing was run"},
        {"EXECUTE t(1, now())", "22023",
         "pgwicket: t: parameter note must be a constant or a parameter, without cast or expression; "
         "nothing was run"},
        {"EXECUTE t(1::int, 'x')", "22023",
         "pgwicket: t: parameter id must be a constant or a parameter, without cast or expression; "
         "nothing was run"},
        {"EXECUTE t($2, 'x')", "42P18", "could not determine data type of parameter $1"},
        {"EXECUTE t(1, 'x'); SELECT 1", "42501",
         "pgwicket: EXECUTE of a template must be sent by itself; nothing was run"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ground ground;
        begin(&ground, VERDICT_ALLOW);
        struct judgement judgement = judge(&ground, cases[i].sql, NULL, 0);
        bool allowed = cases[i].sqlstate[0] == '\0';
        cr_expect_eq(judgement.verdict, allowed ? VERDICT_ALLOW : VERDICT_REJECT, "%s", cases[i].sql);
        cr_expect_eq(judgement.call != NULL, allowed, "%s", cases[i].sql);
        if (!allowed) {
            cr_expect_str_eq(judgement.error.sqlstate, cases[i].sqlstate, "%s", cases[i].sql);
            cr_expect(text_is(judgement.error.message, cases[i].message), "%s: %.*s", cases[i].sql,
                      TEXT_ARGS(judgement.error.message));
        }
        arena_release(&ground.arena);
    }
}

Test(template_call, what_is_sent_is_the_templates_own)
{
    struct ground ground;
    begin(&ground, VERDICT_ALLOW);
    struct judgement judgement = judge(&ground, "EXECUTE t($1, 'x''y')", NULL, 0);
    cr_assert_not_null(judgement.call);
    cr_expect(text_equal(judgement.analysis.print, ground.template.sql));
    cr_expect_eq(judgement.analysis.statements[0].shape.kind, STATEMENT_WRITE);
    cr_expect(text_equal(judgement.call->types, (struct text){"\0\0\0\24\0\0\0\31\0\0\0\31", 12}));
    cr_expect(text_equal(judgement.call->client_types, (struct text){"\0\0\0\24", 4}));
    arena_release(&ground.arena);
}

Test(template_call, declared_types_are_kept_for_the_client)
{
    static const uint32_t types[] = {23, 0, 1043};
    struct ground ground;
    begin(&ground, VERDICT_ALLOW);
    struct judgement judgement = judge(&ground, "EXECUTE t($2, $1)", types, 3);
    cr_assert_not_null(judgement.call);
    cr_expect_eq(judgement.call->client_count, 3);
    cr_expect(text_equal(judgement.call->client_types,
                         (struct text){"\0\0\0\27\0\0\0\24\0\0\4\23", 12}));
    arena_release(&ground.arena);
}

/* A Bind message of text values, after its names. */
static struct bind_message bind_of(struct buffer *body, const char *const *values, uint16_t count)
{
    struct bind_message message;
    buffer_init(body, 1000);
    buffer_append(body, "\0\0\0\0", 4);
    buffer_append_u16(body, count);
    for (uint16_t i = 0; i < count; i++) {
        struct text value = text_from(values[i]);
        buffer_append_u32(body, values[i] != NULL ? (uint32_t)value.size : UINT32_MAX);
        buffer_append_text(body, value);
    }
    buffer_append_u16(body, 0);
    cr_assert(decode_bind(buffer_text(body), &message));
    return message;
}

Test(template_call, values_are_bound_in_the_templates_order)
{
    static const struct {
        const char *sql;
        const char *values[2];
        uint16_t count;
        const char *sqlstate;
        struct text bound;
    } cases[] = {
        {"EXECUTE t($2, $1)", {"x", "7"}, 2, "",
         TEXT_INIT("\0\0\0\3\0\0\0\1"
                   "7\0\0\0\2"
                   "17\0\0\0\1"
                   "x")},
        {"EXECUTE t(7, $1)", {NULL, NULL}, 1, "",
         TEXT_INIT("\0\0\0\3\0\0\0\1"
                   "7\0\0\0\2"
                   "17\377\377\377\377")},
        {"EXECUTE t(7, 'x')", {NULL, NULL}, 0, "",
         TEXT_INIT("\0\0\0\3\0\0\0\1"
                   "7\0\0\0\2"
                   "17\0\0\0\1"
                   "x")},
        {"EXECUTE t($1, $2)", {"x", "7"}, 2, "22023", TEXT_INIT("")},
        {"EXECUTE t($1, $2)", {"7", "longer"}, 2, "22023", TEXT_INIT("")},
        {"EXECUTE t($1, $2)", {NULL, "x"}, 2, "22023", TEXT_INIT("")},
        {"EXECUTE t($1, $2)", {"7", NULL}, 1, "08P01", TEXT_INIT("")},
        {"EXECUTE t(7, 'x')", {"7", NULL}, 1, "08P01", TEXT_INIT("")},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ground ground;
        struct buffer body, out;
        struct error_text error = {0};
        begin(&ground, VERDICT_ALLOW);
        struct judgement judgement = judge(&ground, cases[i].sql, NULL, 0);
        struct bind_message message = bind_of(&body, cases[i].values, cases[i].count);
        buffer_init(&out, 1000);
        cr_assert_not_null(judgement.call);
        bool good = template_call_bind(&ground.arena, judgement.call, &message, &out, &error);
        cr_expect_eq(good, cases[i].sqlstate[0] == '\0', "case %zu", i);
        cr_expect_str_eq(error.sqlstate, cases[i].sqlstate, "case %zu", i);
        if (good)
            cr_expect(text_equal(buffer_text(&out), cases[i].bound), "case %zu", i);
        buffer_release(&out);
        buffer_release(&body);
        arena_release(&ground.arena);
    }
}

Test(template_call, the_stricter_of_rule_and_template_wins)
{
    static const struct {
        enum verdict rule;
        bool hold;
        enum verdict expected;
    } cases[] = {
        {VERDICT_ALLOW, false, VERDICT_ALLOW}, {VERDICT_ALLOW, true, VERDICT_HOLD},
        {VERDICT_HOLD, false, VERDICT_HOLD},   {VERDICT_HOLD, true, VERDICT_HOLD},
        {VERDICT_REJECT, false, VERDICT_REJECT}, {VERDICT_REJECT, true, VERDICT_REJECT},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ground ground;
        begin(&ground, cases[i].rule);
        ground.template.hold = cases[i].hold;
        struct judgement judgement = judge(&ground, "EXECUTE t(1, 'x')", NULL, 0);
        cr_expect_eq(judgement.verdict, cases[i].expected, "case %zu", i);
        if (cases[i].expected == VERDICT_HOLD)
            cr_expect_eq(judgement.decisions[0].quorum, 2, "case %zu", i);
        arena_release(&ground.arena);
    }
}

Test(template_call, what_cannot_be_counted_does_not_run_under_max_rows)
{
    static const struct {
        const char *sql;
        bool hold;
        const char *words; /* in the message; empty: it runs */
    } cases[] = {
        {"SELECT id FROM shop.t WHERE id = $1 AND tenant = $2 AND note = $3", false, ""},
        {"UPDATE shop.t SET note = $3 WHERE id = $1 AND tenant = $2", false, ""},
        {"CALL shop.p($1, $2, $3)", false, "cannot be counted"},
        {"WITH w AS (DELETE FROM shop.u WHERE id = $1 RETURNING id) UPDATE shop.t SET note = $3 WHERE tenant = $2",
         false, "cannot be counted"},
        {"CALL shop.p($1, $2, $3)", true, "cannot be rehearsed"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ground ground;
        begin(&ground, VERDICT_ALLOW);
        ground.template.sql = text_from(cases[i].sql);
        ground.template.hold = cases[i].hold;
        ground.template.max_rows = 3;
        struct judgement judgement = judge(&ground, "EXECUTE t(1, 'x')", NULL, 0);
        bool runs = cases[i].words[0] == '\0';
        cr_expect_eq(judgement.verdict, runs ? VERDICT_ALLOW : VERDICT_REJECT, "%s", cases[i].sql);
        if (!runs)
            cr_expect_not_null(strstr(judgement.error.message.bytes, cases[i].words), "%s: %.*s",
                               cases[i].sql, TEXT_ARGS(judgement.error.message));
        arena_release(&ground.arena);
    }
}

Test(template_call, real_rows_beyond_max_rows_reject)
{
    struct ground ground;
    begin(&ground, VERDICT_ALLOW);
    ground.template.max_rows = 3;
    struct judgement judgement = judge(&ground, "EXECUTE t(1, 'x')", NULL, 0);
    const struct decide_context context = {.policy = &ground.policy};
    for (int64_t rows = 2; rows <= 4; rows++) {
        const struct numbers numbers = {.has_rows = true, .rows = rows, .rows_real = true};
        struct decision decision;
        template_call_decide(&ground.arena, &context, judgement.call, &judgement.analysis.statements[0].shape,
                             &numbers, &decision);
        cr_expect_eq(decision.verdict, rows <= 3 ? VERDICT_ALLOW : VERDICT_REJECT, "%d rows", (int)rows);
        if (decision.verdict == VERDICT_REJECT) {
            struct error_text error =
                template_call_rejected(&ground.arena, &context, judgement.call, &decision, &numbers);
            cr_expect(text_is(error.message, "pgwicket: t would change 4 rows, limit 3; rolled back, nothing "
                                             "was changed"));
        }
    }
    arena_release(&ground.arena);
}
