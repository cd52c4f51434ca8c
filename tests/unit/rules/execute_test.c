/* execute_test.c - templates in rules: EXECUTE, what may not bear their names, policies that only read. */
#include "rules/message.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>

static const struct template templates[] = {
    {.name = TEXT_INIT("orders_of"), .only_reads = true, .max_rows = LIMIT_NONE},
    {.name = TEXT_INIT("refund_order"), .max_rows = 1},
    {.name = TEXT_INIT("close_account"), .max_rows = LIMIT_NONE, .hold = true},
};

static struct policy policy_over(struct rule *rules, size_t count)
{
    struct policy policy = test_policy(rules, count);
    policy.templates = templates;
    policy.template_count = ARRAY_SIZE(templates);
    return policy;
}

static const struct {
    enum verdict of_rule;
    const char *words, *executed;
    enum verdict verdict;
} executions[] = {
    {VERDICT_ALLOW, "execute on refund_order", "refund_order", VERDICT_ALLOW},
    {VERDICT_ALLOW, "execute on refund_*", "refund_order", VERDICT_ALLOW},
    {VERDICT_ALLOW, "execute on *", "refund_order", VERDICT_ALLOW},
    {VERDICT_ALLOW, "all on *", "refund_order", VERDICT_ALLOW},
    {VERDICT_HOLD, "execute on refund_order", "refund_order", VERDICT_HOLD},
    {VERDICT_REJECT, "execute on refund_order", "refund_order", VERDICT_REJECT},
    {VERDICT_ALLOW, "execute on orders_of", "refund_order", VERDICT_REJECT},
    {VERDICT_ALLOW, "execute on refund", "refund_order", VERDICT_REJECT},
    {VERDICT_ALLOW, "select update call on shop.*", "refund_order", VERDICT_REJECT},
    {VERDICT_ALLOW, "execute on close_account", "close_account", VERDICT_HOLD},
    {VERDICT_HOLD, "execute on close_account", "close_account", VERDICT_HOLD},
    {VERDICT_REJECT, "execute on *", "close_account", VERDICT_REJECT},
    {VERDICT_ALLOW, "all on *", "close_account", VERDICT_HOLD},
};

Test(execute, stricter_of_rule_and_template_decides)
{
    for (size_t i = 0; i < ARRAY_SIZE(executions); i++) {
        struct rule rules[] = {test_rule(executions[i].of_rule, executions[i].words)};
        struct policy policy = policy_over(rules, 1);
        struct shape shape = test_shape(STATEMENT_EXECUTE, NULL, 0);
        shape.name = text_from(executions[i].executed);
        struct decision decision = test_decide(&policy, NULL, &shape);
        cr_expect_eq(decision.verdict, executions[i].verdict, "case %zu", i);
        cr_assert_eq(decision.action_count, 1);
        cr_expect_eq(decision.actions[0].action->verb, VERB_EXECUTE);
        cr_expect_eq(decision.actions[0].action->object.kind, OBJECT_TEMPLATE);
        if (decision.verdict == VERDICT_HOLD)
            cr_expect_eq(decision.quorum, 1);
    }
}

Test(execute, prepared_statement_of_another_name_needs_no_rule)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = policy_over(rules, 1);
    struct shape shape = test_shape(STATEMENT_EXECUTE, NULL, 0);
    shape.name = TEXT("p");
    cr_expect_eq(test_decide(&policy, NULL, &shape).verdict, VERDICT_ALLOW);
    shape.name = TEXT("REFUND_ORDER");
    cr_expect_eq(test_decide(&policy, NULL, &shape).verdict, VERDICT_ALLOW);
}

/* What the arguments call is judged beside the template. */
Test(execute, arguments_are_judged_too)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "execute on refund_order")};
    struct policy policy = policy_over(rules, 1);
    struct action call = {.verb = VERB_CALL,
                          .object = {OBJECT_NAME, TEXT("shop"), TEXT("bump")},
                          .rows_max = ROWS_UNPROVEN};
    struct shape shape = test_shape(STATEMENT_EXECUTE, &call, 1);
    shape.name = TEXT("refund_order");
    cr_expect_eq(test_decide(&policy, NULL, &shape).verdict, VERDICT_REJECT);
}

