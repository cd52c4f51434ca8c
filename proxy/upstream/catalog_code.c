/*
 * catalog_code.c - what using a table runs: whether a rollback undoes all of it, and whether settings, role
 * and objects stay what they are.
 *
 * A graph: a use of a relation, a function and a type are nodes, and each points at what it may run. What
 * is found in the bodies of functions is rather too much than too little, and what cannot be seen (another
 * language than SQL and PL/pgSQL, text that is built, source that may not be read) gives its node a
 * reason. Reasons spread to everything that may run such a node.
 */
#include "proxy/upstream/catalog_rows.h"

#include "parser/builtins.h"
#include "proxy/base/attributes.h"

#include <stdlib.h>

/* --- nodes ---------------------------------------------------------------------------------------- */

static size_t node_count(const struct reading *reading)
{
    return 2 + reading->function_count + reading->type_count + USE_COUNT * reading->relation_count;
}

size_t event_node(const struct reading *reading) { return node_count(reading) - 1; }

size_t function_node(const struct reading *reading, uint32_t oid)
{
    const struct function *function = find_function(reading, oid);
    return function != NULL ? 1 + (size_t)(function - reading->functions) : 0;
}

size_t type_node(const struct reading *reading, uint32_t oid)
{
    const struct type_draft *type = find_type(reading, oid);
    return type != NULL ? 1 + reading->function_count + (size_t)(type - reading->types) : 0;
}

static size_t node_of_draft(const struct reading *reading, const struct relation_draft *draft,
                            enum relation_use use)
{
    size_t index = (size_t)(draft - reading->relations);
    return 1 + reading->function_count + reading->type_count + USE_COUNT * index + (size_t)use;
}

size_t relation_node(const struct reading *reading, uint32_t oid, enum relation_use use)
{
    const struct relation_draft *draft = find_relation(reading, oid);
    return draft != NULL ? node_of_draft(reading, draft, use) : 0;
}

void add_runs(struct reading *reading, size_t from, size_t to)
{
    if (from == 0 || to == 0 || from == to)
        return;
    struct runs *runs = arena_push(&reading->scratch, &reading->runs.items, &reading->runs.count,
                                   &reading->runs.capacity, sizeof *runs);
    *runs = (struct runs){from, to};
}

void add_reason(struct reading *reading, enum deed deed, size_t node, struct text reason)
{
    struct text **reasons = &reading->reasons[deed];
    if (*reasons == NULL)
        *reasons = arena_array(&reading->scratch, node_count(reading), sizeof **reasons);
    if (node != 0 && (*reasons)[node].size == 0)
        (*reasons)[node] = reason;
}

/* --- what the catalog says ------------------------------------------------------------------------ */

enum { ON_INSERT = 4, ON_DELETE = 8, ON_UPDATE = 16, ON_TRUNCATE = 32 }; /* of pg_trigger.tgtype */

void add_runs_of_trigger(struct reading *reading, uint32_t relation, int events, uint32_t function)
{
    size_t to = function_node(reading, function);
    if ((events & (ON_INSERT | ON_UPDATE)) != 0)
        add_runs(reading, relation_node(reading, relation, USE_STORE), to);
    if ((events & (ON_DELETE | ON_TRUNCATE)) != 0)
        add_runs(reading, relation_node(reading, relation, USE_DELETE), to);
}

void read_event_triggers(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        struct list *functions = &reading->event_functions;
        uint32_t *oid = arena_push(reading->arena, &functions->items, &functions->count,
                                   &functions->capacity, sizeof *oid);
        *oid = row_oid(reading, result, row, 0);
        add_runs(reading, event_node(reading), function_node(reading, *oid));
    }
}

static size_t node_of_tree(const struct reading *reading, char owner, uint32_t oid)
{
    switch (owner) {
    case 'r':
        return relation_node(reading, oid, USE_READ);
    case 'd':
        return relation_node(reading, oid, USE_DELETE);
    case 's':
    case 'e':
        return relation_node(reading, oid, USE_STORE);
    case 't':
        return type_node(reading, oid);
    default:
        return function_node(reading, oid);
    }
}

/* Of what is stored with the table's own columns LIKE makes a copy. */
static void add_expression_function(struct reading *reading, char owner, uint32_t relation, uint32_t function)
{
    struct relation_draft *draft = owner == 'e' ? find_relation(reading, relation) : NULL;
    if (draft != NULL && is_user_function(reading, function))
        add_function(reading, &draft->expression_functions, function);
}

