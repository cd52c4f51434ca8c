/*
 * check.c - `pgwicket check`: reads a configuration file and says everything that is wrong with it;
 * then compares its policies with the databases that can be reached, and warns.
 */
#include "proxy/commands/commands.h"

#include "proxy/commands/arguments.h"
#include "proxy/config/problems.h"
#include "proxy/config/settings.h"
#include "proxy/net/templates.h"
#include "proxy/net/upstreams.h"
#include "proxy/upstream/rights.h"
#include "rules/review.h"

#include <stdio.h>

enum { PROBLEMS_BYTES_MAX = 256 * 1024, PROBLEM_BYTES = 512 };

static const char usage[] =
    "usage: pgwicket check FILE [--offline] [--strict]\n\n"
    "Reads a configuration file, with the files and environment variables that it names, and lists "
    "all\n"
    "problems with their places. If the file is fine, asks each upstream for its catalog and warns "
    "of:\n"
    "names that mean nothing there; templates that it does not prepare; tables with triggers that\n"
    "may write others; views over closed columns; conditions that can never hold; roles that own\n"
    "tables, lack a right, or have more than the policies let through. Changes nothing.\n\n"
    "  --offline  connect to nothing\n"
    "  --strict   warnings are errors, and each upstream must be reached\n\n"
    "exit code: 0 the file is fine, 1 it is not, 2 usage; with --strict also 1 there are "
    "warnings,\n"
    "3 an upstream cannot be reached\n";

/* What the reviewer is given and gives back. */
struct comparison {
    bool unreachable;
    size_t warnings;
};

/* --- one upstream
 * ---------------------------------------------------------------------------------- */

static bool is_first_with_policy(const struct configuration *configuration,
                                 const struct agent *agent)
{
    for (const struct agent *other = configuration->agents; other < agent; other++)
        if (other->upstream == agent->upstream && other->policy == agent->policy)
            return false;
    return true;
}

static void review_agents(struct review *review, const struct configuration *configuration,
                          const struct upstream_settings *upstream)
{
    const struct policy **policies =
        arena_array(review->arena, configuration->agent_count, sizeof *policies);
    size_t count = 0;
    for (size_t i = 0; i < configuration->agent_count; i++) {
        const struct agent *agent = &configuration->agents[i];
        if (agent->upstream != upstream)
            continue;
        review_owner(review, agent->policy, agent->name, agent->place);
        if (!is_first_with_policy(configuration, agent))
            continue;
        review_policy(review, agent->policy);
        policies[count++] = agent->policy;
    }
    if (count > 0)
        review_rights(review, policies, count, upstream->place);
}

static void warn_of_findings(const struct review *review, const struct configuration *configuration,
                             const struct upstream_settings *upstream, struct problems *problems)
{
    bool several = configuration->upstream_count > 1;
    for (size_t i = 0; i < review->count; i++)
        problem_warning(problems, review->items[i].place, "%.*s%.*s%s%.*s", several ? 9 : 0,
                        "upstream ", several ? (int)upstream->name.size : 0, upstream->name.bytes,
                        several ? ": " : "", TEXT_ARGS(review->items[i].text));
}

/* What EXECUTE would run is prepared there, and forgotten. */
static void prepare_templates(struct catalog_loader *loader, const struct configuration *configuration,
                              const struct upstream_settings *upstream, struct problems *problems)
{
    struct unprepared *unprepared = templates_check(loader, configuration, upstream->name);
    for (size_t i = 0; i < unprepared->count; i++)
        problem_warning(problems, upstream->place, "serve refuses this: %.*s",
                        TEXT_ARGS(unprepared->problems[i]));
    unprepared_release(unprepared);
}

static bool read_upstream(struct catalog_loader *loader, struct arena *arena,
                          struct catalog **catalog, struct rights *rights,
                          struct upstream_facts *facts, char *problem)
{
    *catalog = NULL;
    return catalog_loader_facts(loader, facts, problem, PROBLEM_BYTES) &&
           catalog_loader_rights(loader, arena, rights, problem, PROBLEM_BYTES) &&
           (*catalog = catalog_loader_load(loader, problem, PROBLEM_BYTES)) != NULL;
}

