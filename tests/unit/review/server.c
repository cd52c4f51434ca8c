/* server.c - see server.h. */
#include "unit/review/server.h"

#include "proxy/base/invariant.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const int64_t forever_us = 3600000000000;

static struct configuration *hook_configuration(void *context)
{
    struct site_under_test *site = context;
    return configuration_retain(site->configuration);
}

static const struct review_agent *hook_agents(void *context, struct arena *arena, size_t *count)
{
    const struct site_under_test *site = context;
    struct review_agent *agents = arena_array(arena, 2, sizeof *agents);
    agents[0] = (struct review_agent){.name = TEXT("support-bot"),
                                      .policy = TEXT("support"),
                                      .upstream = TEXT("shop"),
                                      .sessions = 2,
                                      .waiting = 1,
                                      .paused = site->paused,
                                      .paused_at = {1700000000000000},
                                      .paused_by = TEXT("alice")};
    agents[1] = (struct review_agent){
        .name = TEXT("batch bot/1"), .policy = TEXT("other"), .upstream = TEXT("shop")};
    *count = 2;
    return agents;
}

static bool hook_pause(void *context, struct text agent, bool paused, struct text by)
{
    struct site_under_test *site = context;
    if (by.size == 0)
        return false;
    if (text_is(agent, "support-bot"))
        site->paused = paused;
    return text_is(agent, "support-bot") || text_is(agent, "batch bot/1");
}

static bool hook_ready(void *context, char *problem, size_t size)
{
    const struct site_under_test *site = context;
    if (!site->ready)
        snprintf(problem, size, "upstream shop cannot be reached");
    return site->ready;
}

static void add_approver(struct approver *approver, const char *name, const struct text *policies,
                         size_t policy_count)
{
    char password[64];
    snprintf(password, sizeof password, "%s-secret", name);
    approver->name = text_from(name);
    approver->policies = policies;
    approver->policy_count = policy_count;
    scram_verifier_from_password(text_from(password), &approver->verifier);
}

static void write_certificate(const char *folder)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"127.0.0.1", -1, -1,
                               0);
    X509_set_issuer_name(certificate, name);
    X509_set_version(certificate, 2);
    X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(certificate, names, -1);
    X509_EXTENSION_free(names);
    cr_assert_gt(X509_sign(certificate, key, EVP_sha256()), 0);
    char path[128];
    snprintf(path, sizeof path, "%s/server.crt", folder);
    FILE *file = fopen(path, "w");
    PEM_write_X509(file, certificate);
    fclose(file);
    snprintf(path, sizeof path, "%s/server.key", folder);
    file = fopen(path, "w");
    PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL);
    fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static void make_configuration(struct site_under_test *site, unsigned options)
{
    struct configuration *made = memory_allocate_zeroed(1, sizeof *made);
    arena_init(&made->arena);
    struct approver *approvers = arena_array(&made->arena, 3, sizeof *approvers);
    struct text *policies = arena_array(&made->arena, 1, sizeof *policies);
    policies[0] = TEXT("other");
    add_approver(&approvers[0], "alice", NULL, 0);
    add_approver(&approvers[1], "bob", NULL, 0);
    add_approver(&approvers[2], "carol", policies, 1);
    made->approvers = approvers;
    made->approver_count = 3;
    made->has_review = true;
    made->review = (struct listen_address){.source = TEXT("127.0.0.1:0"),
                                           .host = TEXT("127.0.0.1"),
                                           .port = TEXT("0"),
                                           .loopback = true};
    made->review_url = TEXT("https://wicket.example.com/");
    if ((options & WITH_TLS) != 0) {
        write_certificate(site->folder);
        made->review_tls = (struct tls_settings){
            .given = true,
            .certificate = arena_printf(&made->arena, "%s/server.crt", site->folder),
            .key = arena_printf(&made->arena, "%s/server.key", site->folder),
            .client_ca = TEXT(""),
            .mode = TLS_REQUIRE};
    }
    /* Without WITH_PROXY the same header is trusted, but from another address. */
    struct address_range *from = arena_array(&made->arena, 1, sizeof *from);
    cr_assert(address_range_parse((options & WITH_PROXY) != 0 ? TEXT("127.0.0.0/8") : TEXT("10.0.0.5"),
                                  from));
    made->trusted =
        (struct trusted_header){.name = TEXT("X-Remote-User"), .from = from, .from_count = 1};
    made->references = 1;
    site->configuration = made;
}

