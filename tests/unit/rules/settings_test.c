/* settings_test.c - which settings pass, need a rule, or never change, and what a session starts with. */
#include "rules/settings.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>

enum { READER, WRITER, OPEN };

static struct rule reader_rules[1], writer_rules[1], open_rules[1];
static struct policy policies[3];
static struct setting_rule given[3];

static void setup(void)
{
    reader_rules[0] = test_rule(VERDICT_ALLOW, "select on shop.*");
    writer_rules[0] = test_rule(VERDICT_ALLOW, "select update on shop.*");
    open_rules[0] = test_rule(VERDICT_ALLOW, "all on *");
    policies[READER] = test_policy(reader_rules, 1);
    policies[WRITER] = test_policy(writer_rules, 1);
    policies[OPEN] = test_policy(open_rules, 1);
    given[0] = (struct setting_rule){.name = TEXT("app.tenant"), .value = TEXT("17"), .pinned = true};
    given[1] = (struct setting_rule){.name = TEXT("timezone"), .value = TEXT("UTC"), .pinned = true};
    given[2] = (struct setting_rule){.name = TEXT("lock_timeout"), .value = TEXT("10s")};
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        policies[i].settings = given;
        policies[i].setting_count = ARRAY_SIZE(given);
    }
}

static void teardown(void) { arena_release(&test_arena); }

TestSuite(settings, .init = setup, .fini = teardown);

static enum setting_verdict judge(int policy, enum setting_act act, const char *name,
                                  const char *value)
{
    const struct decide_context context = {.policy = &policies[policy], .catalog = NULL, .setting_values = NULL};
    const struct setting_use use = {act, text_from(name), text_from(value), value == NULL};
    struct text problem;
    enum setting_verdict verdict = setting_judge(&test_arena, &context, &use, &problem);
    if (verdict != SETTING_PASSES)
        cr_expect(problem.size > 0, "%s = %s is refused without a reason", name, value);
    return verdict;
}

