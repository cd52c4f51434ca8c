/* queue_test.c - the ring of outstanding requests against an array. */
#include "proxy/session/queue.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

Test(queue, is_empty_at_first)
{
    struct queue queue;
    queue_init(&queue);
    cr_assert_null(queue_head(&queue));
    queue_release(&queue);
}

Test(queue, pushes_zeroed_requests)
{
    struct queue queue;
    queue_init(&queue);
    for (int i = 0; i < 40; i++) {
        struct request *request = queue_push(&queue);
        cr_assert_eq(request->kind, 0);
        cr_assert_null(request->poison);
        request->kind = REQUEST_SYNC;
        request->poison = (char *)&queue;
        (void)queue_pop(&queue);
    }
    queue_release(&queue);
}

/* Thousands of pushes and pops in random order: the order of what comes out is that of what went in. */
Test(queue, keeps_the_order)
{
    enum { ROUNDS = 20000, MODEL = ROUNDS };
    static size_t model[MODEL];
    size_t first = 0, last = 0;
    unsigned random = 7;
    struct queue queue;
    queue_init(&queue);
    for (size_t i = 0; i < ROUNDS; i++) {
        if (next_random(&random) % 5 < 3 && last < MODEL) {
            queue_push(&queue)->poison_size = i;
            model[last++] = i;
        } else if (first < last) {
            cr_assert_eq(queue_head(&queue)->poison_size, model[first]);
            cr_assert_eq(queue_pop(&queue).poison_size, model[first]);
            first++;
        }
        cr_assert_eq(queue.count, last - first);
        if (last > first) {
            size_t index = next_random(&random) % (last - first);
            cr_assert_eq(queue_at(&queue, index)->poison_size, model[first + index]);
        }
    }
    while (first < last)
        cr_assert_eq(queue_pop(&queue).poison_size, model[first++]);
    cr_assert_null(queue_head(&queue));
    queue_release(&queue);
}
