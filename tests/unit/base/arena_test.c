/* arena_test.c - allocation, alignment, reset. */
#include "proxy/base/arena.h"

#include "tests/unit/base/check.h"

Test(arena, gives_zeroed_aligned_memory_of_every_size)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t size = 0; size < 300; size++) {
        uint8_t *memory = arena_allocate(&arena, size);
        cr_assert_eq((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++) {
            cr_assert_eq(memory[i], 0);
            memory[i] = 0xFF;
        }
    }
    arena_release(&arena);
}

Test(arena, gives_more_than_a_block)
{
    struct arena arena;
    arena_init(&arena);
    uint8_t *large = arena_allocate(&arena, 3 * 1024 * 1024);
    large[3 * 1024 * 1024 - 1] = 1;
    uint8_t *small = arena_allocate(&arena, 16);
    small[15] = 1;
    cr_expect_geq(arena.size, 3 * 1024 * 1024 + 16);
    arena_release(&arena);
    cr_expect_eq(arena.size, 0);
}

Test(arena, is_zeroed_again_after_reset)
{
    struct arena arena;
    arena_init(&arena);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            uint8_t *memory = arena_allocate(&arena, 100);
            for (size_t at = 0; at < 100; at++) {
                cr_assert_eq(memory[at], 0);
                memory[at] = 0xAA;
            }
        }
        arena_reset(&arena);
        cr_expect_eq(arena.size, 0);
    }
    arena_release(&arena);
}

Test(arena, copies_texts_with_a_nul_behind)
{
    struct arena arena;
    arena_init(&arena);
    char original[] = "abc";
    struct text copy = arena_text(&arena, (struct text){original, 2});
    original[0] = 'x';
    CHECK_TEXT(copy, "ab");
    cr_expect_eq(copy.bytes[2], '\0');
    CHECK_TEXT(arena_text(&arena, (struct text){NULL, 0}), "");
    CHECK_TEXT(arena_printf(&arena, "%s.%s", "shop", "orders"), "shop.orders");
    arena_release(&arena);
}

Test(arena, push_keeps_elements_when_it_grows)
{
    struct arena arena;
    arena_init(&arena);
    void *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        int *item = arena_push(&arena, &items, &count, &capacity, sizeof *item);
        cr_assert_eq(*item, 0);
        *item = i;
    }
    cr_expect_eq(count, 1000);
    for (int i = 0; i < 1000; i++)
        cr_expect_eq(((int *)items)[i], i);
    arena_release(&arena);
}

Test(arena, array_whose_size_overflows_ends_the_process, .signal = SIGABRT)
{
    struct arena arena;
    arena_init(&arena);
    arena_array(&arena, SIZE_MAX / 2, 4);
}
