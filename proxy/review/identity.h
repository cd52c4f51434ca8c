/*
 * identity.h - who makes a request.
 *
 * In this order: HTTP basic authentication where it is tried; a browser's session; the header that a
 * trusted proxy sets. Basic authentication is for programs: pages do not take it.
 */
#ifndef PGWICKET_REVIEW_IDENTITY_H
#define PGWICKET_REVIEW_IDENTITY_H

#include "proxy/review/exchange.h"
#include "proxy/review/login.h"

/* Sets exchange->approver, and exchange->session where there is one. LOGIN_REFUSED: nobody, or
 * wrong. `page`: a page is asked for; whom the proxy names gets a session. */
enum login_result identify(struct exchange *exchange, bool page);

/* The sign-in form: begins a session, whose cookie goes with the answer. */
enum login_result sign_in(struct exchange *exchange, struct text name, struct text password);

/* Ends the session, and takes the cookie back. */
void sign_out(struct exchange *exchange);

/* Where the request comes from, as text; for the log. */
const char *peer_address(const struct exchange *exchange);

#endif
