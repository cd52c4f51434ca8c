/* client.c - see client.h. No redirects, no proxies, http and https only, and a bounded answer. */
#include "proxy/commands/client.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/url.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/terminal.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_TIMEOUT_S = 5, ANSWER_TIMEOUT_S = 30 };

struct client {
    CURL *curl;
    struct curl_slist *headers;
    char *url;
    struct buffer answer;
    json_t *reply;
    long status; /* of the last request; 0: no answer, and `problem` says why */
    const volatile sig_atomic_t *stop;
    bool quiet;
    char problem[CURL_ERROR_SIZE];
};

static const char *first_of(const char *given, const char *variable, const char *otherwise)
{
    if (given != NULL)
        return given;
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : otherwise;
}

/* May a password be sent there? */
static bool is_private(const char *url)
{
    struct url parts;
    return url_parse(text_from(url), &parts) && (parts.tls || host_is_loopback(parts.host));
}

static size_t take_bytes(char *bytes, size_t one, size_t size, void *context)
{
    (void)one;
    struct buffer *answer = context;
    buffer_append(answer, bytes, size);
    return answer->overflow ? 0 : size;
}

/* False, with *exit_code: there is no user or no password. */
static bool set_login(struct client *client, const struct client_options *options, int *exit_code)
{
    const char *user = first_of(options->user, "PGWICKET_USER", NULL);
    *exit_code = EXIT_USAGE;
    if (user == NULL) {
        fputs("pgwicket: say who you are with --user or PGWICKET_USER\n", stderr);
        return false;
    }
    if (!is_private(client->url)) {
        fprintf(stderr, "pgwicket: a password is not sent to %s without TLS\n", client->url);
        return false;
    }
    char password[TERMINAL_LINE_MAX];
    const char *given = getenv("PGWICKET_PASSWORD");
    if (given == NULL && !terminal_ask_password("Password: ", password)) {
        fputs("pgwicket: PGWICKET_PASSWORD is not set, and there is no terminal to ask on\n",
              stderr);
        return false;
    }
    curl_easy_setopt(client->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    curl_easy_setopt(client->curl, CURLOPT_USERNAME, user);
    curl_easy_setopt(client->curl, CURLOPT_PASSWORD, given != NULL ? given : password);
    explicit_bzero(password, sizeof password);
    return true;
}

static void set_options(struct client *client, const struct client_options *options)
{
    CURL *curl = client->curl;
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->problem);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)ANSWER_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "pgwicket/" PGWICKET_VERSION);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &client->answer);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, client->headers);
    if (options->authority != NULL)
        curl_easy_setopt(curl, CURLOPT_CAINFO, options->authority);
}

