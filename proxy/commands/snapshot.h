/* snapshot.h - the catalog of an upstream, loaded once for a command. */
#ifndef PGWICKET_COMMANDS_SNAPSHOT_H
#define PGWICKET_COMMANDS_SNAPSHOT_H

#include "parser/catalog.h"
#include "proxy/config/settings.h"

/* For catalog_release. NULL if it cannot be had; why is said on standard error. */
struct catalog *snapshot_of(const struct upstream_settings *upstream);

#endif
