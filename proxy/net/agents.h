/*
 * agents.h - how many sessions each agent has, how many wait, who is paused; cancel keys.
 *
 * Safe from any thread.
 */
#ifndef PGWICKET_NET_AGENTS_H
#define PGWICKET_NET_AGENTS_H

#include "proxy/config/settings.h"
#include "proxy/net/worker.h"
#include "proxy/review/api.h"

struct agents;

struct agents *agents_new(void);
void agents_free(struct agents *agents);

enum enter_result { ENTER_TOO_MANY = 0, ENTER_PAUSED, ENTER_OK };

/* Counts a session in; each ENTER_OK is followed by one agents_leave. Limits are the policy's. */
enum enter_result agents_enter(struct agents *agents, const struct agent *agent);
void agents_leave(struct agents *agents, struct text name);

/* Counts a session that waits for a person; false: too many do. */
bool agents_begin_waiting(struct agents *agents, const struct agent *agent);
void agents_end_waiting(struct agents *agents, struct text name);

/* Counts a rehearsal: 0; or, where a minute has had as many as the policy allows, microseconds until it may be
 * tried again. Never more in any minute. */
int64_t agents_begin_rehearsal(struct agents *agents, const struct agent *agent, struct instant now);

bool agents_paused(struct agents *agents, struct text name, struct instant *at);
void agents_pause(struct agents *agents, struct text name, bool paused, struct text by,
                  struct instant now);

/* A statement of this agent has been judged. */
void agents_note(struct agents *agents, struct text name, struct text verdict, struct text actions,
                 struct instant now);

/* Fills in counts, pause and the last statement for agent->name. */
void agents_describe(struct agents *agents, struct arena *arena, struct review_agent *agent,
                     struct instant now);

struct cancel_key {
    uint32_t pid;
    uint32_t secret;
};

/* A new key for a connection and its session's id; it counts until it is removed. */
struct cancel_key agents_add_key(struct agents *agents, struct worker *worker, uint64_t conn,
                                 struct text session);
void agents_remove_key(struct agents *agents, uint32_t pid);

/* Finds whose key was shown; false: nobody's. */
bool agents_find_key(struct agents *agents, struct cancel_key shown, struct worker **worker,
                     uint64_t *conn);

/* Is this session alive in this process? */
bool agents_has_session(struct agents *agents, struct text session);

#endif
