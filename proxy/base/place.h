/* place.h - where something stands in a file that a person wrote. */
#ifndef PGWICKET_BASE_PLACE_H
#define PGWICKET_BASE_PLACE_H

#include <stddef.h>

/* Line and column from 1; columns count characters. Line 0: about the whole file, or not from one. */
struct place {
    size_t line;
    size_t column;
};

#endif
