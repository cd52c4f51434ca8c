/*
 * lines.h - standard input by lines, for commands that answer each line: what was written to standard
 * output goes out before they wait for more.
 */
#ifndef PGWICKET_COMMANDS_LINES_H
#define PGWICKET_COMMANDS_LINES_H

#include "proxy/base/buffer.h"

struct lines {
    struct buffer input; /* born with the size of the longest line and its end */
    size_t at;           /* of the next line */
    bool at_end;         /* nothing more can be read */
    bool skipping;       /* inside a line that was too long */
};

void lines_init(struct lines *lines, size_t line_bytes_max);
void lines_release(struct lines *lines);

/* The next line without its end, "\n" or "\r\n"; valid until the next call. Of one that is too long
 * *too_long is set and the text is empty. False at the end of the input. */
bool lines_next(struct lines *lines, struct text *line, bool *too_long);

#endif
