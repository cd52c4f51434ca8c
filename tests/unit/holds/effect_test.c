/* effect_test.c - effects as JSON and back, equal or not, in words. */
#include "proxy/holds/effect.h"

#include "proxy/base/attributes.h"

#include <criterion/criterion.h>

static const struct effect_table tables[] = {
    {.table = TEXT_INIT("shop.orders"), .via = VIA_TARGET, .deleted = 42, .total = 104000},
    {.table = TEXT_INIT("shop.order_items"),
     .via = VIA_CASCADE,
     .constraint = TEXT_INIT("order_items_order_id_fkey"),
     .action = TEXT_INIT("cascade"),
     .parent = TEXT_INIT("shop.orders"),
     .depth = 1,
     .deleted = 126,
     .total = -1},
    {.table = TEXT_INIT("shop.audit_log"), .via = VIA_TRIGGER, .inserted = 42, .total = 9},
};
static const struct text key[] = {TEXT_INIT("id")};
static const struct effect_row sample[] = {
    {.old_row = TEXT_INIT("{\"id\":7,\"note\":\"a\\\"b\"}")},
};
static const struct effect_named named[] = {{TEXT_INIT("7"), TEXT_INIT("9b1c")}};
static const struct effect_residue residues[] = {
    {TEXT_INIT("sequence"), TEXT_INIT("shop.audit_log_id_seq"), 42},
};

static struct effect deletion(void)
{
    return (struct effect){.bound = EFFECT_BY_ROWS,
                           .tables = tables,
                           .table_count = ARRAY_SIZE(tables),
                           .row_count = 42,
                           .fingerprint = TEXT("9b1c"),
                           .key = key,
                           .key_count = 1,
                           .sample = sample,
                           .sample_count = 1,
                           .named = named,
                           .named_count = 1,
                           .not_undone = residues,
                           .not_undone_count = 1,
                           .duration_us = 3100};
}

static struct text as_json(struct buffer *out, const struct effect *effect)
{
    buffer_init(out, 1 << 20);
    effect_to_json(out, effect);
    return buffer_text(out);
}

static void expect_text(struct text found, const char *expected)
{
    cr_expect(text_is(found, expected), "%.*s", TEXT_ARGS(found));
}

Test(effect, comes_back_from_its_json)
{
    struct arena arena;
    struct buffer first, second;
    struct effect effect = deletion(), back;
    arena_init(&arena);
    struct text json = as_json(&first, &effect);
    cr_assert(effect_from_json(&arena, json, &back));
    cr_expect(effect_equal(&effect, &back));
    cr_expect_eq(back.sample_count, 0, "it is for people only");
    back.sample = effect.sample;
    back.sample_count = effect.sample_count;
    cr_expect(text_equal(as_json(&second, &back), json));
    buffer_release(&first);
    buffer_release(&second);
    arena_release(&arena);
}

Test(effect, every_key_of_its_json_is_needed_to_read_it)
{
    struct arena arena;
    struct buffer out;
    struct effect effect = deletion(), back;
    arena_init(&arena);
    struct text json = as_json(&out, &effect);
    static const char *const keys[] = {"known",   "bound",       "tables",      "objects",
                                       "locks",   "triggers",    "rows",        "not_undone",
                                       "notices", "duration_ms", "fingerprint", "deleted",
                                       "via",     "constraint",  "depth"};
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        struct text quoted = arena_printf(&arena, "\"%s\"", keys[i]);
        struct text broken = arena_text(&arena, json);
        for (size_t at = 0; at + quoted.size <= broken.size; at++)
            if (text_starts_with(text_behind(broken, at), quoted.bytes))
                ((char *)(uintptr_t)broken.bytes)[at + 1] = '_';
        cr_expect_not(effect_from_json(&arena, broken, &back), "%s", keys[i]);
        cr_expect_eq(back.bound, EFFECT_UNKNOWN);
    }
    buffer_release(&out);
    arena_release(&arena);
}

Test(effect, what_is_not_known_is_equal_to_nothing)
{
    struct effect unknown = {.row_count = -1, .why = TEXT("CALL runs code")};
    struct effect known = deletion();
    cr_expect_not(effect_equal(&unknown, &unknown));
    cr_expect_not(effect_equal(&unknown, &known));
    cr_expect_not(effect_equal(&known, &unknown));
}

