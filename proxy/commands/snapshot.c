/* snapshot.c - see snapshot.h. */
#include "proxy/commands/snapshot.h"

#include "proxy/upstream/catalog_load.h"

#include <stdio.h>

struct catalog *snapshot_of(const struct upstream_settings *upstream)
{
    char problem[512];
    struct catalog_loader *loader = catalog_loader_new(upstream->connection.bytes);
    struct catalog *catalog = catalog_loader_load(loader, problem, sizeof problem);
    if (catalog == NULL)
        fprintf(stderr, "pgwicket: %.*s: %s\n", TEXT_ARGS(upstream->name), problem);
    catalog_loader_free(loader);
    return catalog;
}
