/*
 * review.c - see review.h. Objects of many names are told together, so that a pattern over a large
 * schema makes one finding.
 */
#include "rules/review.h"

#include "proxy/base/buffer.h"
#include "rules/conditions.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_TOLD = 5, NAMES_BYTES = 2048 };

static const enum verb table_verbs[] = {VERB_SELECT, VERB_INSERT, VERB_UPDATE, VERB_DELETE,
                                        VERB_TRUNCATE};

static void PRINTF_LIKE(3, 4)
    add_finding(struct review *review, struct place place, const char *format, ...)
{
    char line[NAMES_BYTES + 1024];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    struct finding *added = arena_push(review->arena, (void **)&review->items, &review->count,
                                       &review->capacity, sizeof *added);
    struct text text = {line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1};
    *added = (struct finding){place, arena_text(review->arena, text)};
}

/* --- several names as one text
 * --------------------------------------------------------------------- */

struct names {
    struct buffer text;
    size_t count;
};

static struct names names_none(void)
{
    struct names names = {.count = 0};
    buffer_init(&names.text, NAMES_BYTES);
    return names;
}

static void names_add(struct names *names, struct text name)
{
    if (names->count++ >= NAMES_TOLD)
        return;
    buffer_append_string(&names->text, names->count > 1 ? ", " : "");
    buffer_append_text(&names->text, name);
}

/* "shop.a, shop.b and 3 more"; ends the names. */
static struct text names_told(struct review *review, struct names *names)
{
    if (names->count > NAMES_TOLD)
        buffer_printf(&names->text, " and %zu more", names->count - NAMES_TOLD);
    struct text told = arena_text(review->arena, buffer_text(&names->text));
    buffer_release(&names->text);
    return told;
}

/* --- objects of the database
 * ------------------------------------------------------------------------ */

static bool is_system(struct text schema)
{
    return text_is(schema, "pg_catalog") || text_is(schema, "information_schema");
}

static bool is_table(const struct relation *relation)
{
    return strchr("rpvmf", relation->kind) != NULL && !is_system(relation->schema);
}

static struct object object_of(const struct relation *relation)
{
    return (struct object){OBJECT_NAME, relation->schema, relation->name};
}

static struct text name_of(struct review *review, const struct relation *relation)
{
    const struct object object = object_of(relation);
    return object_text(review->arena, &object);
}

static bool rule_names_table(const struct rule *rule, const struct relation *relation)
{
    const struct object object = object_of(relation);
    for (size_t i = 0; is_table(relation) && i < rule->on_count; i++)
        if (object_pattern_matches(&rule->on[i], &object))
            return true;
    return false;
}

static bool rule_opens(const struct rule *rule)
{
    return rule->verdict != VERDICT_REJECT && !rule->all_verbs;
}

static bool rule_writes(const struct rule *rule)
{
    return rule->verbs[VERB_INSERT] || rule->verbs[VERB_UPDATE] || rule->verbs[VERB_DELETE] ||
           rule->verbs[VERB_TRUNCATE];
}

static bool rule_makes(const struct rule *rule)
{
    return rule->verbs[VERB_CREATE] || rule->verbs[VERB_CODE];
}

/* --- names that mean nothing
 * ------------------------------------------------------------------------ */

static bool has_function(const struct review *review, const struct object_pattern *pattern)
{
    size_t count;
    const struct function *functions = catalog_all_functions(review->catalog, &count);
    for (size_t i = 0; i < count; i++) {
        const struct object object = {OBJECT_NAME, functions[i].schema, functions[i].name};
        if (object_pattern_matches(pattern, &object))
            return true;
    }
    return false;
}

static bool has_relation(const struct review *review, const struct object_pattern *pattern)
{
    size_t count;
    const struct relation *relations = catalog_all_relations(review->catalog, &count);
    for (size_t i = 0; i < count; i++) {
        const struct object object = object_of(&relations[i]);
        if (object_pattern_matches(pattern, &object))
            return true;
    }
    return false;
}

