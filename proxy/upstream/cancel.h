/*
 * cancel.h - CancelRequests, each on a short-lived thread of its own.
 *
 * The server answers a CancelRequest by closing its connection once it has signalled the backend.
 * Until then nothing more may be sent to the session, or a late cancel would hit the next
 * statement; so the caller is told when that has happened.
 */
#ifndef PGWICKET_UPSTREAM_CANCEL_H
#define PGWICKET_UPSTREAM_CANCEL_H

#include "proxy/upstream/login.h"

/* Called once, on the cancel's thread. `delivered`: the server has closed its end, so the backend
 * was signalled; false: it could not be reached, `problem` (for the operational log) says why. */
typedef void upstream_cancel_done(void *argument, bool delivered, const char *problem);

/* Starts to cancel what the session runs; true if `done` will be called. False: LIMIT_CANCELS are
 * under way already, or no thread can be had. The session may be closed meanwhile. */
MUST_USE bool upstream_cancel(const struct upstream_session *session, upstream_cancel_done *done,
                              void *argument);

/* Cancels under way, for shutting down. */
size_t upstream_cancels_running(void);

#endif
