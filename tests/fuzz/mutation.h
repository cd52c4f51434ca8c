/* mutation.h - changes SQL texts token by token, so that many of the results can still be parsed.
 */
#ifndef PGWICKET_TESTS_FUZZ_MUTATION_H
#define PGWICKET_TESTS_FUZZ_MUTATION_H

#include "proxy/base/arena.h"

/* A sequence of random numbers that the seed decides. */
struct dice {
    uint64_t state;
};

struct dice dice_from(uint64_t seed);
size_t dice_roll(struct dice *dice, size_t sides); /* 0 … sides - 1; 0 without sides */

/*
 * `text` with one to four changes: tokens swapped, dropped, doubled or replaced; expressions in
 * brackets exchanged for others, of `other` too, or wrapped in something; lines of both mixed. The
 * result lives in the arena, is at most `size_max` bytes long and holds no NUL that the texts do
 * not.
 */
struct text mutate(struct arena *arena, struct dice *dice, struct text text, struct text other,
                   size_t size_max);

#endif