Test(effect, other_counts_are_another_effect)
{
    struct arena arena;
    arena_init(&arena);
    struct effect shown = deletion();
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        struct effect_table changed[ARRAY_SIZE(tables)] = {tables[0], tables[1], tables[2]};
        struct effect found = deletion();
        found.tables = changed;
        changed[i].deleted++;
        cr_expect_not(effect_equal(&shown, &found));
        cr_expect(effect_difference(&arena, &shown, &found, true).size > 0);
        changed[i].deleted--;
        cr_expect(effect_equal(&shown, &found));
        cr_expect_eq(effect_difference(&arena, &shown, &found, true).size, 0);
    }
    struct effect fewer = deletion();
    fewer.table_count--;
    cr_expect_not(effect_equal(&shown, &fewer));
    cr_expect_not(effect_equal(&fewer, &shown));
    arena_release(&arena);
}

Test(effect, other_rows_are_another_effect_unless_bound_by_counts)
{
    struct arena arena;
    arena_init(&arena);
    struct effect shown = deletion(), found = deletion();
    found.fingerprint = TEXT("77aa");
    cr_expect_not(effect_equal(&shown, &found));
    expect_text(effect_difference(&arena, &shown, &found, true),
                "shop.orders with what cascades reach from it: the same numbers, but other rows, or rows with "
                "other values");
    shown.bound = EFFECT_BY_COUNTS; /* of what cascades reach; the target's rows are told all the same */
    cr_expect_not(effect_equal(&shown, &found));
    found = shown;
    cr_expect(effect_equal(&shown, &found));
    shown.fingerprint = TEXT("");
    cr_expect(effect_equal(&shown, &found));
    shown = found = deletion();
    found.bound = EFFECT_BY_COUNTS;
    cr_expect_not(effect_equal(&shown, &found));
    shown.fingerprint = found.fingerprint = TEXT("");
    found.bound = EFFECT_BY_ROWS;
    cr_expect_not(effect_equal(&shown, &found));
    arena_release(&arena);
}

Test(effect, objects_count_by_kind_name_change_and_rows)
{
    struct arena arena;
    arena_init(&arena);
    struct effect_object a = {.kind = TEXT("table"),
                              .name = TEXT("shop.old"),
                              .change = TEXT("dropped"),
                              .via = TEXT("target"),
                              .rows = 10,
                              .bytes = 100};
    struct effect_object b = a;
    struct effect shown = {
        .bound = EFFECT_BY_COUNTS, .objects = &a, .object_count = 1, .row_count = -1};
    struct effect found = {
        .bound = EFFECT_BY_COUNTS, .objects = &b, .object_count = 1, .row_count = -1};
    b.bytes = 5; /* the size on disk is not bound */
    cr_expect(effect_equal(&shown, &found));
    b.rows = 11;
    cr_expect_not(effect_equal(&shown, &found));
    expect_text(
        effect_difference(&arena, &shown, &found, true),
        "no longer: table shop.old dropped (10 rows); now: table shop.old dropped (11 rows)");
    struct text *const bound[] = {&b.kind, &b.name, &b.change, &b.via, &b.parent, &b.detail};
    for (size_t i = 0; i < ARRAY_SIZE(bound); i++) {
        b = a;
        *bound[i] = TEXT("other");
        cr_expect_not(effect_equal(&shown, &found), "%zu", i);
        cr_expect(effect_difference(&arena, &shown, &found, true).size > 0, "%zu", i);
    }
    found.object_count = 0;
    cr_expect_not(effect_equal(&shown, &found));
    arena_release(&arena);
}