/* Expressions as the server keeps them: whose, what kind of thing they name, and which. */
void read_expressions(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        char owner = row_char(result, row, 0);
        uint32_t owner_oid = row_oid(reading, result, row, 1);
        size_t from = node_of_tree(reading, owner, owner_oid);
        bool reads = row_bool(result, row, 2);
        struct text kind = text_from(PQgetvalue(result, row, 3));
        uint32_t oid = row_oid(reading, result, row, 4);
        if (text_is(kind, "relid")) {
            add_runs(reading, from, relation_node(reading, oid, reads ? USE_READ : USE_STORE));
            add_runs(reading, from, relation_node(reading, oid, reads ? USE_READ : USE_DELETE));
        } else if (text_is(kind, "resulttype")) {
            add_runs(reading, from, type_node(reading, oid));
        } else {
            add_runs(reading, from, function_node(reading, oid));
            add_expression_function(reading, owner, owner_oid, oid);
        }
    }
}

static bool acts(char letter) { return letter == 'c' || letter == 'n' || letter == 'd'; }

static void add_runs_of_key(struct reading *reading, const struct relation_draft *parent,
                            const struct foreign_key *key)
{
    size_t gone = node_of_draft(reading, parent, USE_DELETE);
    size_t stored = node_of_draft(reading, parent, USE_STORE);
    if (acts(key->on_delete))
        add_runs(reading, gone,
                 relation_node(reading, key->child, key->on_delete == 'c' ? USE_DELETE : USE_STORE));
    if (acts(key->on_update))
        add_runs(reading, stored, relation_node(reading, key->child, USE_STORE));
}

/* A row that moves from one partition to another is deleted in the one. */
static void add_runs_of_parent(struct reading *reading, const struct relation_draft *draft,
                               uint32_t parent)
{
    for (enum relation_use use = USE_READ; use < USE_COUNT; use++)
        add_runs(reading, relation_node(reading, parent, use), node_of_draft(reading, draft, use));
    if (draft->relation.is_partition)
        add_runs(reading, relation_node(reading, parent, USE_STORE),
                 node_of_draft(reading, draft, USE_DELETE));
}

/* What is counted leaves it out. The views of information_schema take no rows. */
static bool is_system_catalog(const struct relation *relation)
{
    return text_is(relation->schema, "pg_catalog") ||
           (text_is(relation->schema, "information_schema") && relation->kind == 'r');
}

static void judge_relation(struct reading *reading, const struct relation_draft *draft)
{
    const struct relation *relation = &draft->relation;
    if (relation->kind == 'f')
        add_reason(reading, NOT_UNDONE, node_of_draft(reading, draft, USE_READ),
                   arena_printf(reading->arena, "%.*s.%.*s is a foreign table",
                                TEXT_ARGS(relation->schema), TEXT_ARGS(relation->name)));
    for (enum relation_use use = USE_DELETE; is_system_catalog(relation) && use < USE_COUNT; use++) {
        struct text why = arena_printf(reading->arena, "%.*s is written, and changes of it are not shown",
                                       TEXT_ARGS(relation->name));
        for (enum deed deed = 0; deed < DEED_COUNT; deed++)
            add_reason(reading, deed, node_of_draft(reading, draft, use), why);
    }
}

static void add_runs_of_relation(struct reading *reading, const struct relation_draft *draft)
{
    const struct relation *relation = &draft->relation;
    const struct view_source *sources = draft->sources.items;
    size_t read = node_of_draft(reading, draft, USE_READ);
    add_runs(reading, node_of_draft(reading, draft, USE_DELETE), read);
    add_runs(reading, node_of_draft(reading, draft, USE_STORE), read);
    for (size_t i = 0; i < relation->referenced_by_count; i++)
        add_runs_of_key(reading, draft, &relation->referenced_by[i]);
    for (size_t i = 0; i < relation->parent_count; i++)
        add_runs_of_parent(reading, draft, relation->parents[i]);
    for (size_t i = 0; i < draft->sources.count; i++)
        for (enum relation_use use = USE_READ; use < USE_COUNT; use++)
            add_runs(reading, node_of_draft(reading, draft, use),
                     relation_node(reading, sources[i].relation, use));
    for (size_t i = 0; i < relation->column_count; i++)
        add_runs(reading, node_of_draft(reading, draft, USE_STORE),
                 type_node(reading, relation->columns[i].type));
    judge_relation(reading, draft);
}

