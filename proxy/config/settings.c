/*
 * settings.c - a configuration file from path to checked configuration.
 *
 * All problems of the file are found in one go; with one error there is no configuration. Passwords of
 * agents and approvers do not outlive the reading: verifiers are kept.
 */
#include "proxy/config/settings.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/config/checks.h"
#include "proxy/config/listen.h"
#include "proxy/config/notify.h"
#include "proxy/config/source.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1000000LL
#define DAY    (24 * 3600 * SECOND)

/* The whole file while it is read. */
struct file {
    struct listener_section listen, review;
    struct text audit_file;
    int audit_on_failure, audit_statement_text;
    struct text holds_store;
    int64_t holds_retain_us;
    struct notify_section notify;
    int64_t workers;
    struct whole whole;
};

static const char *const on_failure_choices[] = {"reject", "continue", NULL};
static const char *const statement_text_choices[] = {"parameterised", "raw", NULL};

static bool field_audit_file(struct reader *reader, const struct field *field,
                             const struct node *node, void *target)
{
    struct text *path = target;
    if (node->kind == NODE_SCALAR && text_is(node->text, "-")) {
        *path = TEXT("-");
        return true;
    }
    return field_path(reader, field, node, path);
}

static bool field_audit(struct reader *reader, const struct field *field, const struct node *node,
                        void *target)
{
    static const struct field fields[] = {
        {"file", field_audit_file, REQUIRED, offsetof(struct file, audit_file),
         "a path, or - for standard output", NULL, 0, 0},
        {"on_failure", field_choice, OPTIONAL, offsetof(struct file, audit_on_failure), NULL,
         on_failure_choices, 0, 0},
        {"statement_text", field_choice, OPTIONAL, offsetof(struct file, audit_statement_text), NULL,
         statement_text_choices, 0, 0},
    };
    return fields_read(reader, node, field->key, fields, ARRAY_SIZE(fields), target);
}

static bool field_store(struct reader *reader, const struct field *field, const struct node *node,
                        void *target)
{
    struct text *store = target;
    struct text written;
    if (!field_secret(reader, field, node, &written))
        return false;
    if (text_starts_with(written, "postgresql://") || text_starts_with(written, "postgres://")) {
        problem_error(reader->problems, node->place, "a store in PostgreSQL is not built yet");
        return false;
    }
    if (!text_starts_with(written, "sqlite:") || written.size == strlen("sqlite:")) {
        problem_error(reader->problems, node->place, "expected %s", field->expected);
        return false;
    }
    struct text path = path_from_folder(
        reader, (struct text){written.bytes + strlen("sqlite:"), written.size - strlen("sqlite:")});
    *store = arena_printf(reader->arena, "sqlite:%.*s", TEXT_ARGS(path));
    return true;
}

static bool field_holds(struct reader *reader, const struct field *field, const struct node *node,
                        void *target)
{
    static const struct field fields[] = {
        {"store", field_store, REQUIRED, offsetof(struct file, holds_store), "sqlite:PATH", NULL, 0,
         0},
        {"retain", field_duration, OPTIONAL, offsetof(struct file, holds_retain_us), NULL, NULL,
         3600 * SECOND, 3650 * DAY},
    };
    struct file *file = target;
    file->whole.has_holds = true;
    return fields_read(reader, node, field->key, fields, ARRAY_SIZE(fields), target);
}

static bool field_workers(struct reader *reader, const struct field *field, const struct node *node,
                          void *target)
{
    int64_t *workers = target;
    *workers = 0;
    if (node->kind == NODE_SCALAR && text_is(node->text, "auto"))
        return true;
    return field_integer(reader, field, node, workers);
}

static bool field_review_section(struct reader *reader, const struct field *field,
                                 const struct node *node, void *target)
{
    struct file *file = target;
    file->whole.has_review = true;
    return field_review(reader, field, node, &file->review);
}

static const struct field file_fields[] = {
    {"listen", field_listen, REQUIRED, offsetof(struct file, listen), "where agents connect", NULL, 0,
     0},
    {"review", field_review_section, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"audit", field_audit, REQUIRED, 0, "where the audit log is written", NULL, 0, 0},
    {"holds", field_holds, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"notify", field_notify, OPTIONAL, offsetof(struct file, notify), "a list of receivers", NULL, 0,
     0},
    {"workers", field_workers, OPTIONAL, offsetof(struct file, workers), "auto or an integer", NULL,
     1, 256},
    {"upstreams", field_upstreams, REQUIRED, offsetof(struct file, whole.upstreams),
     "a map of names and connection strings", NULL, 0, 0},
    {"agents", field_agents, REQUIRED, offsetof(struct file, whole.agents), "a map of names and agents",
     NULL, 0, 0},
    {"approvers", field_approvers, OPTIONAL, offsetof(struct file, whole.approvers),
     "a map of names and approvers", NULL, 0, 0},
    {"templates", field_templates, OPTIONAL, offsetof(struct file, whole.templates),
     "a map of names and templates", NULL, 0, 0},
    {"policies", field_policies, REQUIRED, offsetof(struct file, whole.policies),
     "a map of names and policies", NULL, 0, 0},
};

