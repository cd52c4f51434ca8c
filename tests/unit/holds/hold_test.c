/* hold_test.c - edges, digests, who may decide, and copies. */
#include "proxy/holds/hold.h"

#include "proxy/base/attributes.h"
#include "proxy/holds/pack.h"
#include "unit/holds/sample.h"

#include <criterion/criterion.h>
#include <string.h>

/* Every edge, written out by hand from spec 4.2. */
static const struct {
    enum hold_state from;
    enum hold_state to;
} edges[] = {
    {HOLD_NONE, HOLD_PENDING},     {HOLD_PENDING, HOLD_RELEASED}, {HOLD_PENDING, HOLD_REFUSED},
    {HOLD_PENDING, HOLD_EXPIRED},  {HOLD_RELEASED, HOLD_RUNNING}, {HOLD_RELEASED, HOLD_LAPSED},
    {HOLD_RUNNING, HOLD_EXECUTED}, {HOLD_RUNNING, HOLD_RELEASED}, {HOLD_RUNNING, HOLD_FAILED},
    {HOLD_RUNNING, HOLD_DRIFTED},  {HOLD_RUNNING, HOLD_UNKNOWN},
};

static bool is_edge(enum hold_state from, enum hold_state to)
{
    for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
        if (edges[i].from == from && edges[i].to == to)
            return true;
    return false;
}

Test(hold, has_exactly_the_edges_of_the_contract)
{
    for (enum hold_state from = HOLD_NONE; from < HOLD_STATE_COUNT; from++)
        for (enum hold_state to = HOLD_NONE; to < HOLD_STATE_COUNT; to++)
            cr_expect_eq(hold_state_may_become(from, to), is_edge(from, to), "%s -> %s",
                         hold_state_name(from), hold_state_name(to));
}

Test(hold, final_states_are_those_that_nothing_follows)
{
    for (enum hold_state state = HOLD_NONE; state < HOLD_STATE_COUNT; state++)
        cr_expect_eq(hold_state_is_final(state), state >= HOLD_EXECUTED, "%s",
                     hold_state_name(state));
}

Test(hold, state_names_go_both_ways_and_others_are_none)
{
    for (enum hold_state state = HOLD_PENDING; state < HOLD_STATE_COUNT; state++)
        cr_expect_eq(hold_state_from_name(text_from(hold_state_name(state))), state);
    cr_expect_eq(hold_state_from_name(TEXT("Pending")), HOLD_NONE);
    cr_expect_eq(hold_state_from_name(TEXT("")), HOLD_NONE);
    cr_expect_eq(hold_state_from_name(TEXT("none")), HOLD_NONE);
}

static void change_agent(struct hold *hold)
{
    hold->agent = TEXT("batch-bot");
}
static void change_upstream(struct hold *hold)
{
    hold->upstream = TEXT("shop2");
}
static void change_statement(struct hold *hold)
{
    hold->statement = TEXT("DELETE FROM a ");
}
static void change_effect(struct hold *hold)
{
    hold->effect = TEXT("{\"known\": false}");
}
static void change_wire(struct hold *hold)
{
    hold->values_wire.size--;
}
static void drop_type(struct hold *hold)
{
    hold->type_count--;
}
static void drop_value(struct hold *hold)
{
    hold->value_count--;
}
static void drop_setting(struct hold *hold)
{
    hold->setting_count--;
}
static void change_type(struct hold *hold)
{
    static const uint32_t types[] = {23, 25, 25};
    hold->types = types;
}
static void change_null(struct hold *hold)
{
    static const struct hold_value values[] = {
        {STATIC_TEXT("integer"), STATIC_TEXT("42"), false},
        {STATIC_TEXT("text"), STATIC_TEXT(""), false},
        {STATIC_TEXT("text"), STATIC_TEXT("it's \x01 \xE2\x80\x8B"), false},
    };
    hold->values = values;
}
static void change_setting(struct hold *hold)
{
    static const struct hold_setting settings[] = {
        {STATIC_TEXT("TimeZone"), STATIC_TEXT("Europe/Berlin")},
        {STATIC_TEXT("search_path"), STATIC_TEXT("shop, \"shop\"")},
    };
    hold->settings = settings;
}
static void change_rule(struct hold *hold)
{
    hold->rule = TEXT("support.7");
}
static void change_created(struct hold *hold)
{
    hold->created.us++;
}
static void change_plan(struct hold *hold)
{
    hold->plan = TEXT("");
}

static const struct {
    void (*change)(struct hold *hold);
    bool digest;
    bool match;
} digest_cases[] = {
    {change_agent, true, true},     {change_upstream, true, true}, {change_statement, true, true},
    {change_effect, true, false},   {change_wire, true, true},     {drop_type, true, true},
    {drop_value, true, true},       {drop_setting, true, true},    {change_type, true, true},
    {change_null, true, true},      {change_setting, true, true},  {change_rule, false, false},
    {change_created, false, false}, {change_plan, false, false},
};

