/*
 * conn.h - one client from accept to close: the door (start-up, TLS, SCRAM, upstream login), then the
 * session between two streams. All on its worker's thread.
 */
#ifndef PGWICKET_NET_CONN_H
#define PGWICKET_NET_CONN_H

#include "proxy/net/worker.h"

struct conn;

struct conn *conn_open(struct worker *worker, uint64_t number, int fd, bool is_unix);
uint64_t conn_number(const struct conn *conn);

/* True when it is closed: then conn_free. */
bool conn_finished(const struct conn *conn);
void conn_free(struct conn *conn);

/* Events from the mailbox. */
void conn_deliver(struct conn *conn, struct worker_message *message);

#endif
