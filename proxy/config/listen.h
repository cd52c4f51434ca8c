/* listen.h - addresses and TLS of the listeners. Internal to config/. */
#ifndef PGWICKET_CONFIG_LISTEN_H
#define PGWICKET_CONFIG_LISTEN_H

#include "proxy/config/fields.h"

/* What is needed of a listener's keys to check it. */
struct listener_section {
    struct listen_address *addresses;
    struct place *places; /* of each address */
    size_t count;
    struct tls_settings tls;
    int64_t login_timeout_us;
    struct text url;
    struct trusted_header trusted;
    struct place place;
};

/* "127.0.0.1:6432", "[::1]:6432", "unix:/run/wicket", "unix:/run/wicket:6432", "wicket.example.com:6432".
 * False: not an address. */
bool listen_address_parse(struct arena *arena, struct text source, struct listen_address *address);

/* The sections `listen` and `review`. */
field_function field_listen, field_review;

#endif