static bool names_literal_schema(const struct object_pattern *pattern)
{
    return pattern->part_count > 1 && !pattern->parts[0].prefix && !pattern->any;
}

/* Types too may stand in `on`, but only of a name that is written out. */
static bool means_something(const struct review *review, const struct object_pattern *pattern)
{
    return has_relation(review, pattern) || has_function(review, pattern) ||
           catalog_type(review->catalog, pattern->parts[0].text, pattern->parts[1].text) != NULL;
}

static void review_pattern(struct review *review, const struct object_pattern *pattern)
{
    struct text schema = pattern->parts[0].text;
    if (pattern->any)
        return;
    if (pattern->kind == OBJECT_SCHEMA && !pattern->parts[0].prefix &&
        !catalog_has_schema(review->catalog, schema))
        add_finding(review, pattern->place, "there is no schema \"%.*s\" in the database",
                    TEXT_ARGS(schema));
    if (pattern->kind != OBJECT_NAME || pattern->part_count != 2 || is_system(schema))
        return;
    if (names_literal_schema(pattern) && !catalog_has_schema(review->catalog, schema))
        add_finding(review, pattern->place, "there is no schema \"%.*s\" in the database",
                    TEXT_ARGS(schema));
    else if (!means_something(review, pattern))
        add_finding(review, pattern->place,
                    object_pattern_is_literal(pattern)
                        ? "there is no %.*s in the database"
                        : "%.*s covers nothing that is in the database now",
                    TEXT_ARGS(pattern->source));
}

static bool covers_column(const struct object_pattern *pattern, const struct relation *relation)
{
    for (size_t i = 0; is_table(relation) && i < relation->column_count; i++)
        if (column_pattern_matches(pattern, relation->schema, relation->name,
                                   relation->columns[i].name))
            return true;
    return false;
}

static void review_column_pattern(struct review *review, const struct object_pattern *pattern,
                                  const char *key)
{
    size_t count;
    const struct relation *relations = catalog_all_relations(review->catalog, &count);
    for (size_t i = 0; i < count; i++)
        if (covers_column(pattern, &relations[i]))
            return;
    add_finding(review, pattern->place, "%s %.*s covers no column that is in the database now", key,
                TEXT_ARGS(pattern->source));
}

/* A column of `columns` that no table of the rule has can only be a mistake. */
static void review_columns(struct review *review, const struct rule *rule)
{
    size_t count;
    const struct relation *relations = catalog_all_relations(review->catalog, &count);
    for (size_t i = 0; i < rule->column_count; i++) {
        size_t tables = 0, having = 0;
        for (size_t j = 0; j < count; j++)
            if (rule_names_table(rule, &relations[j])) {
                tables++;
                having += relation_column(&relations[j], rule->columns[i]) != NULL;
            }
        if (tables > 0 && having == 0)
            add_finding(review, rule->place, "no table of this rule has a column \"%.*s\"",
                        TEXT_ARGS(rule->columns[i]));
    }
}

/* --- what happens beside the rule
 * -------------------------------------------------------------------- */

static bool trigger_fires(const struct review *review, const struct rule *rule,
                          const struct trigger *trigger)
{
    const struct relation *relation = catalog_relation_by_oid(review->catalog, trigger->relation);
    bool fires = false;
    for (size_t i = 0; i < ARRAY_SIZE(table_verbs); i++)
        fires |= trigger->verbs[table_verbs[i]] && rule->verbs[table_verbs[i]];
    return fires && trigger->may_write && relation != NULL && rule_names_table(rule, relation);
}

