/* invariant_test.c - a broken invariant ends the process in every build. */
#include "proxy/base/invariant.h"

#include "tests/unit/base/check.h"

Test(invariant, holds_without_effect)
{
    int evaluated = 0;
    INVARIANT(++evaluated == 1);
    cr_expect_eq(evaluated, 1);
}

Test(invariant, ends_the_process_when_broken, .signal = SIGABRT)
{
    INVARIANT(1 + 1 == 3);
}

Test(invariant, memory_of_size_zero_is_a_pointer)
{
    void *pointers[] = {memory_allocate(0), memory_allocate_zeroed(0, 8), memory_resize(NULL, 0)};
    for (size_t i = 0; i < ARRAY_SIZE(pointers); i++) {
        cr_expect_not_null(pointers[i]);
        free(pointers[i]);
    }
}

Test(invariant, copy_of_a_string_is_its_own)
{
    char original[] = "abc";
    char *copy = memory_copy_string(original);
    original[0] = 'x';
    cr_expect_str_eq(copy, "abc");
    free(copy);
}
