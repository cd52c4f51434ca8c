/*
 * fake_server.h - a server that answers a login with given bytes: for what a real one does too
 * rarely.
 */
#ifndef PGWICKET_TESTS_UPSTREAM_FAKE_SERVER_H
#define PGWICKET_TESTS_UPSTREAM_FAKE_SERVER_H

#include "proxy/base/text.h"

#include <pthread.h>

struct fake_server {
    struct text after_login; /* sent together with the first ReadyForQuery */
    struct text after_sync;  /* sent when five bytes have come after the login */
    char connection_string[128];

    int listener;
    pthread_t thread;
    char received[64]; /* what came after the login, up to the end of the connection */
    size_t received_size;
};

/* Serves one connection on a thread; fake_server_finish waits for its end. */
void fake_server_start(struct fake_server *server);
void fake_server_finish(struct fake_server *server);

/* Only listens: connections are made, and nobody answers. */
void fake_server_listen(struct fake_server *server);

#endif