/* All tables of one trigger function together, where its first trigger stands. */
static void review_trigger(struct review *review, const struct rule *rule, size_t index)
{
    const struct rights *rights = review->rights;
    const struct trigger *first = &rights->triggers[index];
    struct names tables = names_none();
    for (size_t i = 0; i < rights->trigger_count; i++) {
        const struct trigger *trigger = &rights->triggers[i];
        if (!text_equal(trigger->function, first->function) ||
            !trigger_fires(review, rule, trigger))
            continue;
        if (i < index) {
            buffer_release(&tables.text);
            return;
        }
        const struct relation *relation =
            catalog_relation_by_oid(review->catalog, trigger->relation);
        names_add(&tables,
                  arena_printf(review->arena, "%.*s (trigger %.*s)",
                               TEXT_ARGS(name_of(review, relation)), TEXT_ARGS(trigger->name)));
    }
    struct text told = names_told(review, &tables);
    add_finding(
        review, rule->place,
        "writes to %.*s call %.*s, which may write other tables: no rule is asked about that, and "
        "max_rows does not count it",
        TEXT_ARGS(told), TEXT_ARGS(first->function));
}

static void review_triggers(struct review *review, const struct rule *rule)
{
    for (size_t i = 0; i < review->rights->trigger_count; i++)
        if (trigger_fires(review, rule, &review->rights->triggers[i]))
            review_trigger(review, rule, i);
}

/* --- conditions that can never hold
 * ------------------------------------------------------------------ */

static void review_tables(struct review *review, const struct rule *rule)
{
    struct names keyless = names_none(), ruled = names_none();
    bool needs_key = rule->where == WHERE_KEY;
    size_t count;
    const struct relation *relations = catalog_all_relations(review->catalog, &count);
    for (size_t i = 0; i < count; i++) {
        const struct relation *relation = &relations[i];
        if (!rule_names_table(rule, relation))
            continue;
        if (needs_key && !relation_has_proof(relation))
            names_add(&keyless, name_of(review, relation));
        if (relation->has_rules && rule->verdict == VERDICT_ALLOW)
            names_add(&ruled, name_of(review, relation));
    }
    bool any_keyless = keyless.count > 0, any_ruled = ruled.count > 0;
    struct text keyless_names = names_told(review, &keyless);
    struct text ruled_names = names_told(review, &ruled);
    if (any_keyless)
        add_finding(review, rule->place,
                    "where: key can never hold on %.*s: no unique key proves how many rows match",
                    TEXT_ARGS(keyless_names));
    if (any_ruled)
        add_finding(review, rule->place, "%.*s has rewrite rules, which may write other tables",
                    TEXT_ARGS(ruled_names));
}

/* --- views over closed columns
 * ------------------------------------------------------------------------ */

enum { VIEWS_DEEP_MAX = 16 };

struct closed {
    const struct policy *policy;
    const struct object_pattern *patterns;
    size_t count;
    struct text column; /* "shop.customers.ssn", when one was found */
};

/* What the view reads of one relation, as the action that a select from the view has. */
static bool source_is_closed(struct review *review, const struct view_source *source,
                             const struct relation *relation, struct closed *closed)
{
    const struct decide_context context = {.policy = closed->policy, .catalog = review->catalog};
    const struct column *column = relation_column_by_number(relation, source->column);
    const struct action action = {
        .verb = VERB_SELECT,
        .object = object_of(relation),
        .relation = relation,
        .columns = column != NULL ? &column->name : NULL,
        .column_count = column != NULL,
        .columns_unknown = source->column == VIEW_SOURCE_EVERY_COLUMN,
    };
    const struct matching matching = {
        .arena = review->arena, .context = &context, .action = &action};
    struct text name;
    if (!action_touches_column(&matching, &action, closed->patterns, closed->count, &name))
        return false;
    closed->column = arena_printf(review->arena, "%.*s.%.*s", TEXT_ARGS(name_of(review, relation)),
                                  TEXT_ARGS(name));
    return true;
}

static bool view_reads_closed(struct review *review, const struct relation *view,
                              struct closed *closed, int depth)
{
    for (size_t i = 0; i < view->source_count && depth < VIEWS_DEEP_MAX; i++) {
        const struct relation *relation =
            catalog_relation_by_oid(review->catalog, view->sources[i].relation);
        if (relation == NULL)
            continue;
        if (source_is_closed(review, &view->sources[i], relation, closed) ||
            view_reads_closed(review, relation, closed, depth + 1))
            return true;
    }
    return false;
}