void site_begin(struct site_under_test *site, unsigned options)
{
    *site = (struct site_under_test){.ready = true};
    snprintf(site->folder, sizeof site->folder, "/tmp/pgwicket-review-XXXXXX");
    cr_assert_not_null(mkdtemp(site->folder));
    make_configuration(site, options);
    char problem[256] = "";
    if ((options & WITH_STORE) != 0) {
        char location[96];
        snprintf(location, sizeof location, "sqlite:%s/holds.db", site->folder);
        site->store = hold_store_open(location, forever_us, NULL, problem, sizeof problem);
        cr_assert_not_null(site->store, "%s", problem);
    }
    const struct review_hooks hooks = {.context = site,
                                       .configuration = hook_configuration,
                                       .agents = hook_agents,
                                       .pause = hook_pause,
                                       .ready = hook_ready};
    site->server = review_start(site->configuration, site->store, &hooks, problem, sizeof problem);
    cr_assert_not_null(site->server, "%s", problem);
    site->port = review_port(site->server);
}

void site_end(struct site_under_test *site)
{
    review_stop(site->server);
    hold_store_close(site->store);
    static const char *const files[] = {"holds.db", "holds.db-wal", "holds.db-shm", "server.crt",
                                        "server.key"};
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", site->folder, files[i]);
        unlink(path);
    }
    rmdir(site->folder);
    arena_release(&site->configuration->arena);
    free(site->configuration);
}

struct waiter {
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    bool done;
};

static void answer_arrived(struct hold_request *request)
{
    struct waiter *waiter = request->owner;
    pthread_mutex_lock(&waiter->mutex);
    waiter->done = true;
    pthread_cond_signal(&waiter->answered);
    pthread_mutex_unlock(&waiter->mutex);
}

static void ask(struct hold_store *store, struct hold_request *request)
{
    struct waiter waiter = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                            .answered = PTHREAD_COND_INITIALIZER};
    request->done = answer_arrived;
    request->owner = &waiter;
    hold_store_post(store, request);
    pthread_mutex_lock(&waiter.mutex);
    while (!waiter.done)
        pthread_cond_wait(&waiter.answered, &waiter.mutex);
    pthread_mutex_unlock(&waiter.mutex);
}

int64_t site_hold(struct site_under_test *site, const char *statement, int64_t quorum,
                  char digest[SHA256_HEX_SIZE])
{
    const struct hold_value values[] = {{TEXT("integer"), TEXT("42"), false},
                                        {TEXT("text"), TEXT(""), true}};
    const struct hold_setting settings[] = {{TEXT("search_path"), TEXT("shop")}};
    struct instant now = clock_now();
    const struct hold hold = {.agent = TEXT("support-bot"),
                              .policy = TEXT("support"),
                              .rule = TEXT("support.5"),
                              .rules = TEXT("support.5, support.6"),
                              .rule_text = TEXT("hold update, delete on shop.orders"),
                              .upstream = TEXT("shop"),
                              .verb = TEXT("delete"),
                              .client = TEXT("10.0.3.9:51522"),
                              .statement = text_from(statement),
                              .values = values,
                              .value_count = 2,
                              .settings = settings,
                              .setting_count = 1,
                              .estimate_rows = 40,
                              .estimate_cost = -1,
                              .effect = TEXT("{\"known\": true, \"bound\": \"rows\", \"tables\": "
                                             "[{\"table\": \"shop.orders\", \"deleted\": 42}]}"),
                              .expires = {now.us + 3600000000},
                              .wait_us = 20000000,
                              .run_within_us = 900000000,
                              .quorum = quorum};
    struct hold_request request = {.operation = HOLD_OP_CREATE, .hold = &hold, .pending_max = -1};
    arena_init(&request.arena);
    ask(site->store, &request);
    cr_assert_eq(request.answer, HOLD_OK, "%s", request.problem);
    hex_from_bytes(request.holds[0]->digest, SHA256_SIZE, digest);
    int64_t id = request.holds[0]->id;
    arena_release(&request.arena);
    return id;
}

