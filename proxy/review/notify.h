/*
 * notify.h - notifications to receivers outside: Standard Webhooks and Slack, over libcurl.
 *
 * What happens to a hold is put into the store's outbox by the transaction that makes it happen
 * (notifier_compose). A thread of its own takes what is due from there, sends it, and takes it out, or
 * tries again later, for about a day, also after a restart. A receiver may thus get a message twice,
 * with the same webhook-id, and messages in another order than they happened.
 */
#ifndef PGWICKET_REVIEW_NOTIFY_H
#define PGWICKET_REVIEW_NOTIFY_H

#include "proxy/review/notify_message.h"

struct notifier;

/* `configuration` gives the one of now, which the notifier releases; it is asked from any thread. */
struct notifier *notifier_new(struct configuration *(*configuration)(void *context), void *context);

/* Begins to send. The store outlives the thread: notifier_stop, then hold_store_close. */
void notifier_start(struct notifier *notifier, struct hold_store *store);

/* What a change of a hold adds to the outbox: a hold_composer with the notifier as its context. */
size_t notifier_compose(struct notifier *notifier, struct arena *arena, const struct hold *hold,
                        enum hold_state before, const struct hold_message **messages);

/* There is something new in the outbox, or in the configuration. From any thread. */
void notifier_wake(struct notifier *notifier);

/* Tells of what is no change of a hold. From any thread. If the store cannot keep it, it is sent from
 * memory: a full disk is what one wants to hear of. */
void notifier_tell(struct notifier *notifier, const struct notice *notice);

struct notifier_counts {
    int64_t delivered;
    int64_t retried;  /* attempts that failed and are made again */
    int64_t given_up; /* after a day, or because the receiver is gone */
    int64_t dropped;  /* too many were waiting */
};

struct notifier_counts notifier_count(struct notifier *notifier); /* from any thread */

/* Ends the thread; what is under way gets a moment. Then nothing is sent or told any more. */
void notifier_stop(struct notifier *notifier);
void notifier_free(struct notifier *notifier); /* NULL is fine */

#endif
