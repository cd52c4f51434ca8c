/* reached_test.c - what CASCADE reached becomes actions that rules can name. */
#include "proxy/session/measure.h"

#include <criterion/criterion.h>

static const struct {
    const char *kind, *name, *change, *via;
    const char *action; /* NULL: none */
} cases[] = {
    {"table", "shop.items", "dropped", "cascade", "drop shop.items"},
    {"view", "shop.\"Old.View\"", "dropped", "cascade", "drop shop.Old.View"},
    {"function", "shop.\"f(\"(integer, shop.t)", "dropped", "cascade", "drop shop.f("},
    {"aggregate", "shop.total(numeric)", "dropped", "cascade", "drop shop.total"},
    {"type", "shop.mood", "dropped", "cascade", "drop shop.mood"},
    {"schema", "\"Shop\"", "dropped", "cascade", "drop schema:Shop"},
    {"table constraint", "\"a on b\" on shop.items", "dropped", "cascade", "alter shop.items"},
    {"trigger", "t on shop.items", "dropped", "cascade", "alter shop.items"},
    {"default value", "for shop.items.id", "dropped", "cascade", "alter shop.items"},
    {"table column", "shop.\"It.ems\".\"a b\"", "dropped", "cascade", "alter shop.It.ems"},
    {"table", "shop.items", "emptied", "cascade", "truncate shop.items"},
    {"cast", "(integer as shop.mood)", "dropped", "cascade", "drop (none)"},
    {"view", "shop.\"*\"", "dropped", "cascade", "drop shop.*"},
    {"table", "shop.items", "dropped", "target", NULL},
    {"sequence", "shop.items_id_seq", "dropped", "part", NULL},
    {"table", "shop.items", "changed", "cascade", NULL},
};

Test(reached, names_what_cascade_took)
{
    struct arena arena;
    arena_init(&arena);
    const struct action drop = {.verb = VERB_DROP, .object = {OBJECT_NAME, TEXT("shop"), TEXT("orders")}};
    const struct shape shape = {.actions = &drop, .action_count = 1};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct effect_object object = {.kind = text_from(cases[i].kind),
                                             .name = text_from(cases[i].name),
                                             .change = text_from(cases[i].change),
                                             .via = text_from(cases[i].via)};
        const struct effect effect = {.objects = &object, .object_count = 1};
        const struct shape *whole = measure_reached(&arena, &shape, &effect);
        if (cases[i].action == NULL) {
            cr_expect_eq(whole, &shape, "case %zu", i);
            continue;
        }
        cr_assert_eq(whole->action_count, 2, "case %zu", i);
        const struct action *reached = &whole->actions[1];
        struct text told = arena_printf(&arena, "%s %.*s", verb_name(reached->verb),
                                        TEXT_ARGS(object_text(&arena, &reached->object)));
        cr_expect(text_is(told, cases[i].action), "case %zu: %.*s", i, TEXT_ARGS(told));
        cr_expect_eq(reached->cascade, reached->verb != VERB_TRUNCATE, "case %zu", i);
    }
    arena_release(&arena);
}