/* A value of a composite type is made like a row of its relation; a table's row type is none's own. */
static void add_runs_of_type(struct reading *reading, const struct type *type)
{
    size_t from = type_node(reading, type->oid);
    add_runs(reading, from, type_node(reading, type->base));
    const struct relation_draft *row = find_relation(reading, type->relation);
    for (size_t i = 0; row != NULL && i < row->relation.column_count; i++)
        add_runs(reading, from, type_node(reading, row->relation.columns[i].type));
}

/* PostgreSQL's own functions take and give no domains. */
static void add_runs_of_function(struct reading *reading, const struct function *function)
{
    size_t from = function_node(reading, function->oid);
    if (!is_user_function(reading, function->oid))
        return;
    add_runs(reading, from, type_node(reading, function->result_type));
    for (size_t i = 0; i < function->argument_count; i++)
        add_runs(reading, from, type_node(reading, function->argument_types[i]));
}

/* It takes both types to apply one: a column of type integer alone does not run a cast to one of ours. */
void add_runs_of_cast(struct reading *reading, const struct cast *cast)
{
    const struct type_draft *target = find_type(reading, cast->target);
    bool own = target != NULL && !text_is(target->type.schema, "pg_catalog");
    const struct type_draft *source = find_type(reading, cast->source);
    bool from_own = source != NULL && !text_is(source->type.schema, "pg_catalog");
    add_runs(reading, type_node(reading, !own && from_own ? cast->source : cast->target),
             function_node(reading, cast->function));
}

/* Of what agents need `call` for, by the reasons of the table: what reads, waits, or ends with the
 * transaction. Large objects, settings and rows of the catalog that functions write are not counted. */
static bool is_seen_or_undone(struct text reason)
{
    static const char *const reasons[] = {
        "event trigger",    "file paths",  "handler or validator", "internal argument",
        "locks",            "network",     "notifies",             "other sessions",
        "own statements",   "reads files", "reads by name",        "reads settings",
        "sequence",         "server internals", "sizes",           "source text",
        "statistics",       "transaction id",   "trigger function", "type i/o",
        "waits",            "wal/replication",
    };
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (text_is(reason, reasons[i]))
            return true;
    return false;
}

/* Neither settings nor the role nor objects are others behind it. What runs SQL that it is given is none such. */
static bool leaves_session(const struct builtin_function *builtin)
{
    static const char *const reasons[] = {
        "internal argument", "type i/o",      "statistics",     "reads files",   "wal/replication",
        "other sessions",    "trigger function", "large object", "transaction id", "locks",
        "source text",       "sizes",         "event trigger",  "reads settings", "network",
        "index maintenance", "waits",         "sequence",       "file paths",    "reads by name",
        "oid counter",       "writes files",  "own statements", "notifies",      "exports snapshot"};
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (text_is(builtin->reason, reasons[i]))
            return true;
    return builtin->strictest == FUNCTION_CATALOG || builtin->strictest == FUNCTION_HARMLESS;
}

/* A sequence that moved is shown as such, and moves with every attempt anyway. */
void judge_builtin(struct reading *reading, const struct function *function, struct text name)
{
    const struct builtin_function builtin = builtin_function(name);
    const char *why = NULL;
    if (builtin.strictest == FUNCTION_UNKNOWN)
        why = "is called, which is not known here";
    else if (builtin.outside && !text_is(name, "nextval"))
        why = "is called, whose effect a rollback does not undo";
    else if (builtin.strictest == FUNCTION_GUARDED && !is_seen_or_undone(builtin.reason))
        why = "is called, whose effect would not be shown";
    if (why != NULL)
        add_reason(reading, NOT_UNDONE, function_node(reading, function->oid),
                   arena_printf(reading->arena, "%.*s() %s", TEXT_ARGS(function->name), why));
    if (!leaves_session(&builtin))
        add_reason(reading, MOVES_SESSION, function_node(reading, function->oid),
                   arena_printf(reading->arena, "%.*s() is called", TEXT_ARGS(function->name)));
}

