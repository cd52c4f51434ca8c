/*
 * hold_json.h - a hold, a list of holds, an agent as the API shows them (spec 5). Pure.
 *
 * Stored JSON (effects) is written as it is, once it has been found to be JSON.
 */
#ifndef PGWICKET_REVIEW_HOLD_JSON_H
#define PGWICKET_REVIEW_HOLD_JSON_H

#include "proxy/base/json_out.h"
#include "proxy/review/api.h"

/* `reader` is who asks: "can_decide" is theirs. */
void hold_json(struct json_out *json, const struct hold *hold, const struct approver *reader,
               struct instant now);

/*
 * {"holds": […], "next": cursor}. At most `limit` of the holds, fewer where the answer would grow
 * beyond half of the buffer's maximum; `next` is where to go on, null at the end.
 */
void hold_list_json(struct json_out *json, struct hold *const *holds, size_t count, size_t limit,
                    const struct approver *reader, struct instant now);

void agent_json(struct json_out *json, const struct review_agent *agent);

#endif