static void review_views(struct review *review, const struct policy *policy,
                         const struct rule *rule, const struct object_pattern *patterns,
                         size_t pattern_count, const char *key)
{
    size_t count;
    const struct relation *relations = catalog_all_relations(review->catalog, &count);
    for (size_t i = 0; pattern_count > 0 && i < count; i++) {
        struct closed closed = {policy, patterns, pattern_count, TEXT("")};
        if (relations[i].source_count > 0 && rule_names_table(rule, &relations[i]) &&
            view_reads_closed(review, &relations[i], &closed, 0))
            add_finding(review, rule->place,
                        "%.*s reads %.*s, which %s closes: this rule opens no select from it",
                        TEXT_ARGS(name_of(review, &relations[i])), TEXT_ARGS(closed.column), key);
    }
}

/* --- the login's rights
 * ------------------------------------------------------------------------------- */

/* By the rule's own verbs, or by a template that it lets run. */
static bool rule_needs(const struct policy *policy, const struct rule *rule, enum verb verb,
                       const struct relation *relation)
{
    const struct object object = object_of(relation);
    for (size_t i = 0; i < policy->template_count; i++)
        if (rule_executes_use(rule, &policy->templates[i], verb, &object))
            return true;
    return rule->verbs[verb] && rule_names_table(rule, relation);
}

/* Rights that a rule would need, of tables that it writes out. */
static void review_missing_rights(struct review *review, const struct policy *policy,
                                  const struct rule *rule)
{
    const struct rights *rights = review->rights;
    for (size_t i = 0; i < ARRAY_SIZE(table_verbs); i++) {
        struct names missing = names_none();
        for (size_t j = 0; j < rights->table_count; j++) {
            const struct table_rights *table = &rights->tables[j];
            const struct relation *relation =
                catalog_relation_by_oid(review->catalog, table->relation);
            if (relation != NULL && !table->verbs[table_verbs[i]] &&
                rule_needs(policy, rule, table_verbs[i], relation))
                names_add(&missing, name_of(review, relation));
        }
        bool any = missing.count > 0;
        struct text told = names_told(review, &missing);
        if (any)
            add_finding(review, rule->place, "role \"%.*s\" has no right to %s %.*s",
                        TEXT_ARGS(rights->role), verb_name(table_verbs[i]), TEXT_ARGS(told));
    }
}

static bool policy_names(const struct policy *policy, const struct relation *relation)
{
    const struct object object = object_of(relation);
    for (size_t i = 0; i < ARRAY_SIZE(table_verbs); i++)
        if (policy_may(policy, table_verbs[i], &object))
            return true;
    return false;
}

/* PostgreSQL asks for the owner of a table to do this with it, so the policy wants one. */
static bool policy_needs_owner(const struct policy *policy, const struct relation *relation)
{
    static const enum verb of_owners[] = {VERB_ALTER, VERB_DROP, VERB_GRANT, VERB_COMMENT,
                                          VERB_MAINTAIN};
    const struct object object = object_of(relation);
    for (size_t i = 0; i < ARRAY_SIZE(of_owners); i++)
        if (policy_may(policy, of_owners[i], &object))
            return true;
    return false;
}

void review_owner(struct review *review, const struct policy *policy, struct text agent,
                  struct place place)
{
    const struct rights *rights = review->rights;
    struct names owned = names_none();
    for (size_t i = 0; i < rights->table_count && !policy->transparent; i++) {
        const struct relation *relation =
            catalog_relation_by_oid(review->catalog, rights->tables[i].relation);
        if (relation != NULL && rights->tables[i].owner && !rights->superuser &&
            policy_names(policy, relation) && !policy_needs_owner(policy, relation))
            names_add(&owned, name_of(review, relation));
    }
    bool any = owned.count > 0;
    struct text told = names_told(review, &owned);
    if (any)
        add_finding(
            review, place,
            "the database role of agent %.*s, \"%.*s\", owns %.*s: row security does not bind an "
            "owner, and nothing in the database keeps it from altering them",
            TEXT_ARGS(agent), TEXT_ARGS(rights->role), TEXT_ARGS(told));
}

