/*
 * recover.h - finds out what became of holds whose run was cut off (gate.md 6).
 *
 * A thread of its own looks, at start and every few seconds, for holds that are `running` in no live session,
 * and asks their database for the stored transaction id: committed → executed, aborted → released, still in
 * progress → asked again, no answer to be had → unknown. Nothing is ever run again by itself.
 */
#ifndef PGWICKET_NET_RECOVER_H
#define PGWICKET_NET_RECOVER_H

struct recovery;
struct server;

struct recovery *recovery_start(struct server *server);
void recovery_stop(struct recovery *recovery);

#endif
