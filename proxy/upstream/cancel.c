/*
 * cancel.c - PQcancel on detached threads, at most LIMIT_CANCELS at a time.
 *
 * PQgetCancel copies the server's address and the key, so a cancel does not depend on the session
 * that it was started for. PQcancel blocks until the server closes its end; a server that does not
 * is given up by TCP (see conninfo.c), and until then holds one thread.
 */
#include "proxy/upstream/cancel.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { STACK_BYTES = 256 * 1024 };

struct cancel {
    PGcancel *target;
    upstream_cancel_done *done;
    void *argument;
};

static atomic_size_t running;

static bool reserve(void)
{
    if (atomic_fetch_add(&running, 1) < LIMIT_CANCELS)
        return true;
    atomic_fetch_sub(&running, 1);
    return false;
}

static void *run(void *argument)
{
    struct cancel *cancel = argument;
    char problem[256] = "";
    bool delivered = PQcancel(cancel->target, problem, sizeof problem) == 1;
    PQfreeCancel(cancel->target);
    cancel->done(cancel->argument, delivered, problem);
    free(cancel);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* Signals are for the main loop: the new thread blocks them all. */
static bool start_thread(struct cancel *cancel)
{
    pthread_attr_t attributes;
    INVARIANT(pthread_attr_init(&attributes) == 0);
    INVARIANT(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    INVARIANT(pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    bool started = pthread_create(&thread, &attributes, run, cancel) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

bool upstream_cancel(const struct upstream_session *session, upstream_cancel_done *done,
                     void *argument)
{
    if (!reserve())
        return false;
    struct cancel *cancel = memory_allocate_zeroed(1, sizeof *cancel);
    *cancel = (struct cancel){PQgetCancel(session->connection), done, argument};
    if (cancel->target != NULL && start_thread(cancel))
        return true;
    PQfreeCancel(cancel->target);
    free(cancel);
    atomic_fetch_sub(&running, 1);
    return false;
}

size_t upstream_cancels_running(void)
{
    return atomic_load(&running);
}