static void take_listeners(struct configuration *configuration, const struct file *file)
{
    configuration->listen = file->listen.addresses;
    configuration->listen_count = file->listen.count;
    configuration->listen_tls = file->listen.tls;
    configuration->login_timeout_us = file->listen.login_timeout_us;
    configuration->has_review = file->whole.has_review;
    if (file->review.count > 0)
        configuration->review = file->review.addresses[0];
    configuration->review_tls = file->review.tls;
    configuration->review_url = file->review.url;
    configuration->trusted = file->review.trusted;
}

static void take(struct configuration *configuration, const struct file *file)
{
    take_listeners(configuration, file);
    configuration->audit_file = file->audit_file;
    configuration->audit_continue = file->audit_on_failure == 1;
    configuration->audit_raw = file->audit_statement_text == 1;
    configuration->holds_store = file->holds_store;
    configuration->holds_retain_us = file->holds_retain_us;
    configuration->receivers = file->notify.receivers;
    configuration->receiver_count = file->notify.count;
    configuration->workers = file->workers;
    configuration->upstreams = file->whole.upstreams.upstreams;
    configuration->upstream_count = file->whole.upstreams.count;
    configuration->agents = file->whole.agents.agents;
    configuration->agent_count = file->whole.agents.count;
    configuration->approvers = file->whole.approvers.approvers;
    configuration->approver_count = file->whole.approvers.count;
    configuration->templates = file->whole.templates.templates;
    configuration->template_count = file->whole.templates.count;
    configuration->policies = file->whole.policies.policies;
    configuration->policy_count = file->whole.policies.count;
}

static struct text folder_of(struct arena *arena, struct text path)
{
    size_t size = path.size;
    while (size > 0 && path.bytes[size - 1] != '/')
        size--;
    return arena_text(arena, (struct text){path.bytes, size});
}

/* What cannot be delivered at once waits in the store of the holds. */
static void check_notify(struct reader *reader, const struct file *file)
{
    if (file->notify.count > 0 && !file->whole.has_holds)
        problem_error(reader->problems, file->notify.place,
                      "notify needs the section holds, where undelivered notifications are kept");
}

static void read_document(struct configuration *configuration, struct arena *scratch,
                          struct problems *problems, const struct node *root)
{
    struct file file = {
        .listen.login_timeout_us = 15 * SECOND,
        .holds_retain_us = 30 * DAY,
    };
    struct reader reader = {
        .arena = &configuration->arena,
        .scratch = scratch,
        .problems = problems,
        .folder = folder_of(scratch, configuration->path),
    };
    (void)fields_read(&reader, root, "the file", file_fields, ARRAY_SIZE(file_fields), &file);
    check_whole(&reader, &file.whole);
    check_notify(&reader, &file);
    take(configuration, &file);
}

static struct configuration *parse(struct text path, struct text source,
                                   configuration_reviewer *reviewer, void *argument,
                                   struct buffer *problems_out)
{
    struct configuration *configuration = memory_allocate_zeroed(1, sizeof *configuration);
    struct arena scratch;
    arena_init(&scratch);
    arena_init(&configuration->arena);
    configuration->references = 1;
    configuration->path = arena_text(&configuration->arena, path);
    struct problems problems = {.arena = &scratch, .path = configuration->path, .source = source};
    const struct node *root = document_parse(&scratch, source, &problems);
    if (root != NULL)
        read_document(configuration, &scratch, &problems, root);
    bool is_fine = root != NULL && problems.errors == 0;
    if (is_fine && reviewer != NULL)
        reviewer(configuration, &problems, argument);
    problems_print(&problems, problems_out);
    arena_release(&scratch);
    if (is_fine)
        return configuration;
    configuration_release(configuration);
    return NULL;
}

struct configuration *configuration_parse(struct text path, struct text source,
                                          struct buffer *problems)
{
    return parse(path, source, NULL, NULL, problems);
}

struct configuration *configuration_load_reviewed(const char *path,
                                                  configuration_reviewer *reviewer, void *argument,
                                                  struct buffer *problems)
{
    struct text source;
    if (!source_read(path, &source, problems))
        return NULL;
    struct configuration *configuration =
        parse(text_from(path), source, reviewer, argument, problems);
    source_release(source);
    return configuration;
}

struct configuration *configuration_load(const char *path, struct buffer *problems)
{
    return configuration_load_reviewed(path, NULL, NULL, problems);
}

struct configuration *configuration_retain(struct configuration *configuration)
{
    __atomic_add_fetch(&configuration->references, 1, __ATOMIC_RELAXED);
    return configuration;
}

void configuration_release(struct configuration *configuration)
{
    if (configuration == NULL ||
        __atomic_sub_fetch(&configuration->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    arena_release(&configuration->arena);
    free(configuration);
}

const struct agent *configuration_agent(const struct configuration *configuration, struct text name)
{
    for (size_t i = 0; i < configuration->agent_count; i++)
        if (text_equal(configuration->agents[i].name, name))
            return &configuration->agents[i];
    return NULL;
}

const struct approver *configuration_approver(const struct configuration *configuration,
                                              struct text name)
{
    for (size_t i = 0; i < configuration->approver_count; i++)
        if (text_equal(configuration->approvers[i].name, name))
            return &configuration->approvers[i];
    return NULL;
}
