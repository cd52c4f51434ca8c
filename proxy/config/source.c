/* source.c - see source.h. A file that is too large is cut where the document reader sees that it is. */
#include "proxy/config/source.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool source_read(const char *path, struct text *source, struct buffer *problems)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        buffer_printf(problems, "%s: error: %s\n", path, strerror(errno));
        return false;
    }
    char *bytes = memory_allocate(LIMIT_CONFIGURATION_BYTES + 1);
    size_t size = fread(bytes, 1, LIMIT_CONFIGURATION_BYTES + 1, file);
    bool failed = ferror(file) != 0;
    int reason = errno;
    fclose(file);
    *source = (struct text){bytes, size};
    if (!failed)
        return true;
    buffer_printf(problems, "%s: error: cannot be read: %s\n", path, strerror(reason));
    source_release(*source);
    return false;
}

void source_release(struct text source)
{
    char *bytes = (char *)(uintptr_t)source.bytes;
    explicit_bzero(bytes, source.size);
    free(bytes);
}