enum hold_state site_state(struct site_under_test *site, int64_t id)
{
    struct hold_request request = {.operation = HOLD_OP_GET, .id = id};
    arena_init(&request.arena);
    ask(site->store, &request);
    enum hold_state state = request.answer == HOLD_OK ? request.holds[0]->state : HOLD_NONE;
    arena_release(&request.arena);
    return state;
}

static size_t collect(char *bytes, size_t one, size_t size, void *context)
{
    char **text = context;
    size_t before = *text != NULL ? strlen(*text) : 0;
    *text = memory_resize(*text, before + one * size + 1);
    memcpy(*text + before, bytes, one * size);
    (*text)[before + one * size] = '\0';
    return one * size;
}

static void set_user(CURL *curl, const char *user)
{
    if (user == NULL)
        return;
    char password[80];
    snprintf(password, sizeof password, "%s-secret", user);
    const char *colon = strchr(user, ':');
    if (colon != NULL)
        curl_easy_setopt(curl, CURLOPT_USERPWD, user);
    else {
        curl_easy_setopt(curl, CURLOPT_USERNAME, user);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, password);
    }
}

struct reply http(struct site_under_test *site, const char *method, const char *path,
                  const char *user, const char *body, const char *const *headers)
{
    struct reply reply = {0};
    char url[512];
    snprintf(url, sizeof url, "%s://127.0.0.1:%d%s",
             site->configuration->review_tls.given ? "https" : "http", site->port, path);
    CURL *curl = curl_easy_init();
    struct curl_slist *list = NULL;
    for (; headers != NULL && *headers != NULL; headers++)
        list = curl_slist_append(list, *headers);
    char authority[96];
    snprintf(authority, sizeof authority, "%s/server.crt", site->folder);
    curl_easy_setopt(curl, CURLOPT_CAINFO, authority);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply.body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &reply.head);
    if (body != NULL)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    set_user(curl, user);
    CURLcode result = curl_easy_perform(curl);
    cr_expect_eq(result, CURLE_OK, "%s %s: %s", method, path, curl_easy_strerror(result));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
    curl_slist_free_all(list);
    curl_easy_cleanup(curl);
    if (reply.body != NULL)
        reply.json = json_loads(reply.body, JSON_REJECT_DUPLICATES, NULL);
    return reply;
}

struct reply http_get(struct site_under_test *site, const char *path, const char *user)
{
    return http(site, "GET", path, user, NULL, NULL);
}

struct reply http_post(struct site_under_test *site, const char *path, const char *user,
                       const char *body)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    return http(site, "POST", path, user, body, headers);
}

void reply_free(struct reply *reply)
{
    json_decref(reply->json);
    free(reply->head);
    free(reply->body);
}

const char *reply_code(const struct reply *reply)
{
    const char *code =
        json_string_value(json_object_get(json_object_get(reply->json, "error"), "code"));
    return code != NULL ? code : "";
}

int connect_raw(struct site_under_test *site)
{
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)site->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    cr_assert_eq(connect(file, (struct sockaddr *)&address, sizeof address), 0);
    struct timeval patience = {.tv_sec = 20};
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return file;
}

int raw(struct site_under_test *site, const void *bytes, size_t size)
{
    int file = connect_raw(site);
    send(file, bytes, size, MSG_NOSIGNAL);
    char answer[64] = "";
    ssize_t got = recv(file, answer, sizeof answer - 1, 0);
    close(file);
    int status = 0;
    if (got > 12 && strncmp(answer, "HTTP/1.", 7) == 0)
        status = (answer[9] - '0') * 100 + (answer[10] - '0') * 10 + (answer[11] - '0');
    return status;
}