static const struct {
    int policy;
    enum setting_act act;
    const char *name, *value; /* value NULL: not a constant */
    enum setting_verdict verdict;
} cases[] = {
    {READER, SETTING_SET, "application_name", "psql", SETTING_PASSES},
    {READER, SETTING_SET_LOCAL, "datestyle", "ISO", SETTING_PASSES},
    {READER, SETTING_SET, "datestyle", NULL, SETTING_PASSES},
    {READER, SETTING_SET, "client_min_messages", NULL, SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "statement_timeout", NULL, SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "timezone", NULL, SETTING_REJECTED},
    {READER, SETTING_SET, "work_mem", "1GB", SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "row_security", "off", SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "session_replication_role", "replica", SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "no_such_setting", "1", SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "other.thing", "1", SETTING_NEEDS_RULE},
    /* Pinned by the policy: its value and no other, for whatever spelling of SET. */
    {OPEN, SETTING_SET, "app.tenant", "17", SETTING_PASSES},
    {OPEN, SETTING_SET, "app.tenant", "18", SETTING_REJECTED},
    {OPEN, SETTING_SET_LOCAL, "app.tenant", "18", SETTING_REJECTED},
    {OPEN, SETTING_SET, "app.tenant", NULL, SETTING_REJECTED},
    {READER, SETTING_SET, "timezone", "Asia/Tokyo", SETTING_REJECTED},
    {READER, SETTING_RESET, "app.tenant", "", SETTING_PASSES},
    {READER, SETTING_RESET_ALL, "all", "", SETTING_PASSES},
    /* Always pinned. */
    {OPEN, SETTING_SET, "standard_conforming_strings", "off", SETTING_REJECTED},
    {READER, SETTING_SET, "standard_conforming_strings", "true", SETTING_PASSES},
    {OPEN, SETTING_SET, "client_encoding", "SJIS", SETTING_REJECTED},
    {READER, SETTING_SET, "client_encoding", "utf8", SETTING_PASSES},
    {OPEN, SETTING_SET, "client_encoding", NULL, SETTING_REJECTED},
    {READER, SETTING_SET, "search_path", "shop", SETTING_PASSES},
    {READER, SETTING_SET, "search_path", "public", SETTING_REJECTED},
    {OPEN, SETTING_SET, "search_path", "public", SETTING_NEEDS_RULE},
    /* Down only: from 30 s by default, from the policy's 10 s. */
    {READER, SETTING_SET, "statement_timeout", "30000", SETTING_PASSES},
    {READER, SETTING_SET, "statement_timeout", "31s", SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "statement_timeout", "0", SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "statement_timeout", "0.0001h", SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "lock_timeout", "10s", SETTING_PASSES},
    {READER, SETTING_SET, "lock_timeout", "11s", SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "idle_session_timeout", "5min", SETTING_PASSES},
    {READER, SETTING_SET, "idle_session_timeout", "0", SETTING_PASSES},
    {READER, SETTING_SET, "client_min_messages", "warning", SETTING_PASSES},
    {READER, SETTING_SET, "client_min_messages", "debug5", SETTING_NEEDS_RULE},
    {READER, SETTING_SET, "client_min_messages", "log", SETTING_NEEDS_RULE},
    /* READ WRITE only where the policy writes. */
    {READER, SETTING_TRANSACTION, "transaction_read_only", "on", SETTING_PASSES},
    {READER, SETTING_TRANSACTION, "transaction_read_only", "off", SETTING_REJECTED},
    {WRITER, SETTING_TRANSACTION, "transaction_read_only", "off", SETTING_PASSES},
    {READER, SETTING_SET, "transaction_read_only", "off", SETTING_REJECTED},
    {READER, SETTING_SET, "default_transaction_read_only", "no", SETTING_REJECTED},
    {WRITER, SETTING_SET, "default_transaction_read_only", "no", SETTING_PASSES},
    {READER, SETTING_RESET, "transaction_read_only", "", SETTING_REJECTED},
    {WRITER, SETTING_RESET, "transaction_read_only", "", SETTING_PASSES},
    {READER, SETTING_TRANSACTION, "transaction_isolation", "serializable", SETTING_PASSES},
    {READER, SETTING_TRANSACTION, "transaction_deferrable", "on", SETTING_PASSES},
    {READER, SETTING_TRANSACTION, "transaction_unheard_of", "on", SETTING_NEEDS_RULE},
    {READER, SETTING_SHOW, "search_path", "", SETTING_PASSES},
    {READER, SETTING_SHOW, "data_directory", "", SETTING_NEEDS_RULE},
    {READER, SETTING_SHOW, "app.tenant", "", SETTING_PASSES}, /* the policy gives it */
    {READER, SETTING_SHOW, "app.other", "", SETTING_NEEDS_RULE},
    {READER, SETTING_SHOW, "all", "", SETTING_REJECTED},
    {OPEN, SETTING_SHOW, "all", "", SETTING_PASSES},
};

Test(settings, are_judged_by_class_pin_and_policy)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        cr_expect_eq(judge(cases[i].policy, cases[i].act, cases[i].name, cases[i].value),
                     cases[i].verdict, "case %zu: %s = %s", i, cases[i].name, cases[i].value);
}

static struct text at_start(const struct decide_context *context, const char *name)
{
    size_t count;
    const struct setting_value *values = settings_at_start(&test_arena, context, &count);
    struct text found = TEXT("(not given)");
    size_t times = 0;
    for (size_t i = 0; i < count; i++)
        if (text_is(values[i].name, name)) {
            found = values[i].value;
            times++;
        }
    cr_expect_leq(times, 1, "%s is given %zu times", name, times);
    return found;
}

static const struct {
    int policy;
    const char *name, *value;
} starts[] = {
    {READER, "standard_conforming_strings", "on"},
    {READER, "client_encoding", "UTF8"},
    {READER, "search_path", "\"shop\""},
    {READER, "statement_timeout", "30s"},
    {READER, "lock_timeout", "10s"},
    {READER, "idle_in_transaction_session_timeout", "60s"},
    {READER, "default_transaction_read_only", "on"},
    {READER, "app.tenant", "42"},
    {WRITER, "default_transaction_read_only", "(not given)"},
    {OPEN, "statement_timeout", "(not given)"},
    {OPEN, "standard_conforming_strings", "on"},
    {OPEN, "lock_timeout", "10s"},
};