static void judge_builtins(struct reading *reading)
{
    for (size_t i = 0; i < reading->function_count; i++) {
        const struct function *function = &reading->functions[i];
        if (text_is(function->schema, "pg_catalog") && !is_user_function(reading, function->oid))
            judge_builtin(reading, function, function->name);
    }
}

/* --- spreading ------------------------------------------------------------------------------------ */

struct spread {
    struct text *reasons; /* by node: of one deed */
    const size_t *first; /* by node: where what may run it begins in `from` */
    const size_t *from;
    size_t *waiting; /* nodes whose reason has not been told on */
    size_t waiting_count;
};

static void sort_by_target(struct reading *reading, struct spread *spread)
{
    const struct runs *runs = reading->runs.items;
    size_t nodes = node_count(reading);
    size_t *first = arena_array(&reading->scratch, nodes + 1, sizeof *first);
    size_t *place = arena_array(&reading->scratch, nodes + 1, sizeof *place);
    size_t *from = arena_array(&reading->scratch, reading->runs.count, sizeof *from);
    for (size_t i = 0; i < reading->runs.count; i++)
        first[runs[i].to + 1]++;
    for (size_t i = 1; i <= nodes; i++)
        place[i] = first[i] += first[i - 1];
    for (size_t i = 0; i < reading->runs.count; i++)
        from[place[runs[i].to]++] = runs[i].from;
    spread->first = first;
    spread->from = from;
}

static void spread_from(struct spread *spread, size_t node)
{
    for (size_t i = spread->first[node]; i < spread->first[node + 1]; i++) {
        size_t from = spread->from[i];
        if (spread->reasons[from].size > 0)
            continue;
        spread->reasons[from] = spread->reasons[node];
        spread->waiting[spread->waiting_count++] = from;
    }
}

static void spread_reasons(struct reading *reading)
{
    size_t nodes = node_count(reading);
    struct spread spread = {0};
    sort_by_target(reading, &spread);
    spread.waiting = arena_array(&reading->scratch, nodes, sizeof *spread.waiting);
    for (enum deed deed = 0; deed < DEED_COUNT; deed++) {
        spread.reasons = reading->reasons[deed];
        for (size_t i = 0; i < nodes; i++)
            if (spread.reasons[i].size > 0)
                spread.waiting[spread.waiting_count++] = i;
        while (spread.waiting_count > 0)
            spread_from(&spread, spread.waiting[--spread.waiting_count]);
    }
}

static void take_reasons(const struct reading *reading, struct relation_draft *draft)
{
    for (enum relation_use use = USE_READ; use < USE_COUNT; use++) {
        size_t node = node_of_draft(reading, draft, use);
        draft->relation.not_undone[use] = reading->reasons[NOT_UNDONE][node];
        draft->relation.moves_session[use] = reading->reasons[MOVES_SESSION][node].size > 0;
        draft->relation.moves_custom[use] = reading->reasons[MOVES_CUSTOM][node].size > 0;
        draft->relation.notifies[use] = reading->reasons[NOTIFIES][node].size > 0;
    }
}

void find_deeds(struct reading *reading)
{
    size_t event = event_node(reading);
    for (enum deed deed = 0; deed < DEED_COUNT; deed++)
        add_reason(reading, deed, 0, TEXT(""));
    judge_builtins(reading);
    for (size_t i = 0; i < reading->relation_count; i++)
        add_runs_of_relation(reading, &reading->relations[i]);
    for (size_t i = 0; i < reading->type_count; i++)
        add_runs_of_type(reading, &reading->types[i].type);
    for (size_t i = 0; i < reading->function_count; i++)
        add_runs_of_function(reading, &reading->functions[i]);
    add_runs_of_bodies(reading);
    spread_reasons(reading);
    for (size_t i = 0; i < reading->relation_count; i++)
        take_reasons(reading, &reading->relations[i]);
    const struct event_code event_code = {.functions = reading->event_functions.items,
                                          .function_count = reading->event_functions.count,
                                          .not_undone = reading->reasons[NOT_UNDONE][event],
                                          .moves_session =
                                              reading->reasons[MOVES_SESSION][event].size > 0,
                                          .moves_custom =
                                              reading->reasons[MOVES_CUSTOM][event].size > 0};
    catalog_set_event_code(reading->catalog, &event_code);
}
