/*
 * watch.h - `pgwicket holds --watch`: asks every second, and shows what has changed.
 */
#ifndef PGWICKET_COMMANDS_WATCH_H
#define PGWICKET_COMMANDS_WATCH_H

#include "proxy/commands/client.h"

/* Lists `path` until SIGINT or SIGTERM, which is EXIT_FINE. On a terminal a table that is painted anew;
 * else, and with `json`, a line for each hold that is new or has changed. A server that is away after the
 * first answer is waited for. */
int watch_holds(struct client *client, const char *path, bool json);

#endif