Test(settings, of_a_session_start_safe)
{
    const struct text values[] = {TEXT("42"), TEXT("UTC"), TEXT("10s")};
    for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
        const struct decide_context context = {.policy = &policies[starts[i].policy], .catalog = NULL, .setting_values = values};
        struct text value = at_start(&context, starts[i].name);
        cr_expect(text_is(value, starts[i].value), "case %zu: %s is %.*s", i, starts[i].name,
                  TEXT_ARGS(value));
    }
}

Test(settings, a_policys_own_default_cannot_undo_read_only)
{
    given[0] = (struct setting_rule){.name = TEXT("default_transaction_read_only"),
                                     .value = TEXT("off")};
    const struct decide_context context = {.policy = &policies[READER], .catalog = NULL, .setting_values = NULL};
    cr_assert(text_is(at_start(&context, "default_transaction_read_only"), "on"));
}

static const struct {
    enum setting_act act;
    const char *name, *value;
    enum setting_verdict verdict;
} of_transactions[] = {
    {SETTING_TRANSACTION, "transaction_read_only", "on", SETTING_PASSES},
    {SETTING_TRANSACTION, "transaction_read_only", "off", SETTING_REJECTED},
    {SETTING_SET_LOCAL, "transaction_read_only", "off", SETTING_REJECTED},
    {SETTING_SET, "transaction_read_only", NULL, SETTING_REJECTED},
    {SETTING_SET, "default_transaction_read_only", "off", SETTING_REJECTED},
    {SETTING_RESET, "transaction_read_only", "", SETTING_REJECTED},
    {SETTING_RESET, "default_transaction_read_only", "", SETTING_PASSES},
    {SETTING_TRANSACTION, "transaction_isolation", "serializable", SETTING_PASSES},
    {SETTING_TRANSACTION, "transaction_isolation", "read committed", SETTING_REJECTED},
    {SETTING_RESET, "transaction_isolation", "", SETTING_REJECTED},
    {SETTING_TRANSACTION, "default_transaction_isolation", "read committed", SETTING_REJECTED},
    {SETTING_TRANSACTION, "default_transaction_read_only", "off", SETTING_REJECTED},
    {SETTING_TRANSACTION, "transaction_deferrable", "on", SETTING_PASSES},
    {SETTING_RESET, "transaction_deferrable", "", SETTING_PASSES},
};

Test(settings, a_pinned_default_of_transactions_binds_each_of_them)
{
    given[0] = (struct setting_rule){
        .name = TEXT("default_transaction_read_only"), .value = TEXT("on"), .pinned = true};
    given[1] = (struct setting_rule){.name = TEXT("default_transaction_isolation"),
                                     .value = TEXT("serializable"),
                                     .pinned = true};
    given[2] = (struct setting_rule){.name = TEXT("default_transaction_deferrable"),
                                     .value = TEXT("off")};
    for (size_t i = 0; i < ARRAY_SIZE(of_transactions); i++)
        cr_expect_eq(judge(WRITER, of_transactions[i].act, of_transactions[i].name,
                           of_transactions[i].value),
                     of_transactions[i].verdict, "case %zu: %s = %s", i, of_transactions[i].name,
                     of_transactions[i].value);
}

Test(settings, of_the_startup_packet_pass_like_set)
{
    const struct decide_context reader = {.policy = &policies[READER], .catalog = NULL, .setting_values = NULL};
    const struct decide_context open = {.policy = &policies[OPEN], .catalog = NULL, .setting_values = NULL};
    cr_expect(setting_startup_passes(&reader, TEXT("DateStyle"), TEXT("ISO")));
    cr_expect(setting_startup_passes(&reader, TEXT("application_name"), TEXT("x")));
    cr_expect_not(setting_startup_passes(&reader, TEXT("Search_Path"), TEXT("public")));
    cr_expect_not(setting_startup_passes(&reader, TEXT("standard_conforming_strings"), TEXT("off")));
    cr_expect_not(setting_startup_passes(&reader, TEXT("work_mem"), TEXT("1GB")));
    cr_expect_not(setting_startup_passes(&reader, TEXT("statement_timeout"), TEXT("0")));
    cr_expect(setting_startup_passes(&open, TEXT("work_mem"), TEXT("1GB")));
    cr_expect_not(setting_startup_passes(&open, TEXT("client_encoding"), TEXT("LATIN1")));
    cr_expect_not(setting_startup_passes(&open, TEXT("app.tenant"), TEXT("1")));
}