enum { ANCESTORS_MAX = 32 };

static bool policy_needs(const struct policy *policy, enum verb verb,
                         const struct relation *relation)
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].verdict != VERDICT_REJECT &&
            rule_needs(policy, &policy->rules[i], verb, relation))
            return true;
    return false;
}

/* A rule on a parent covers its partitions and children. */
static bool any_policy_may(const struct review *review, const struct policy *const *policies,
                           size_t policy_count, enum verb verb, const struct relation *relation,
                           int depth)
{
    for (size_t i = 0; i < policy_count; i++)
        if (policy_needs(policies[i], verb, relation))
            return true;
    for (size_t i = 0; i < relation->parent_count && depth < ANCESTORS_MAX; i++) {
        const struct relation *parent =
            catalog_relation_by_oid(review->catalog, relation->parents[i]);
        if (parent != NULL &&
            any_policy_may(review, policies, policy_count, verb, parent, depth + 1))
            return true;
    }
    return false;
}

void review_rights(struct review *review, const struct policy *const *policies, size_t policy_count,
                   struct place place)
{
    const struct rights *rights = review->rights;
    for (size_t i = 0; i < ARRAY_SIZE(table_verbs) && !rights->superuser; i++) {
        struct names wider = names_none();
        for (size_t j = 0; j < rights->table_count; j++) {
            const struct table_rights *table = &rights->tables[j];
            const struct relation *relation =
                catalog_relation_by_oid(review->catalog, table->relation);
            if (relation != NULL && table->verbs[table_verbs[i]] && !table->owner &&
                !any_policy_may(review, policies, policy_count, table_verbs[i], relation, 0))
                names_add(&wider, name_of(review, relation));
        }
        bool any = wider.count > 0;
        struct text told = names_told(review, &wider);
        if (any)
            add_finding(
                review, place,
                "role \"%.*s\" has the right to %s %.*s, which no policy of its agents lets "
                "through: it could be revoked",
                TEXT_ARGS(rights->role), verb_name(table_verbs[i]), TEXT_ARGS(told));
    }
}

/* --- a policy
 * ------------------------------------------------------------------------------------------ */

static void review_rule(struct review *review, const struct policy *policy, const struct rule *rule)
{
    for (size_t i = 0; i < rule->on_count && !rule_makes(rule); i++)
        review_pattern(review, &rule->on[i]);
    for (size_t i = 0; i < rule->not_column_count; i++)
        review_column_pattern(review, &rule->not_columns[i], "not_columns");
    if (!rule_opens(rule))
        return;
    review_columns(review, rule);
    review_missing_rights(review, policy, rule);
    if (rule_writes(rule))
        review_tables(review, rule);
    if (rule_writes(rule) && rule->verdict == VERDICT_ALLOW)
        review_triggers(review, rule);
    if (!rule->verbs[VERB_SELECT])
        return;
    review_views(review, policy, rule, policy->hidden, policy->hidden_count, "hidden");
    review_views(review, policy, rule, rule->not_columns, rule->not_column_count, "not_columns");
}

void review_policy(struct review *review, const struct policy *policy)
{
    for (size_t i = 0; i < policy->search_path_count; i++)
        if (!catalog_has_schema(review->catalog, policy->search_path[i]))
            add_finding(review, policy->place,
                        "there is no schema \"%.*s\", which search_path names",
                        TEXT_ARGS(policy->search_path[i]));
    for (size_t i = 0; i < policy->hidden_count; i++)
        review_column_pattern(review, &policy->hidden[i], "hidden");
    for (size_t i = 0; i < policy->rule_count; i++)
        review_rule(review, policy, &policy->rules[i]);
}
