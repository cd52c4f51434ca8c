/*
 * settings.h - one configuration file, read and checked: everything that serve needs, immutable.
 *
 * configuration_load reads the file, resolves {file:} and {env:}, checks everything and reports all
 * problems at once. The result is reference-counted; a reload makes a new one, sessions keep theirs.
 */
#ifndef PGWICKET_CONFIG_SETTINGS_H
#define PGWICKET_CONFIG_SETTINGS_H

#include "proxy/base/buffer.h"
#include "proxy/config/addresses.h"
#include "proxy/wire/scram.h"
#include "rules/decide.h"
#include "rules/settings.h"

enum tls_mode { TLS_DISABLE, TLS_PREFER, TLS_REQUIRE };

struct tls_settings {
    bool given;
    struct text certificate; /* paths, absolute or relative to the working directory */
    struct text key;
    struct text client_ca;   /* may be empty */
    enum tls_mode mode;
};

struct listen_address {
    struct text source;   /* as written */
    bool is_unix;
    struct text host;     /* "127.0.0.1", "::1" (no brackets) */
    struct text port;
    struct text folder;   /* unix: the socket is FOLDER/.s.PGSQL.PORT, as libpq looks for it */
    bool loopback;        /* loopback or unix: plaintext is permitted */
};

/* Bits of accept_risks and of what a role has. */
enum {
    RISK_SUPERUSER = 1 << 0,
    RISK_REPLICATION = 1 << 1,
    RISK_BYPASSRLS = 1 << 2,
    RISK_FILE_ACCESS = 1 << 3,
};

struct upstream_settings {
    struct text name;
    struct place place;
    struct text connection; /* libpq connection string; holds secrets: never logged */
    unsigned accept_risks;
};

struct agent {
    struct text name;
    struct place place;
    bool has_secret;
    struct scram_verifier verifier;
    struct text certificate_cn; /* empty: none */
    const struct upstream_settings *upstream;
    const struct policy *policy;
    const struct attribute *attributes;
    size_t attribute_count;
    const struct text *setting_values; /* decide_context.setting_values */
};

struct approver {
    struct text name;
    struct scram_verifier verifier;
    const struct text *policies; /* empty: all */
    size_t policy_count;
};

/* A header by which a reverse proxy says which approver it has signed in. */
struct trusted_header {
    struct text name; /* empty: none is trusted */
    const struct address_range *from; /* and only from these addresses */
    size_t from_count;
};

enum notify_format { NOTIFY_STANDARD, NOTIFY_SLACK };

enum notify_event {
    NOTIFY_HOLD_CREATED,
    NOTIFY_HOLD_APPROVED, /* by one, and more are needed */
    NOTIFY_HOLD_RELEASED,
    NOTIFY_HOLD_REFUSED,
    NOTIFY_HOLD_EXPIRED,
    NOTIFY_HOLD_LAPSED,
    NOTIFY_HOLD_DRIFTED,
    NOTIFY_HOLD_EXECUTED,
    NOTIFY_HOLD_FAILED,
    NOTIFY_HOLD_UNKNOWN,
    NOTIFY_AGENT_PAUSED,
    NOTIFY_AGENT_RESUMED,
    NOTIFY_AUDIT_FAILING,
    NOTIFY_AUDIT_WORKING,
    NOTIFY_EVENT_COUNT,
};

const char *notify_event_name(enum notify_event event); /* "hold.created" */

struct notify_receiver {
    struct text url;    /* may be a secret: never logged */
    struct text site;   /* "https://hooks.example.com": may be */
    struct text target; /* its word in the outbox */
    bool tls;
    enum notify_format format;
    struct text key;       /* of the signatures; empty for Slack. Never logged */
    struct text authority; /* path of certificates to trust instead of the system's; may be empty */
    unsigned events;       /* a bit for each notify_event */
};

struct configuration {
    struct arena arena;
    struct text path;

    const struct listen_address *listen;
    size_t listen_count;
    struct tls_settings listen_tls;
    int64_t login_timeout_us;

    bool has_review;
    struct listen_address review;
    struct tls_settings review_tls;
    struct text review_url; /* empty: none */
    struct trusted_header trusted;

    struct text audit_file; /* "-" or a path */
    bool audit_continue;    /* on_failure: continue */
    bool audit_raw;         /* statement_text: raw */

    struct text holds_store; /* "sqlite:PATH"; empty: no holds */
    int64_t holds_retain_us;

    const struct notify_receiver *receivers;
    size_t receiver_count;

    int64_t workers;         /* 0: auto */

    const struct upstream_settings *upstreams;
    size_t upstream_count;
    const struct agent *agents;
    size_t agent_count;
    const struct approver *approvers;
    size_t approver_count;
    const struct policy *policies;
    size_t policy_count;
    const struct template *templates; /* also in each policy */
    size_t template_count;

    int references; /* atomic */
};

/*
 * NULL if anything is wrong; then `problems` holds, for each: file, line, column, what was found and
 * expected, the source line, and a caret under the place. Warnings may be there on success too.
 */
struct configuration *configuration_load(const char *path, struct buffer *problems);

/* The same of a text in memory; relative paths are relative to the folder of `path`. */
struct configuration *configuration_parse(struct text path, struct text source,
                                          struct buffer *problems);

struct problems;

/* Called with a configuration that is fine; what it adds to the problems are warnings. */
typedef void configuration_reviewer(const struct configuration *configuration,
                                    struct problems *problems, void *argument);

/* configuration_load, with a look at the whole before the problems are written. */
struct configuration *configuration_load_reviewed(const char *path,
                                                  configuration_reviewer *reviewer, void *argument,
                                                  struct buffer *problems);

struct configuration *configuration_retain(struct configuration *configuration);
void configuration_release(struct configuration *configuration); /* NULL is fine */

const struct agent *configuration_agent(const struct configuration *configuration, struct text name);
const struct approver *configuration_approver(const struct configuration *configuration,
                                              struct text name);

#endif
