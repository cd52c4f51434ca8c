/* support.c - see support.h. */
#include "tests/unit/rules/support.h"

#include "proxy/base/invariant.h"

#include <string.h>

struct arena test_arena;

static struct text *split(const char *words, size_t *count)
{
    struct text *list = NULL;
    size_t capacity = 0;
    *count = 0;
    while (*words != '\0') {
        size_t size = strcspn(words, " ");
        struct text *added =
            arena_push(&test_arena, (void **)&list, count, &capacity, sizeof *added);
        *added = arena_text(&test_arena, (struct text){words, size});
        words += size;
        words += strspn(words, " ");
    }
    return list;
}

struct text *test_names(const char *words, size_t *count) { return split(words, count); }

static void parse(struct text source, bool columns, struct object_pattern *pattern)
{
    const char *problem;
    INVARIANT(object_pattern_parse(&test_arena, source, columns, pattern, &problem));
}

struct object_pattern *test_columns(const char *words, size_t *count)
{
    struct text *sources = split(words, count);
    struct object_pattern *patterns = arena_array(&test_arena, *count, sizeof *patterns);
    for (size_t i = 0; i < *count; i++)
        parse(sources[i], true, &patterns[i]);
    return patterns;
}

static void add_verb(struct rule *rule, struct text word)
{
    bool known = false;
    rule->all_verbs |= text_is(word, "all");
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++)
        if (rule->all_verbs || text_is(word, verb_name((enum verb)verb)))
            rule->verbs[verb] = known = true;
    INVARIANT(known);
}

struct rule test_rule(enum verdict verdict, const char *words)
{
    struct rule rule = {.verdict = verdict, .max_rows = LIMIT_NONE, .max_effect = LIMIT_NONE, .max_cost = -1};
    size_t count, at = 0;
    struct text *list = split(words, &count);
    for (; at < count && !text_is(list[at], "on"); at++)
        add_verb(&rule, list[at]);
    INVARIANT(at + 1 < count);
    struct object_pattern *on = arena_array(&test_arena, count - at - 1, sizeof *on);
    for (size_t i = at + 1; i < count; i++)
        parse(list[i], false, &on[i - at - 1]);
    rule.on = on;
    rule.on_count = count - at - 1;
    return rule;
}

struct policy test_policy(struct rule *rules, size_t count)
{
    static struct text path;
    path = TEXT("shop");
    struct policy policy = {.name = TEXT("p"),
                            .rules = rules,
                            .rule_count = count,
                            .search_path = &path,
                            .search_path_count = 1,
                            .hold_quorum = 1};
    for (size_t i = 0; i < count; i++) {
        rules[i].name = arena_printf(&test_arena, "p.%zu", i + 1);
        rules[i].text = rule_in_words(&test_arena, &rules[i]);
    }
    policy.transparent = policy_allows_everything(&policy);
    policy.search_path_pinned = !policy.transparent;
    return policy;
}

static struct relation relation(struct catalog *catalog, uint32_t oid, const char *name, char kind,
                                const char *columns)
{
    size_t count;
    struct text *names = split(columns, &count);
    struct column *list = arena_array(catalog_arena(catalog), count, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct column){.name = names[i], .number = (int16_t)(i + 1), .type = 25};
    return (struct relation){.oid = oid,
                             .schema = TEXT("shop"),
                             .name = text_from(name),
                             .kind = kind,
                             .persistence = 'p',
                             .rows = 1000,
                             .columns = list,
                             .column_count = count};
}

static void add_tables(struct catalog *catalog)
{
    static const int16_t first_column[] = {1};
    static const uint32_t events_oid = 20;
    static struct key id_key;
    id_key = (struct key){TEXT("id_key"), true, first_column, 1};
    struct relation customers = relation(catalog, 10, "customers", 'r', "id name ssn");
    customers.keys = &id_key;
    customers.key_count = 1;
    struct relation orders = relation(catalog, 11, "orders", 'r', "id customer_id status");
    orders.keys = &id_key;
    orders.key_count = 1;
    static const struct foreign_key items_order = {TEXT_INIT("items_order_fkey"), 12, 'c', 'a',
                                                   first_column, first_column, 1};
    orders.referenced_by = &items_order;
    orders.referenced_by_count = 1;
    struct relation items = relation(catalog, 12, "items", 'r', "id order_id");
    struct relation directory = relation(catalog, 13, "directory", 'v', "id tax_id");
    static const struct view_source directory_sources[] = {{10, 1}, {10, 3}};
    directory.sources = directory_sources;
    directory.source_count = ARRAY_SIZE(directory_sources);
    struct relation events = relation(catalog, events_oid, "events", 'p', "id secret");
    events.has_children = true;
    struct relation part = relation(catalog, 21, "events_1", 'r', "id secret");
    part.is_partition = true;
    part.parents = &events_oid;
    part.parent_count = 1;
    struct relation fresh = relation(catalog, 30, "fresh", 'r', "id");
    fresh.rows = -1;
    struct relation remote = relation(catalog, 31, "remote", 'f', "id");
    struct relation ruled = relation(catalog, 32, "ruled", 'r', "id");
    ruled.has_rules = true;
    const struct relation *all[] = {&customers, &orders, &items,  &directory, &events,
                                    &part,      &fresh,  &remote, &ruled};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        catalog_add_relation(catalog, all[i]);
}

struct catalog *test_catalog(void)
{
    struct catalog *catalog = catalog_new();
    catalog_add_schema(catalog, TEXT("shop"));
    add_tables(catalog);
    catalog_seal(catalog, (struct instant){0}, 150000);
    return catalog;
}

struct action test_action(const struct catalog *catalog, enum verb verb, const char *schema,
                          const char *name, const char *columns)
{
    struct action action = {.verb = verb,
                            .object = {OBJECT_NAME, text_from(schema), text_from(name)},
                            .rows_max = ROWS_UNPROVEN,
                            .location = -1};
    if (catalog != NULL)
        action.relation = catalog_relation(catalog, text_from(schema), text_from(name));
    action.columns = split(columns, &action.column_count);
    return action;
}

struct shape test_shape(enum statement_kind kind, const struct action *actions, size_t count)
{
    return (struct shape){.kind = kind,
                          .actions = actions,
                          .action_count = count,
                          .tag_counts_writes = kind == STATEMENT_WRITE};
}

struct decision test_decide(const struct policy *policy, const struct catalog *catalog,
                            const struct shape *shape)
{
    const struct decide_context context = {.policy = policy, .catalog = catalog, .setting_values = NULL};
    const struct numbers numbers = {0};
    struct decision decision;
    decide(&test_arena, &context, shape, &numbers, &decision);
    return decision;
}