struct client *client_new(const struct client_options *options, bool login, int *exit_code)
{
    struct client *client = memory_allocate_zeroed(1, sizeof *client);
    INVARIANT(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    client->curl = curl_easy_init();
    INVARIANT(client->curl != NULL);
    client->url =
        memory_copy_string(first_of(options->url, "PGWICKET_URL", "http://127.0.0.1:6480"));
    size_t size = strlen(client->url);
    while (size > 0 && client->url[size - 1] == '/')
        client->url[--size] = '\0';
    client->headers = curl_slist_append(NULL, "Content-Type: application/json");
    buffer_init(&client->answer, LIMIT_HTTP_ANSWER_BYTES + LIMIT_HTTP_HEADER_BYTES);
    set_options(client, options);
    if (login && !set_login(client, options, exit_code)) {
        client_free(client);
        return NULL;
    }
    return client;
}

void client_free(struct client *client)
{
    if (client == NULL)
        return;
    curl_easy_cleanup(client->curl);
    curl_slist_free_all(client->headers);
    json_decref(client->reply);
    buffer_release(&client->answer);
    free(client->url);
    free(client);
    curl_global_cleanup();
}

/* What the server says is wrong, made visible: it may quote others. */
void client_explain(const struct client *client)
{
    const char *message =
        json_string_value(json_object_get(json_object_get(client->reply, "error"), "message"));
    fprintf(stderr, "pgwicket: ");
    if (client->status == 0)
        fprintf(stderr, "%s: %s", client->url, client->problem);
    else if (message != NULL)
        terminal_print_visible(stderr, text_from(message));
    else
        fprintf(stderr, "%s answered %ld, and not as a review listener does", client->url,
                client->status);
    fputc('\n', stderr);
}

static int judge(const struct client *client)
{
    if (client->status == 200 && json_is_object(client->reply))
        return EXIT_FINE;
    if (!client->quiet)
        client_explain(client);
    return client->status >= 400 && client->status < 500 ? EXIT_NO : EXIT_UNREACHABLE;
}

/* The status of the answer, its JSON read; 0 if there is none. */
static void perform(struct client *client, const char *path)
{
    struct buffer url;
    buffer_init(&url, LIMIT_HTTP_HEADER_BYTES);
    buffer_printf(&url, "%s%s", client->url, path);
    buffer_clear(&client->answer);
    json_decref(client->reply);
    client->reply = NULL;
    client->status = 0;
    client->problem[0] = '\0';
    curl_easy_setopt(client->curl, CURLOPT_URL, buffer_string(&url));
    CURLcode result = curl_easy_perform(client->curl);
    buffer_release(&url);
    if (result == CURLE_OK)
        curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &client->status);
    else if (client->problem[0] == '\0')
        snprintf(client->problem, sizeof client->problem, "%s", curl_easy_strerror(result));
    json_error_t error;
    client->reply = json_loadb(buffer_text(&client->answer).bytes, client->answer.size,
                               JSON_REJECT_DUPLICATES, &error);
}

static int perform_and_judge(struct client *client, const char *path)
{
    perform(client, path);
    return judge(client);
}

int client_get(struct client *client, const char *path)
{
    curl_easy_setopt(client->curl, CURLOPT_HTTPGET, 1L);
    return perform_and_judge(client, path);
}

static int end_if_stopped(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                          curl_off_t up)
{
    const struct client *client = context;
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    return *client->stop != 0 ? 1 : 0;
}

void client_be_quiet(struct client *client, const volatile sig_atomic_t *stop)
{
    client->quiet = true;
    client->stop = stop;
    curl_easy_setopt(client->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(client->curl, CURLOPT_XFERINFOFUNCTION, end_if_stopped);
    curl_easy_setopt(client->curl, CURLOPT_XFERINFODATA, client);
}

int client_get_readiness(struct client *client)
{
    curl_easy_setopt(client->curl, CURLOPT_HTTPGET, 1L);
    perform(client, "/readyz");
    if (client->status == 503 && json_is_string(json_object_get(client->reply, "status")))
        return EXIT_NO;
    return judge(client);
}

int client_post(struct client *client, const char *path, const char *body)
{
    curl_easy_setopt(client->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, body);
    return perform_and_judge(client, path);
}

json_t *client_reply(const struct client *client)
{
    return client->reply;
}

void client_print(const struct client *client)
{
    fwrite(buffer_text(&client->answer).bytes, 1, client->answer.size, stdout);
}

char *client_path(const struct client *client, const char *format, const char *text)
{
    char *escaped = curl_easy_escape(client->curl, text, 0);
    INVARIANT(escaped != NULL);
    const char *place = strstr(format, "%s");
    INVARIANT(place != NULL);
    struct buffer path;
    buffer_init(&path, LIMIT_HTTP_HEADER_BYTES);
    buffer_append(&path, format, (size_t)(place - format));
    buffer_append_string(&path, escaped);
    buffer_append_string(&path, place + 2);
    curl_free(escaped);
    char *copy = memory_copy_string(buffer_string(&path));
    buffer_release(&path);
    return copy;
}

bool client_hold_number(const char *text)
{
    int64_t number;
    if (text_to_int64(text_from(text), &number) && number > 0)
        return true;
    fprintf(stderr, "pgwicket: the number of a hold is expected, not \"%s\"\n", text);
    return false;
}
