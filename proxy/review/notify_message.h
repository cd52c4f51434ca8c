/*
 * notify_message.h - what receivers are told, and when it is tried again. Pure but for random names.
 *
 * A message is thin: kinds, names from the configuration, numbers of rows, a link. Never a statement,
 * a value, or a text that the database, an agent or an approver wrote.
 */
#ifndef PGWICKET_REVIEW_NOTIFY_MESSAGE_H
#define PGWICKET_REVIEW_NOTIFY_MESSAGE_H

#include "proxy/config/settings.h"
#include "proxy/holds/store.h"

/* What happened. */
struct notice {
    enum notify_event event;
    struct instant at;
    const struct hold *hold; /* of a hold.* */
    struct text agent;       /* of an agent.* */
    struct text by;          /* the approver; may be empty */
};

/* False: nobody is told of this change. The notice points at `hold`. */
bool notice_of_hold(const struct hold *hold, enum hold_state before, struct instant now,
                    struct notice *notice);

/* A message for each receiver that is told of this event; they live in `arena`. */
size_t notify_compose(struct arena *arena, const struct configuration *configuration,
                      const struct notice *notice, const struct hold_message **messages);

/* Standard Webhooks: "v1,<base64>" over name, time in seconds, and body. */
enum { NOTIFY_SIGNATURE_SIZE = 3 + (SHA256_SIZE + 2) / 3 * 4 + 1 };
void notify_sign(struct text key, struct text name, int64_t seconds, struct text body,
                 char signature[NOTIFY_SIGNATURE_SIZE]);

/* How long to wait after so many failed attempts; `random` spreads it by a fifth either way. */
int64_t notify_delay_us(int64_t attempts, uint32_t random);

enum { NOTIFY_GIVE_UP_S = 24 * 3600 };

enum notify_outcome { NOTIFY_GIVEN_UP = 0, NOTIFY_DELIVERED, NOTIFY_AGAIN };

/* What one attempt means. */
struct notify_attempt {
    int64_t status;        /* HTTP; 0: there was no answer */
    int64_t retry_after_s; /* as the receiver asks; 0: it does not */
    struct instant at;     /* its end */
    uint32_t random;
};

/* `message` as it was before the attempt. NOTIFY_AGAIN: not before *due. */
enum notify_outcome notify_judge(const struct hold_message *message,
                                 const struct notify_attempt *attempt, struct instant *due);

#endif