Test(effect, objects_and_locks_come_back_from_their_json)
{
    struct arena arena;
    struct buffer first, second;
    arena_init(&arena);
    const struct effect_object dropped[] = {
        {.kind = TEXT("table"),
         .name = TEXT("shop.\"Old\""),
         .change = TEXT("dropped"),
         .via = TEXT("target"),
         .rows = 10,
         .bytes = 8192},
        {.kind = TEXT("view"),
         .name = TEXT("shop.v"),
         .change = TEXT("dropped"),
         .via = TEXT("cascade"),
         .parent = TEXT("shop.\"Old\""),
         .detail = TEXT("a; b"),
         .rows = -1,
         .bytes = -1},
    };
    const struct effect_lock locks[] = {{TEXT("shop.\"Old\""), TEXT("access exclusive")}};
    struct effect effect = {.bound = EFFECT_BY_COUNTS,
                            .row_count = -1,
                            .objects = dropped,
                            .object_count = 2,
                            .locks = locks,
                            .lock_count = 1};
    struct effect back;
    struct text json = as_json(&first, &effect);
    cr_assert(effect_from_json(&arena, json, &back));
    cr_expect(effect_equal(&effect, &back));
    cr_expect(text_equal(as_json(&second, &back), json));
    expect_text(effect_in_words(&arena, &effect),
                "table shop.\"Old\" dropped with 10 rows, view shop.v dropped (cascade)");
    buffer_release(&first);
    buffer_release(&second);
    arena_release(&arena);
}

Test(effect, reads_like_a_sentence)
{
    struct arena arena;
    arena_init(&arena);
    struct effect effect = deletion();
    expect_text(effect_in_words(&arena, &effect),
                "shop.orders 42 deleted, shop.order_items 126 deleted (cascade), shop.audit_log 42 "
                "inserted (trigger)");
    effect = (struct effect){.bound = EFFECT_BY_COUNTS, .row_count = -1};
    expect_text(effect_in_words(&arena, &effect), "no rows");
    effect.bound = EFFECT_UNKNOWN;
    expect_text(effect_in_words(&arena, &effect), "effect unknown");
    arena_release(&arena);
}

Test(effect, rows_are_counted_with_or_without_those_of_triggers)
{
    struct effect effect = deletion();
    cr_expect_eq(effect_rows(&effect, false), 168);
    cr_expect_eq(effect_rows(&effect, true), 210);
}

static bool has(struct text text, const char *part)
{
    for (; text.size > 0; text = text_behind(text, 1))
        if (text_starts_with(text, part))
            return true;
    return false;
}

Test(effect, says_which_rows_differ_where_their_keys_may_be_told)
{
    static const struct effect_named before[] = {{TEXT_INIT("7"), TEXT_INIT("aa")}, {TEXT_INIT("8"), TEXT_INIT("bb")}, {TEXT_INIT("9"), TEXT_INIT("cc")}};
    static const struct effect_named after[] = {{TEXT_INIT("8"), TEXT_INIT("bb")}, {TEXT_INIT("9"), TEXT_INIT("dd")}, {TEXT_INIT("10"), TEXT_INIT("ee")}};
    struct arena arena;
    arena_init(&arena);
    struct effect shown = deletion(), found = deletion();
    found.fingerprint = TEXT("77aa");
    shown.named = before;
    found.named = after;
    shown.named_count = found.named_count = 3;
    shown.row_count = found.row_count = 3;
    struct text all = effect_difference(&arena, &shown, &found, true);
    struct text numbers = effect_difference(&arena, &shown, &found, false);
    cr_expect(has(all, "rows added: id 10; rows gone: id 7; rows that are other than before: id 9"), "%.*s", TEXT_ARGS(all));
    cr_expect(has(numbers, "rows added: 1; rows gone: 1; rows that are other than before: 1"), "%.*s", TEXT_ARGS(numbers));
    found.named_count = 0; /* too many: what is missing has not gone */
    all = effect_difference(&arena, &shown, &found, true);
    cr_expect_not(has(all, "gone"), "%.*s", TEXT_ARGS(all));
    found.row_count = 0; /* none */
    all = effect_difference(&arena, &shown, &found, true);
    cr_expect_not_null(memmem(all.bytes, all.size, "rows gone: id 7, 8, 9", 21), "%.*s", TEXT_ARGS(all));
    static const struct text other_key[] = {TEXT_INIT("number")};
    found.key = other_key; /* of the old one nobody has asked whether it may be told */
    all = effect_difference(&arena, &shown, &found, true);
    cr_expect_not(has(all, "gone"), "%.*s", TEXT_ARGS(all));
    found.key_count = 0;
    all = effect_difference(&arena, &shown, &found, true);
    cr_expect_not(has(all, "gone"), "%.*s", TEXT_ARGS(all));
    arena_release(&arena);
}
