/*
 * cases.h - a policy's own tests: a YAML list of statements, each with the verdict that it must
 * get.
 *
 *     - {name?, agent, setup?: [messages before it], sql, params?: [values of $1 …],
 *        expect: allow | hold | reject, rule?}
 */
#ifndef PGWICKET_CONFIG_CASES_H
#define PGWICKET_CONFIG_CASES_H

#include "proxy/config/problems.h"
#include "proxy/config/settings.h"

/* A value as a client would send it in text form. */
struct case_value {
    bool is_null;
    struct text text; /* of a list: PostgreSQL's array literal */
};

struct policy_case {
    struct text name; /* given, or empty */
    struct place place;
    const struct agent *agent;
    const struct text *setup;
    size_t setup_count;
    struct text sql;
    bool has_params;
    const struct case_value *params;
    size_t param_count;
    enum verdict expect;
    struct text rule; /* that must decide or, of a rejection, be the nearest; empty: any */
};

/* Texts live in `arena` or in the configuration. */
struct policy_cases {
    struct arena arena;
    struct policy_case *items; /* at least one */
    size_t count;
};

/* False if anything is wrong; `problems` tells each, as configuration_load does. The agents are the
 * configuration's. Release the cases only after true. */
MUST_USE bool cases_load(const char *path, const struct configuration *configuration,
                         struct policy_cases *cases, struct buffer *problems);

/* The same of a text in memory. */
MUST_USE bool cases_parse(struct text path, struct text source,
                          const struct configuration *configuration, struct policy_cases *cases,
                          struct buffer *problems);

void cases_release(struct policy_cases *cases);

#endif
