/* fake_server.c - see fake_server.h. */
#include "unit/upstream/fake_server.h"

#include "proxy/base/buffer.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void fake_server_listen(struct fake_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(server->listener, 0);
    cr_assert_eq(bind(server->listener, (struct sockaddr *)&address, size), 0);
    cr_assert_eq(listen(server->listener, 128), 0);
    cr_assert_eq(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    snprintf(server->connection_string, sizeof server->connection_string,
             "host=127.0.0.1 port=%d user=u dbname=d sslmode=disable", ntohs(address.sin_port));
}

static void append_parameter(struct buffer *out, const char *name, const char *value)
{
    buffer_append_byte(out, 'S');
    buffer_append_u32(out, (uint32_t)(strlen(name) + strlen(value) + 6));
    buffer_append(out, name, strlen(name) + 1);
    buffer_append(out, value, strlen(value) + 1);
}

static void greet(const struct fake_server *server, int fd)
{
    static const uint8_t authentication_ok[] = {'R', 0, 0, 0, 8, 0, 0, 0, 0};
    static const uint8_t key_data[] = {'K', 0, 0, 0, 12, 0, 0, 0, 9, 1, 2, 3, 4};
    static const uint8_t ready[] = {'Z', 0, 0, 0, 5, 'I'};
    struct buffer out;
    buffer_init(&out, 65536);
    buffer_append(&out, authentication_ok, sizeof authentication_ok);
    append_parameter(&out, "server_version", "15.0");
    append_parameter(&out, "client_encoding", "UTF8");
    buffer_append(&out, key_data, sizeof key_data);
    buffer_append(&out, ready, sizeof ready);
    buffer_append_text(&out, server->after_login);
    send(fd, out.bytes, out.size, MSG_NOSIGNAL);
    buffer_release(&out);
}

static void *serve(void *argument)
{
    struct fake_server *server = argument;
    int fd = accept(server->listener, NULL, NULL);
    char startup[4096];
    if (recv(fd, startup, sizeof startup, 0) > 0)
        greet(server, fd);
    for (;;) {
        ssize_t got = recv(fd, server->received + server->received_size,
                           sizeof server->received - server->received_size, 0);
        if (got <= 0)
            break;
        bool had_sync = server->received_size >= 5;
        server->received_size += (size_t)got;
        if (!had_sync && server->received_size >= 5)
            send(fd, server->after_sync.bytes, server->after_sync.size, MSG_NOSIGNAL);
    }
    close(fd);
    return NULL;
}

void fake_server_start(struct fake_server *server)
{
    fake_server_listen(server);
    cr_assert_eq(pthread_create(&server->thread, NULL, serve, server), 0);
}

void fake_server_finish(struct fake_server *server)
{
    pthread_join(server->thread, NULL);
    close(server->listener);
}