static void compare_upstream(struct comparison *comparison,
                             const struct configuration *configuration,
                             const struct upstream_settings *upstream, struct problems *problems)
{
    char problem[PROBLEM_BYTES];
    struct arena arena;
    struct catalog *catalog;
    struct rights rights;
    struct upstream_facts facts;
    struct catalog_loader *loader = catalog_loader_new(upstream->connection.bytes);
    arena_init(&arena);
    if (read_upstream(loader, &arena, &catalog, &rights, &facts, problem)) {
        struct review review = {.arena = &arena, .catalog = catalog, .rights = &rights};
        review_agents(&review, configuration, upstream);
        warn_of_findings(&review, configuration, upstream, problems);
        upstream_judge_facts(upstream->name.bytes, upstream->accept_risks, &facts, problem,
                             sizeof problem);
        if (problem[0] != '\0')
            problem_warning(problems, upstream->place, "serve refuses this: %s", problem);
        prepare_templates(loader, configuration, upstream, problems);
    } else {
        comparison->unreachable = true;
        fprintf(
            stderr,
            "pgwicket: upstream %.*s cannot be reached, so no policy was compared with it: %s\n",
            TEXT_ARGS(upstream->name), problem);
    }
    catalog_release(catalog);
    arena_release(&arena);
    catalog_loader_free(loader);
}

static void compare(const struct configuration *configuration, struct problems *problems,
                    void *argument)
{
    struct comparison *comparison = argument;
    for (size_t i = 0; i < configuration->upstream_count; i++)
        compare_upstream(comparison, configuration, &configuration->upstreams[i], problems);
    comparison->warnings = problems->count;
}

static void count_warnings(const struct configuration *configuration, struct problems *problems,
                           void *argument)
{
    struct comparison *comparison = argument;
    (void)configuration;
    comparison->warnings = problems->count;
}

/* --- the command
 * ------------------------------------------------------------------------------------ */

static const char *plural(size_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void tell_fine(const char *path, const struct configuration *configuration,
                      const struct comparison *comparison)
{
    printf("%s is fine: %zu upstream%s, %zu agent%s, %zu approver%s, %zu polic%s", path,
           configuration->upstream_count, plural(configuration->upstream_count, "", "s"),
           configuration->agent_count, plural(configuration->agent_count, "", "s"),
           configuration->approver_count, plural(configuration->approver_count, "", "s"),
           configuration->policy_count, plural(configuration->policy_count, "y", "ies"));
    if (comparison->warnings > 0)
        printf("; %zu warning%s", comparison->warnings, plural(comparison->warnings, "", "s"));
    putchar('\n');
}

static int check(const char *path, bool offline, bool strict)
{
    struct buffer problems;
    struct comparison comparison = {0};
    buffer_init(&problems, PROBLEMS_BYTES_MAX);
    struct configuration *configuration = configuration_load_reviewed(
        path, offline ? count_warnings : compare, &comparison, &problems);
    fputs(buffer_string(&problems), stderr);
    if (configuration != NULL)
        tell_fine(path, configuration, &comparison);
    bool is_fine = configuration != NULL && !(strict && comparison.warnings > 0);
    configuration_release(configuration);
    buffer_release(&problems);
    if (!is_fine)
        return EXIT_NO;
    return strict && comparison.unreachable ? EXIT_UNREACHABLE : EXIT_FINE;
}

int command_check(int argc, char **argv)
{
    const char *path;
    bool offline = false, strict = false;
    const struct option_of options[] = {
        {"--offline", NULL, &offline},
        {"--strict", NULL, &strict},
    };
    const struct arguments arguments = {usage, options, ARRAY_SIZE(options), &path, 1};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    return check(path, offline, strict);
}
