/*
 * templates.h - which templates an upstream must be able to run, and which it cannot.
 *
 * Blocking: for the upstream's own thread, or for a reload.
 */
#ifndef PGWICKET_NET_TEMPLATES_H
#define PGWICKET_NET_TEMPLATES_H

#include "proxy/config/settings.h"
#include "proxy/upstream/catalog_load.h"

#include <stdatomic.h>

/* Immutable, counted. */
struct unprepared {
    struct arena arena;
    const struct text *names; /* of the templates that the server refused to prepare */
    const struct text *problems; /* why, one for each name */
    size_t count;
    bool complete;            /* every template got an answer */
    char problem[512];        /* about the first of them, for the operator; empty: none */
    atomic_int references;
};

/* Prepares each template that some agent of this upstream may execute. */
struct unprepared *templates_check(struct catalog_loader *loader,
                                   const struct configuration *configuration, struct text upstream);
struct unprepared *unprepared_retain(struct unprepared *unprepared); /* NULL is fine */
void unprepared_release(struct unprepared *unprepared);             /* NULL is fine */

#endif
