/* listener.h - the sockets where agents connect; on the main thread's loop. */
#ifndef PGWICKET_NET_LISTENER_H
#define PGWICKET_NET_LISTENER_H

#include "proxy/config/settings.h"

struct event_base;
struct listeners;

typedef void accepted(void *context, int fd, bool is_unix); /* takes over fd, non-blocking */

/* Binds every address of the configuration. NULL with `problem` if one cannot be. */
struct listeners *listeners_start(struct event_base *base, const struct configuration *configuration,
                                  accepted *on_accept, void *context, char *problem, size_t size);
void listeners_stop_accepting(struct listeners *listeners);
void listeners_free(struct listeners *listeners);

#endif
