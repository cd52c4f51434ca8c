/*
 * notify_delivery.h - one message on its way to its receiver: an HTTP transfer of libcurl's.
 *
 * Certificates are verified, redirects not followed, proxies not used, answers not read but for their
 * status. Used by the notifier's thread alone.
 */
#ifndef PGWICKET_REVIEW_NOTIFY_DELIVERY_H
#define PGWICKET_REVIEW_NOTIFY_DELIVERY_H

#include "proxy/review/notify_message.h"

#include <curl/curl.h>

enum delivery_state {
    DELIVERY_WAITING = 1, /* until message.due */
    DELIVERY_SENDING,
    DELIVERY_SETTLING,  /* the store has been asked to take it out or to keep it */
    DELIVERY_UNSETTLED, /* the store could not; it is asked again at message.due */
};

struct delivery {
    struct delivery *next;
    struct arena arena;
    struct hold_message message; /* in the arena */
    enum delivery_state state;
    struct hold_request settle; /* the store's while it is asked */
    bool answered;              /* by the store; under the notifier's mutex */

    /* While it is sent. */
    CURL *easy;
    struct curl_slist *headers;
    struct text site; /* of the receiver, in the arena */
    size_t answer_size;
};

struct delivery *delivery_new(const struct hold_message *message); /* copies it */

/* Begins the transfer. */
void delivery_send(struct delivery *delivery, CURLM *multi, const struct notify_receiver *receiver,
                   struct instant now);

/* After the transfer has ended with `result`: what to think of it, and in words for the log. */
struct notify_attempt delivery_attempt(struct delivery *delivery, CURLcode result,
                                       struct instant now, char *words, size_t size);

/* Ends a transfer that has ended or is given up. */
void delivery_hang_up(struct delivery *delivery, CURLM *multi);
void delivery_free(struct delivery *delivery, CURLM *multi);

#endif
