/* explain_test.c - the numbers in EXPLAIN's text, and no number where it is not one. */
#include "proxy/session/internal.h"

#include <criterion/criterion.h>

static struct arena arena; /* of the test process */

static const struct shape write_shape = {.kind = STATEMENT_WRITE};
static const struct shape select_shape = {.kind = STATEMENT_SELECT};

Test(explain, reads_a_select)
{
    struct estimate estimate;
    cr_assert(explain_read(&arena, TEXT("[{\"Plan\": {\"Node Type\": \"Seq Scan\", \"Total Cost\": 12.5, \"Plan Rows\": 40}}]"),
                           &select_shape, &estimate));
    cr_assert_eq(estimate.rows, 40);
    cr_assert_eq(estimate.cost, 12.5);
    cr_assert_not(estimate.unanalysed);
}

Test(explain, counts_the_inputs_of_every_write)
{
    const struct text json =
        TEXT("[{\"Plan\": {\"Node Type\": \"ModifyTable\", \"Total Cost\": 9, \"Plan Rows\": 0, \"Plans\": ["
             "{\"Node Type\": \"ModifyTable\", \"Parent Relationship\": \"InitPlan\", \"Plan Rows\": 0, \"Plans\": ["
             "{\"Node Type\": \"Seq Scan\", \"Parent Relationship\": \"Outer\", \"Plan Rows\": 3}]},"
             "{\"Node Type\": \"Index Scan\", \"Parent Relationship\": \"Outer\", \"Plan Rows\": 7},"
             "{\"Node Type\": \"Result\", \"Parent Relationship\": \"SubPlan\", \"Plan Rows\": 100}]}}]");
    struct estimate estimate;
    cr_assert(explain_read(&arena, json, &write_shape, &estimate));
    cr_assert_eq(estimate.rows, 10);
    cr_assert_eq(estimate.cost, 9);
}

Test(explain, adds_the_queries_that_rules_make_of_one)
{
    struct estimate estimate;
    cr_assert(explain_read(&arena, TEXT("[{\"Plan\": {\"Node Type\": \"ModifyTable\", \"Total Cost\": 3, \"Plans\": [{\"Node Type\": "
                                "\"Seq Scan\", \"Plan Rows\": 2}]}}, {\"Plan\": {\"Node Type\": \"ModifyTable\", \"Total "
                                "Cost\": 5, \"Plans\": [{\"Node Type\": \"Seq Scan\", \"Plan Rows\": 4}]}}]"),
                           &write_shape, &estimate));
    cr_assert_eq(estimate.rows, 6);
    cr_assert_eq(estimate.cost, 5);
}

Test(explain, says_when_a_written_table_was_never_analysed)
{
    const struct relation fresh = {.rows = -1};
    const struct action action = {.verb = VERB_UPDATE, .relation = &fresh};
    const struct shape shape = {.kind = STATEMENT_WRITE, .actions = &action, .action_count = 1};
    struct estimate estimate;
    cr_assert(explain_read(&arena, TEXT("[{\"Plan\": {\"Node Type\": \"ModifyTable\", \"Total Cost\": 1}}]"), &shape, &estimate));
    cr_assert(estimate.unanalysed);
}

Test(explain, knows_nothing_from_other_texts)
{
    static const char *const texts[] = {"", "[]", "{}", "null", "[1, 2]", "[{\"Plan\": {}}]", "[{\"Plan\": 3}]",
                                        "[{\"Plan\": {\"Total Cost\": \"12\"}}]", "[{\"Plan\": {\"Total Cost\": 12}",
                                        "QUERY PLAN", "[{\"Plan\": {\"Total Cost\": -5}}]"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct estimate estimate;
        cr_assert_not(explain_read(&arena, text_from(texts[i]), &write_shape, &estimate), "%s", texts[i]);
    }
}

/* A step's own cost is what its inputs do not account for. */
Test(explain, names_the_most_expensive_step)
{
    static const struct {
        const char *plan, *node, *schema, *table;
        double rows;
    } all[] = {
        {"{\"Node Type\": \"Aggregate\", \"Total Cost\": 110, \"Plan Rows\": 1, \"Plans\": [{\"Node Type\": "
         "\"Seq Scan\", \"Schema\": \"shop\", \"Relation Name\": \"items\", \"Total Cost\": 100, \"Plan "
         "Rows\": 150000}]}",
         "sequential scan", "shop", "items", 150000},
        {"{\"Node Type\": \"Sort\", \"Total Cost\": 300, \"Plan Rows\": 70, \"Plans\": [{\"Node Type\": \"Bitmap "
         "Heap Scan\", \"Relation Name\": \"items\", \"Total Cost\": 100, \"Plan Rows\": 70}]}",
         "sort", "", "", 70},
        {"{\"Total Cost\": 4}", "", "", "", -1},
    };
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        struct estimate estimate;
        struct text json = arena_printf(&arena, "[{\"Plan\": %s}]", all[i].plan);
        cr_assert(explain_read(&arena, json, &select_shape, &estimate));
        cr_expect(text_is(estimate.costliest.node, all[i].node), "%s", all[i].plan);
        cr_expect(text_is(estimate.costliest.schema, all[i].schema), "%s", all[i].plan);
        cr_expect(text_is(estimate.costliest.table, all[i].table), "%s", all[i].plan);
        cr_expect_eq(estimate.costliest.rows, all[i].rows);
    }
}
