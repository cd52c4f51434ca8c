/* notifier_test.c - the notifier between a store that cannot be written and a receiver on a socket. */
#include "proxy/review/notify.h"

#include "proxy/base/attributes.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Answers one request a connection: 503 to the first, 204 to the others. */
struct receiver {
    int socket;
    pthread_t thread;
    pthread_mutex_t mutex; /* of the rest */
    char requests[4][4096];
    int count;
};

static bool is_whole(const char *request)
{
    const char *length = strstr(request, "Content-Length: ");
    const char *body = strstr(request, "\r\n\r\n");
    return length != NULL && body != NULL &&
           strlen(body + 4) >= strtoul(length + strlen("Content-Length: "), NULL, 10);
}

static void answer(struct receiver *receiver, int client)
{
    char request[4096] = "";
    size_t size = 0;
    ssize_t got = 1;
    while (!is_whole(request) && got > 0 && size < sizeof request - 1) {
        got = recv(client, request + size, sizeof request - 1 - size, 0);
        size += got > 0 ? (size_t)got : 0;
        request[size] = '\0';
    }
    pthread_mutex_lock(&receiver->mutex);
    const char *status = receiver->count == 0 ? "503 Busy" : "204 Fine";
    if (receiver->count < 4)
        memcpy(receiver->requests[receiver->count++], request, sizeof request);
    pthread_mutex_unlock(&receiver->mutex);
    char text[128];
    int length = snprintf(text, sizeof text,
                          "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status);
    (void)!send(client, text, (size_t)length, MSG_NOSIGNAL);
    close(client);
}

static void *serve(void *argument)
{
    struct receiver *receiver = argument;
    for (int client; (client = accept(receiver->socket, NULL, NULL)) >= 0;)
        answer(receiver, client);
    return NULL;
}

static int receiver_start(struct receiver *receiver)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    pthread_mutex_init(&receiver->mutex, NULL);
    receiver->socket = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(receiver->socket, (struct sockaddr *)&address, size), 0);
    cr_assert_eq(listen(receiver->socket, 8), 0);
    cr_assert_eq(getsockname(receiver->socket, (struct sockaddr *)&address, &size), 0);
    cr_assert_eq(pthread_create(&receiver->thread, NULL, serve, receiver), 0);
    return ntohs(address.sin_port);
}

static void receiver_stop(struct receiver *receiver)
{
    shutdown(receiver->socket, SHUT_RDWR);
    pthread_join(receiver->thread, NULL);
    close(receiver->socket);
}

static struct notify_receiver target = {
    .site = TEXT_INIT("http://127.0.0.1"),
    .target = TEXT_INIT("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
    .format = NOTIFY_STANDARD,
    .key = TEXT_INIT("0123456789abcdef01234567"),
    .authority = TEXT_INIT(""),
    .events = ~0U,
};
static struct configuration configuration = {
    .review_url = TEXT_INIT("https://wicket.example.com"),
    .receivers = &target,
    .receiver_count = 1,
    .references = 1,
};

static struct configuration *current(void *context)
{
    (void)context;
    return configuration_retain(&configuration);
}

static void limit_file_size(rlim_t size)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size;
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int64_t waited_for_delivery(struct notifier *notifier)
{
    for (int i = 0; i < 300 && notifier_count(notifier).delivered == 0; i++)
        usleep(50000);
    return notifier_count(notifier).delivered;
}

static const char *name_of(const char *request)
{
    const char *name = strstr(request, "webhook-id: msg_");
    cr_assert_not_null(name, "%s", request);
    return name;
}

Test(notifier, tells_from_memory_and_again_what_the_store_cannot_keep, .timeout = 60)
{
    char folder[] = "/tmp/pgwicket-notifier-XXXXXX";
    char location[64], url[64], problem[256] = "";
    static struct receiver receiver;
    cr_assert_not_null(mkdtemp(folder));
    snprintf(location, sizeof location, "sqlite:%s/holds.db", folder);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/hook", receiver_start(&receiver));
    target.url = text_from(url);
    struct hold_store *store =
        hold_store_open(location, 3600000000, NULL, problem, sizeof problem);
    cr_assert_not_null(store, "%s", problem);
    struct notifier *notifier = notifier_new(current, NULL);
    notifier_start(notifier, store);
    limit_file_size(0);
    notifier_tell(notifier, &(struct notice){.event = NOTIFY_AUDIT_FAILING, .at = clock_now()});
    cr_expect_eq(waited_for_delivery(notifier), 1);
    struct notifier_counts counts = notifier_count(notifier);
    cr_expect_eq(counts.retried, 1);
    cr_expect_eq(counts.given_up + counts.dropped, 0);
    notifier_stop(notifier);
    /* After the stop nothing is told any more, and nothing breaks. */
    notifier_tell(notifier, &(struct notice){.event = NOTIFY_AUDIT_WORKING, .at = clock_now()});
    limit_file_size(RLIM_INFINITY);
    hold_store_close(store);
    notifier_free(notifier);
    receiver_stop(&receiver);
    cr_assert_eq(receiver.count, 2);
    for (int i = 0; i < 2; i++)
        cr_expect_not_null(strstr(receiver.requests[i], "\"type\":\"audit.failing\""), "%s",
                           receiver.requests[i]);
    cr_expect_eq(strncmp(name_of(receiver.requests[0]), name_of(receiver.requests[1]),
                         strlen("webhook-id: msg_") + 32),
                 0);
    char path[96];
    static const char *const files[] = {"holds.db", "holds.db-wal", "holds.db-shm"};
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}
