/*
 * review.h - a policy against a database, for `check`: what a person would want to know before
 * relying on it. Nothing here decides anything. Pure.
 */
#ifndef PGWICKET_RULES_REVIEW_H
#define PGWICKET_RULES_REVIEW_H

#include "parser/rights.h"
#include "rules/policy.h"

struct finding {
    struct place place; /* of the rule, pattern, policy, agent or upstream that it is about */
    struct text text;   /* one line */
};

struct review {
    struct arena *arena; /* of the findings */
    const struct catalog *catalog;
    const struct rights *rights;
    struct finding *items;
    size_t count, capacity;
};

/*
 * The policy's own: names that mean nothing in the database; triggers and rules of tables that an
 * allow rule lets write; views over columns that are closed; `where: key` and `max_rows` that can
 * never hold; rights that the role would need and does not have.
 */
void review_policy(struct review *review, const struct policy *policy);

/* Tables that the policy names and the login of its agent owns. */
void review_owner(struct review *review, const struct policy *policy, struct text agent,
                  struct place place);

/* What the login may do beyond all policies of the agents that use it. */
void review_rights(struct review *review, const struct policy *const *policies, size_t policy_count,
                   struct place place);

#endif