static const struct {
    enum statement_kind kind, inner;
    const char *name, *inner_name;
    const char *message;
} misuses[] = {
    {STATEMENT_PREPARE, STATEMENT_SELECT, "refund_order", "",
     "pgwicket: refund_order is a template, so nothing can be prepared under this name; nothing was run"},
    {STATEMENT_EXPLAIN, STATEMENT_EXECUTE, "", "refund_order",
     "pgwicket: refund_order is a template, so it runs only as a statement of its own; nothing was run"},
    {STATEMENT_UTILITY, STATEMENT_EXECUTE, "", "refund_order",
     "pgwicket: refund_order is a template, so it runs only as a statement of its own; nothing was run"},
};

Test(execute, name_of_a_template_stands_for_nothing_else)
{
    for (size_t i = 0; i < ARRAY_SIZE(misuses); i++) {
        struct rule rules[] = {test_rule(VERDICT_ALLOW, "all on *")};
        struct policy policy = policy_over(rules, 1);
        policy.transparent = true;
        const struct decide_context context = {.policy = &policy};
        const struct numbers numbers = {0};
        struct shape inner = test_shape(misuses[i].inner, NULL, 0);
        struct shape shape = test_shape(misuses[i].kind, NULL, 0);
        inner.name = text_from(misuses[i].inner_name);
        shape.name = text_from(misuses[i].name);
        shape.inner = &inner;
        struct decision decision = test_decide(&policy, NULL, &shape);
        cr_assert_eq(decision.verdict, VERDICT_REJECT, "case %zu", i);
        cr_expect_eq(decision.failed, CONDITION_TEMPLATE_NAME);
        struct error_text error = message_rejected(&test_arena, &context, &shape, &decision, &numbers);
        cr_expect(text_is(error.message, misuses[i].message), "%.*s", TEXT_ARGS(error.message));
        cr_expect(error.hint.size > 0);
    }
}

Test(execute, rejection_says_execute_of_the_template)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = policy_over(rules, 1);
    const struct decide_context context = {.policy = &policy};
    const struct numbers numbers = {0};
    struct shape shape = test_shape(STATEMENT_EXECUTE, NULL, 0);
    shape.name = TEXT("refund_order");
    struct decision decision = test_decide(&policy, NULL, &shape);
    struct error_text error = message_rejected(&test_arena, &context, &shape, &decision, &numbers);
    cr_expect(text_is(error.message,
                      "pgwicket: EXECUTE of refund_order is not allowed; nothing was run"),
              "%.*s", TEXT_ARGS(error.message));
}

static const struct {
    enum verdict verdict;
    const char *words;
    bool reads_only, holds;
} facts[] = {
    {VERDICT_ALLOW, "select execute on shop.orders orders_of", true, false},
    {VERDICT_ALLOW, "execute on orders_of", true, false},
    {VERDICT_ALLOW, "execute on orders_*", true, false},
    {VERDICT_ALLOW, "execute on refund_order", false, false},
    {VERDICT_ALLOW, "execute on *", false, true},
    {VERDICT_REJECT, "execute on *", true, false},
    {VERDICT_HOLD, "execute on orders_of", true, true},
    {VERDICT_ALLOW, "execute on close_account", false, true},
    {VERDICT_ALLOW, "execute on c*", false, true},
};

Test(execute, policy_reads_only_and_holds_as_its_templates_do)
{
    for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
        struct rule rules[] = {test_rule(facts[i].verdict, facts[i].words)};
        struct policy policy = policy_over(rules, 1);
        cr_expect_eq(policy_reads_only(&policy), facts[i].reads_only, "%s", facts[i].words);
        cr_expect_eq(policy_holds(&policy), facts[i].holds, "%s", facts[i].words);
    }
}
