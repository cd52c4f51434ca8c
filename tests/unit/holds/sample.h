/* sample.h - a hold with something in every field, a store in a folder of its own, and answers that
 * are waited for. */
#ifndef PGWICKET_TESTS_HOLDS_SAMPLE_H
#define PGWICKET_TESTS_HOLDS_SAMPLE_H

#include "proxy/holds/store.h"

/* All fields but id, state, digest and match set to something of their own. Lives as long as the
 * process. */
struct hold sample_hold(const char *statement);

/* TEXT for the initializers of static data. */
#define STATIC_TEXT(literal)                                                                       \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

struct store_at {
    char folder[64];
    char location[128];
    char path[96];
    struct hold_store *store;
};

/* Opens a store in a new folder, or again the one that is there. Fails the test if it does not
 * open. */
void store_begin(struct store_at *at, int64_t retain_us, hold_listener *listener, void *context);
void store_again(struct store_at *at, int64_t retain_us, hold_listener *listener, void *context);
void store_end(struct store_at *at); /* closes it and deletes the folder */

/* Posts a request and waits for its answer; the request begins with request_begin. */
struct hold_request request_begin(enum hold_operation operation);
enum hold_answer ask(struct hold_store *store, struct hold_request *request);

/* Whole requests; `request` is begun by them and must be ended with arena_release(&request.arena).
 */
enum hold_answer ask_create(struct hold_store *store, const struct hold *hold, int64_t pending_max,
                            struct hold_request *request);
enum hold_answer ask_join(struct hold_store *store, const struct hold *hold,
                          struct hold_request *request);
enum hold_answer ask_get(struct hold_store *store, int64_t id, struct hold_request *request);
enum hold_answer ask_release(struct hold_store *store, const struct hold *hold,
                             const char *approver, struct hold_request *request);
enum hold_answer ask_refuse(struct hold_store *store, const struct hold *hold, const char *approver,
                            struct hold_request *request);
enum hold_answer ask_claim(struct hold_store *store, const struct hold *hold, const char *session,
                           struct hold_request *request);
enum hold_answer ask_finish(struct hold_store *store, int64_t id, const char *session,
                            enum hold_state state, struct hold_request *request);

/* The state of a hold by a GET of its own; HOLD_NONE if it is not there. */
enum hold_state state_of(struct hold_store *store, int64_t id);

#endif
