/* listen_test.c - addresses of listeners. */
#include "proxy/config/listen.h"

#include <criterion/criterion.h>

static const struct {
    const char *source, *host, *port;
    bool understood, loopback;
} addresses[] = {
    {"127.0.0.1:6432", "127.0.0.1", "6432", true, true},
    {"127.9.9.9:1", "127.9.9.9", "1", true, true},
    {"localhost:6432", "localhost", "6432", true, true},
    {"[::1]:6432", "::1", "6432", true, true},
    {"[::]:6432", "::", "6432", true, false},
    {"0.0.0.0:6432", "0.0.0.0", "6432", true, false},
    {"10.0.0.1:6432", "10.0.0.1", "6432", true, false},
    {"wicket.example.com:6432", "wicket.example.com", "6432", true, false},
    {"127.0.0.1.evil.example:6432", "127.0.0.1.evil.example", "6432", true, false},
    {"::1:6432", "", "", false, false},
    {"6432", "", "", false, false},
    {":6432", "", "", false, false},
    {"localhost:", "", "", false, false},
    {"localhost:65536", "", "", false, false},
    {"localhost:-1", "", "", false, false},
    {"localhost:64a", "", "", false, false},
    {"local host:6432", "", "", false, false},
    {"[localhost]:6432", "", "", false, false},
    {"", "", "", false, false},
};

Test(listen, reads_host_and_port)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        struct listen_address address;
        bool understood = listen_address_parse(&arena, text_from(addresses[i].source), &address);
        cr_expect_eq(understood, addresses[i].understood, "%s", addresses[i].source);
        if (!understood)
            continue;
        cr_expect(text_is(address.host, addresses[i].host), "%s", addresses[i].source);
        cr_expect(text_is(address.port, addresses[i].port), "%s", addresses[i].source);
        cr_expect_eq(address.loopback, addresses[i].loopback, "%s", addresses[i].source);
    }
    arena_release(&arena);
}

Test(listen, reads_unix_sockets)
{
    struct arena arena;
    struct listen_address address;
    arena_init(&arena);
    cr_assert(listen_address_parse(&arena, TEXT("unix:/run/wicket"), &address));
    cr_expect(address.is_unix && address.loopback && text_is(address.port, "5432"));
    cr_assert(listen_address_parse(&arena, TEXT("unix:/run/wicket:6432"), &address));
    cr_expect(text_is(address.folder, "/run/wicket") && text_is(address.port, "6432"));
    cr_expect_not(listen_address_parse(&arena, TEXT("unix:run"), &address));
    cr_expect_not(listen_address_parse(&arena, TEXT("unix:"), &address));
    cr_expect_not(listen_address_parse(&arena, TEXT("unix:/run:x"), &address));
    arena_release(&arena);
}