Test(hold, digest_and_match_depend_on_what_they_are_bound_to)
{
    struct hold hold = sample_hold("DELETE FROM a");
    uint8_t digest[SHA256_SIZE];
    uint8_t match[SHA256_SIZE];
    hold_digest(&hold, digest);
    hold_match(&hold, match);
    cr_expect_neq(memcmp(digest, match, SHA256_SIZE), 0);
    for (size_t i = 0; i < ARRAY_SIZE(digest_cases); i++) {
        struct hold changed = hold;
        uint8_t other[SHA256_SIZE];
        digest_cases[i].change(&changed);
        hold_digest(&changed, other);
        cr_expect_eq(memcmp(digest, other, SHA256_SIZE) != 0, digest_cases[i].digest, "case %zu",
                     i);
        hold_match(&changed, other);
        cr_expect_eq(memcmp(match, other, SHA256_SIZE) != 0, digest_cases[i].match, "case %zu", i);
    }
}

static const struct {
    const char *approvers;
    const char *approver;
    const char *policies[2];
    size_t policy_count;
    bool may;
} approver_cases[] = {
    {"", "alice", {0}, 0, true},
    {"", "", {0}, 0, false},
    {"", "support-bot", {0}, 0, false},
    {"", "alice", {"other", "support"}, 2, true},
    {"", "alice", {"other", "suppor"}, 2, false},
    {"alice", "alice", {0}, 0, true},
    {"alice", "alice", {"other"}, 1, false},
    {"alice", "alic", {0}, 0, false},
    {"alice", "alice2", {0}, 0, false},
    {"bob,alice", "alice", {0}, 0, true},
    {"bob,alice;carol", "alice", {0}, 0, false},
    {"bob,alice;carol", "carol", {0}, 0, false},
    {"bob,alice;carol,bob", "bob", {0}, 0, true},
    {";carol", "carol", {0}, 0, true},
    {";carol", "bob", {0}, 0, false},
    {"carol;", "bob", {0}, 0, false},
    {"support-bot", "support-bot", {0}, 0, false},
};

Test(hold, only_one_of_every_rules_approvers_may_decide)
{
    for (size_t i = 0; i < ARRAY_SIZE(approver_cases); i++) {
        struct hold hold = sample_hold("SELECT 1");
        hold.approvers = text_from(approver_cases[i].approvers);
        struct text policies[] = {text_from(approver_cases[i].policies[0]),
                                  text_from(approver_cases[i].policies[1])};
        bool may = hold_approver_may(&hold, text_from(approver_cases[i].approver), policies,
                                     approver_cases[i].policy_count);
        cr_expect_eq(may, approver_cases[i].may, "case %zu", i);
    }
}

Test(hold, copy_shares_no_memory_with_its_original)
{
    struct arena first;
    struct arena second;
    arena_init(&first);
    arena_init(&second);
    struct hold sample = sample_hold("DELETE FROM a");
    struct hold *middle = hold_copy(&first, &sample);
    struct hold *copy = hold_copy(&second, middle);
    uint8_t digest[SHA256_SIZE];
    hold_digest(middle, digest);
    /* Under AddressSanitizer a shared byte is a use after free. */
    arena_release(&first);
    uint8_t again[SHA256_SIZE];
    hold_digest(copy, again);
    cr_expect_arr_eq(again, digest, SHA256_SIZE);
    cr_expect(text_equal(copy->plan, sample.plan));
    cr_expect(text_equal(copy->approvers, sample.approvers));
    arena_release(&second);
}

Test(pack, refuses_every_cut_and_every_addition)
{
    struct hold hold = sample_hold("SELECT 1");
    struct buffer blob;
    buffer_init(&blob, 4096);
    pack_values(&blob, &hold);
    struct arena arena;
    arena_init(&arena);
    struct hold read = {0};
    cr_expect(unpack_values(&arena, buffer_text(&blob), &read));
    cr_expect_eq(read.value_count, 3);
    for (size_t size = 0; size < blob.size; size++) {
        struct text cut = {(const char *)blob.bytes, size};
        cr_expect_not(unpack_values(&arena, cut, &read), "%zu", size);
        cr_expect_eq(read.value_count, 0);
    }
    buffer_append_byte(&blob, 0);
    cr_expect_not(unpack_values(&arena, buffer_text(&blob), &read));
    arena_release(&arena);
    buffer_release(&blob);
}

Test(pack, refuses_a_count_that_cannot_be_there)
{
    struct arena arena;
    arena_init(&arena);
    struct hold read = {0};
    cr_expect_not(unpack_types(&arena, TEXT("\xFF\xFF\xFF\xFF\0\0\0\1"), &read));
    cr_expect_not(unpack_settings(&arena, TEXT("\xFF\xFF\xFF\xFF"), &read));
    cr_expect_not(unpack_values(&arena, TEXT("\0\0\0\1\0\0\0\0\2\0\0\0\0"), &read));
    cr_expect_lt(arena.size, 1024);
    arena_release(&arena);
}
