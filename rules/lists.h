/*
 * lists.h - names, patterns and verbs in a row, for words about rules: `title` before the first, ", " between
 * them, and nothing at all where there are none.
 */
#ifndef PGWICKET_RULES_LISTS_H
#define PGWICKET_RULES_LISTS_H

#include "proxy/base/buffer.h"
#include "rules/policy.h"

void append_names(struct buffer *out, const char *title, const struct text *names, size_t count);

/* `any` stands for the pattern of everything. */
void append_patterns(struct buffer *out, const char *title, const struct object_pattern *patterns,
                     size_t count, const char *any);

/* What `word` calls the rule's verbs; `all` where it has all of them. */
void append_verbs(struct buffer *out, const char *title, const struct rule *rule, const char *all,
                  const char *(*word)(enum verb verb));

#endif
