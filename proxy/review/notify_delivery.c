/* notify_delivery.c - see notify_delivery.h. Any end of a transfer but a status is no answer. */
#include "proxy/review/notify_delivery.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECT_TIMEOUT_S = 5, ANSWER_TIMEOUT_S = 15 };

struct delivery *delivery_new(const struct hold_message *message)
{
    struct delivery *delivery = memory_allocate_zeroed(1, sizeof *delivery);
    arena_init(&delivery->arena);
    delivery->state = DELIVERY_WAITING;
    delivery->message = *message;
    delivery->message.target = arena_text(&delivery->arena, message->target);
    delivery->message.name = arena_text(&delivery->arena, message->name);
    delivery->message.body = arena_text(&delivery->arena, message->body);
    return delivery;
}

/* The answer is nothing to us, and more of it than anybody needs to say ends the transfer. */
static size_t ignore_bytes(char *bytes, size_t one, size_t size, void *context)
{
    struct delivery *delivery = context;
    (void)bytes;
    (void)one;
    delivery->answer_size += size;
    return delivery->answer_size <= LIMIT_RECEIVER_ANSWER_BYTES ? size : 0;
}

static void add_header(struct delivery *delivery, const char *name, struct text value)
{
    struct text line = arena_printf(&delivery->arena, "%s: %.*s", name, TEXT_ARGS(value));
    delivery->headers = curl_slist_append(delivery->headers, line.bytes);
    INVARIANT(delivery->headers != NULL);
}

static void add_headers(struct delivery *delivery, const struct notify_receiver *receiver,
                        struct instant now)
{
    add_header(delivery, "Content-Type", TEXT("application/json"));
    add_header(delivery, "Expect", TEXT(""));
    if (receiver->format != NOTIFY_STANDARD)
        return;
    char signature[NOTIFY_SIGNATURE_SIZE];
    int64_t seconds = now.us / 1000000;
    notify_sign(receiver->key, delivery->message.name, seconds, delivery->message.body, signature);
    add_header(delivery, "webhook-id", delivery->message.name);
    add_header(delivery, "webhook-timestamp",
               arena_printf(&delivery->arena, "%" PRId64, seconds));
    add_header(delivery, "webhook-signature", text_from(signature));
}

static void set_options(struct delivery *delivery, const struct notify_receiver *receiver)
{
    CURL *easy = delivery->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, delivery);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, receiver->tls ? "https" : "http");
    curl_easy_setopt(easy, CURLOPT_URL, receiver->url.bytes);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)ANSWER_TIMEOUT_S);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "pgwicket/" PGWICKET_VERSION);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, delivery);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)delivery->message.body.size);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, delivery->message.body.bytes);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, delivery->headers);
    if (receiver->authority.size > 0)
        curl_easy_setopt(easy, CURLOPT_CAINFO, receiver->authority.bytes);
}

void delivery_send(struct delivery *delivery, CURLM *multi, const struct notify_receiver *receiver,
                   struct instant now)
{
    INVARIANT(delivery->state == DELIVERY_WAITING);
    delivery->site = arena_text(&delivery->arena, receiver->site);
    delivery->answer_size = 0;
    delivery->easy = curl_easy_init();
    INVARIANT(delivery->easy != NULL);
    add_headers(delivery, receiver, now);
    set_options(delivery, receiver);
    INVARIANT(curl_multi_add_handle(multi, delivery->easy) == CURLM_OK);
    delivery->state = DELIVERY_SENDING;
}

struct notify_attempt delivery_attempt(struct delivery *delivery, CURLcode result,
                                       struct instant now, char *words, size_t size)
{
    struct notify_attempt attempt = {.at = now};
    long status = 0;
    curl_off_t retry_after_s = 0;
    bool talked_too_much = result == CURLE_WRITE_ERROR;
    if (result == CURLE_OK || talked_too_much)
        curl_easy_getinfo(delivery->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(delivery->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    attempt.status = status;
    attempt.retry_after_s = retry_after_s;
    random_bytes(&attempt.random, sizeof attempt.random);
    if (status != 0)
        snprintf(words, size, "HTTP %ld", status);
    else
        snprintf(words, size, "%s", curl_easy_strerror(result));
    return attempt;
}

void delivery_hang_up(struct delivery *delivery, CURLM *multi)
{
    if (delivery->easy == NULL)
        return;
    curl_multi_remove_handle(multi, delivery->easy);
    curl_easy_cleanup(delivery->easy);
    curl_slist_free_all(delivery->headers);
    delivery->easy = NULL;
    delivery->headers = NULL;
}

void delivery_free(struct delivery *delivery, CURLM *multi)
{
    delivery_hang_up(delivery, multi);
    arena_release(&delivery->arena);
    free(delivery);
}
