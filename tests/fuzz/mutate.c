/*
 * mutate.c - statements, and what comes of them when tokens and sub-expressions are exchanged.
 *
 * Each line of the input is one message; so are a few mutations of it. Whatever analyse() accepts
 * must get the same shape when it is asked again, and from its print; wrapped into EXPLAIN, WITH, a
 * sub-select and their kind it must keep every action, if the whole is accepted; and below more
 * levels than LIMIT_STATEMENT_DEPTH it must be refused for that.
 */
#include "mutation.h"

#include "parser/analyse.h"
#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2,
                                 size_t size2, uint8_t *out, size_t size_max, unsigned seed);

enum {
#ifdef PGWICKET_REPLAY
    MUTATIONS = 12, /* of each line */
#else
    MUTATIONS = 1, /* libFuzzer makes its own */
#endif
    MUTATED_BYTES_MAX = 4096,
    DEEP_EVERY = 16, /* one in so many is put below too many levels */
};

/* Ends the process with the statement, which may be a mutation that no file has. */
static void must(bool holds, const char *what, struct text sql)
{
    if (holds)
        return;
    fprintf(stderr, "%s: %.*s\n", what, TEXT_ARGS(sql));
    abort();
}

/* --- the catalog ---------------------------------------------------------------------------- */

enum { INT4 = 23, VARCHAR = 1043, CUSTOMERS = 30001, LOG_IT = 31001, LOG_IT2, EVIL = 32001 };

static void add_relation(struct catalog *catalog, uint32_t oid, const char *schema,
                         const char *name, const char *const *columns)
{
    struct column *made = arena_array(catalog_arena(catalog), 8, sizeof *made);
    size_t count = 0;
    for (; columns[count] != NULL; count++)
        made[count] = (struct column){.name = text_from(columns[count]),
                                      .number = (int16_t)(count + 1),
                                      .type = count == 0 ? INT4 : VARCHAR};
    struct relation relation = {.oid = oid,
                                .schema = text_from(schema),
                                .name = text_from(name),
                                .kind = 'r',
                                .persistence = 'p',
                                .columns = made,
                                .column_count = count};
    catalog_add_relation(catalog, &relation);
}

static void add_view(struct catalog *catalog)
{
    static const struct column columns[] = {{.name = TEXT_INIT("id"), .number = 1, .type = INT4},
                                            {.name = TEXT_INIT("s"), .number = 2, .type = VARCHAR}};
    static const struct view_source sources[] = {{CUSTOMERS + 1, 1}, {CUSTOMERS + 1, 4}};
    struct relation view = {.oid = CUSTOMERS + 9,
                            .schema = TEXT("d"),
                            .name = TEXT("v"),
                            .kind = 'v',
                            .persistence = 'p',
                            .columns = columns,
                            .column_count = ARRAY_SIZE(columns),
                            .sources = sources,
                            .source_count = ARRAY_SIZE(sources)};
    catalog_add_relation(catalog, &view);
}

static void add_code(struct catalog *catalog)
{
    static const uint32_t types[] = {INT4, INT4}, checks[] = {LOG_IT};
    struct function function = {.oid = LOG_IT,
                                .schema = TEXT("shop"),
                                .name = TEXT("log_it"),
                                .kind = 'f',
                                .argument_count = 1,
                                .arguments_required = 1,
                                .argument_types = types,
                                .result_type = INT4};
    catalog_add_function(catalog, &function);
    function.oid = LOG_IT2;
    function.name = TEXT("log_it2");
    function.argument_count = function.arguments_required = 2;
    catalog_add_function(catalog, &function);
    catalog_add_operator(catalog, &(struct operator){.schema = TEXT("shop"),
                                                     .name = TEXT("==="),
                                                     .function = LOG_IT2,
                                                     .left = INT4,
                                                     .right = INT4});
    catalog_add_type(catalog, &(struct type){.oid = EVIL,
                                             .schema = TEXT("shop"),
                                             .name = TEXT("evil"),
                                             .kind = 'd',
                                             .base = INT4,
                                             .check_functions = checks,
                                             .check_function_count = 1});
}

static const struct catalog *catalog(void)
{
    static struct catalog *made;
    static const char *const customers[] = {"id", "name", "ssn", "email", "city", NULL};
    static const char *const t[] = {"id", "a", "b", "secret", NULL};
    static const char *const u[] = {"id", "t_id", "b", "v", NULL};
    static const char *const outside[] = {"a column", NULL};
    if (made != NULL)
        return made;
    made = catalog_new();
    catalog_add_schema(made, TEXT("shop"));
    catalog_add_schema(made, TEXT("d"));
    add_relation(made, CUSTOMERS, "shop", "customers", customers);
    add_relation(made, CUSTOMERS + 1, "d", "t", t);
    add_relation(made, CUSTOMERS + 2, "d", "u", u);
    add_relation(made, CUSTOMERS + 3, "shop", "staff", u);
    add_relation(made, CUSTOMERS + 4, "shop", "orders", customers);
    add_relation(made, CUSTOMERS + 5, "d", "outside", outside);
    add_view(made);
    add_code(made);
    catalog_seal(made, (struct instant){0}, 150000);
    return made;
}

/* --- shapes --------------------------------------------------------------------------------- */

static void analyse_as(struct arena *arena, bool offline, struct text sql, struct analysis *out)
{
    static const struct text path[] = {TEXT_INIT("shop"), TEXT_INIT("d")};
    const struct analyse_context context = {.catalog = offline ? NULL : catalog(),
                                            .search_path = path,
                                            .search_path_count = ARRAY_SIZE(path)};
    analyse(arena, &context, sql, out);
}

static bool same_object(const struct object *a, const struct object *b)
{
    return a->kind == b->kind && text_equal(a->schema, b->schema) && text_equal(a->name, b->name);
}

static bool has_columns(const struct action *all, const struct action *some)
{
    for (size_t i = 0; i < some->column_count; i++) {
        bool found = all->columns_unknown;
        for (size_t j = 0; j < all->column_count && !found; j++)
            found = text_equal(all->columns[j], some->columns[i]);
        if (!found)
            return false;
    }
    return all->columns_unknown || !some->columns_unknown;
}

static bool same_action(const struct action *a, const struct action *b)
{
    return a->verb == b->verb && same_object(&a->object, &b->object) && a->part == b->part &&
           a->view_action == b->view_action && a->where == b->where && a->rows_max == b->rows_max &&
           a->unresolved == b->unresolved && a->foreign_key_actions == b->foreign_key_actions &&
           has_columns(a, b) && has_columns(b, a) && text_equal(a->reason, b->reason);
}

static bool same_shape(const struct shape *a, const struct shape *b)
{
    if (a->kind != b->kind || a->action_count != b->action_count ||
        a->setting_count != b->setting_count || a->function_count != b->function_count ||
        a->changes != b->changes || a->parameter_max != b->parameter_max ||
        a->volatile_functions != b->volatile_functions || a->returns_rows != b->returns_rows ||
        a->tag_counts_writes != b->tag_counts_writes || !text_equal(a->summary, b->summary))
        return false;
    for (size_t i = 0; i < a->action_count; i++) {
        if (!same_action(&a->actions[i], &b->actions[i]))
            return false;
    }
    return true;
}

static void check_same(const struct analysis *a, const struct analysis *b, struct text sql)
{
    must(a->result == b->result, "another result the second time", sql);
    must(a->statement_count == b->statement_count, "another number of statements", sql);
    for (size_t i = 0; i < a->statement_count; i++)
        must(same_shape(&a->statements[i].shape, &b->statements[i].shape), "another shape", sql);
}

/* Does it do whatever the action does? A name that means nothing alone may mean something in a
 * whole: then columns do not count. */
static bool does(const struct shape *shape, const struct action *wanted, bool columns)
{
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct action *action = &shape->actions[i];
        if (action->verb == wanted->verb && same_object(&action->object, &wanted->object) &&
            (!columns || has_columns(action, wanted)))
            return true;
    }
    return false;
}

/* --- wrapping ------------------------------------------------------------------------------- */

struct wrapper {
    const char *before, *after;
    bool reads_only;  /* for what does not write */
    unsigned put_off; /* CHANGES_* that it does not make by itself */
};

/* What is around a query must have no name that could be meant in it. */
static const struct wrapper wrappers[] = {
    {"EXPLAIN ", "", false, ~(unsigned)CHANGES_BY_CODE}, /* planning runs code, too */
    {"EXPLAIN (ANALYZE, VERBOSE) ", "", false, 0},
    {"WITH \"a wrapper\" AS (", ") SELECT 1", false, 0},
    {"WITH RECURSIVE \"a wrapper\" AS MATERIALIZED (", ") DELETE FROM d.u", false, 0},
    {"COPY (", ") TO STDOUT", false, 0},
    {"PREPARE \"a wrapper\" AS ", "", false, ~0U},
    {"SELECT * FROM (", ") AS \"a wrapper\"", true, 0},
    {"SELECT EXISTS (", ")", true, 0},
    {"SELECT 1 FROM d.outside AS \"an outside\" WHERE 1 IN (", ")", true, 0},
    {"SELECT ARRAY(", ") ORDER BY 1", true, 0},
    {"(", ") UNION ALL SELECT 1", true, 0},
    {"VALUES (1) EXCEPT (", ")", true, 0},
    {"INSERT INTO d.outside AS \"an outside\" ", "", true, 0},
    {"UPDATE d.outside AS \"an outside\" SET (\"a column\", \"a column\") = (", ")", true, 0},
    {"MERGE INTO d.u USING (", ") AS \"a wrapper\" ON true WHEN MATCHED THEN DELETE", true, 0},
    {"CREATE TABLE d.made AS ", "", true, 0},
    {"DECLARE \"a wrapper\" CURSOR FOR ", "", true, 0},
    {"SELECT (WITH \"a wrapper\" AS (", ") SELECT 1)", true, 0},
};

static void check_wrapper(struct arena *arena, bool offline, bool columns,
                          const struct statement *statement, const struct wrapper *wrapper)
{
    struct analysis whole;
    struct text sql = arena_printf(arena, "%s%.*s%s", wrapper->before, TEXT_ARGS(statement->print),
                                   wrapper->after);
    analyse_as(arena, offline, sql, &whole);
    if (whole.result != ANALYSE_OK)
        return;
    must(whole.statement_count == 1, "not one statement", sql);
    const struct shape *shape = &whole.statements[0].shape;
    for (size_t i = 0; i < statement->shape.action_count; i++)
        must(does(shape, &statement->shape.actions[i], columns), "an action is lost", sql);
    unsigned lost = statement->shape.changes & ~shape->changes & ~wrapper->put_off;
    must(lost == 0, "a change is lost", sql);
    must(statement->shape.parameter_max <= shape->parameter_max, "a parameter is lost", sql);
    must(shape->volatile_functions || !statement->shape.volatile_functions || wrapper->put_off != 0,
         "volatility is lost", sql);
}

static void check_wrapped(struct arena *arena, bool offline, bool columns,
                          const struct statement *statement)
{
    enum statement_kind kind = statement->shape.kind;
    if (kind != STATEMENT_SELECT && kind != STATEMENT_WRITE)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++) {
        if (kind == STATEMENT_SELECT || !wrappers[i].reads_only)
            check_wrapper(arena, offline, columns, statement, &wrappers[i]);
    }
}

/* A level more than may be walked, in each of three kinds of nesting. */
static void check_depth(struct arena *arena, const struct statement *statement)
{
    static const struct wrapper levels[] = {{"SELECT * FROM (", ") s", true, 0},
                                            {"SELECT (", ")", true, 0},
                                            {"(", ") UNION SELECT 1", true, 0}};
    if (statement->shape.kind != STATEMENT_SELECT)
        return;
    for (size_t kind = 0; kind < ARRAY_SIZE(levels); kind++) {
        struct buffer deep;
        struct analysis analysis;
        buffer_init(&deep, LIMIT_STATEMENT_BYTES);
        for (int i = 0; i <= LIMIT_STATEMENT_DEPTH; i++)
            buffer_append_string(&deep, levels[kind].before);
        buffer_append_text(&deep, statement->print);
        for (int i = 0; i <= LIMIT_STATEMENT_DEPTH; i++)
            buffer_append_string(&deep, levels[kind].after);
        analyse_as(arena, false, buffer_text(&deep), &analysis);
        must(analysis.result == ANALYSE_TOO_LARGE || analysis.result == ANALYSE_SYNTAX,
             "too deep, and accepted", statement->print);
        buffer_release(&deep);
    }
}

/* --- one message ---------------------------------------------------------------------------- */

static void check_message(struct text sql, bool offline, bool deep)
{
    struct arena arena;
    struct analysis first, again, from_print;
    arena_init(&arena);
    analyse_as(&arena, offline, sql, &first);
    analyse_as(&arena, offline, sql, &again);
    check_same(&first, &again, sql);
    if (first.result == ANALYSE_OK) {
        analyse_as(&arena, offline, first.print, &from_print);
        check_same(&first, &from_print, sql);
        for (size_t i = 0; i < first.statement_count; i++) {
            check_wrapped(&arena, offline, !offline && !first.unresolved_names,
                          &first.statements[i]);
            if (deep)
                check_depth(&arena, &first.statements[i]);
        }
    }
    arena_release(&arena);
}

static void check_line(struct text line, struct text other, uint64_t seed)
{
    struct dice dice = dice_from(seed);
    check_message(line, false, dice_roll(&dice, DEEP_EVERY) == 0);
    for (int i = 0; i < MUTATIONS; i++) {
        struct arena arena;
        arena_init(&arena);
        struct text mutated = mutate(&arena, &dice, line, other, MUTATED_BYTES_MAX);
        check_message(mutated, dice_roll(&dice, 8) == 0, dice_roll(&dice, DEEP_EVERY) == 0);
        arena_release(&arena);
    }
}

static size_t line_end(struct text text, size_t at)
{
    const char *end = memchr(text.bytes + at, '\n', text.size - at);
    return end != NULL ? (size_t)(end - text.bytes) : text.size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text text = {(const char *)data, size}, before = {0};
    uint64_t seed = size;
    if (memchr(data, '\0', size) != NULL)
        return 0; /* never reaches the parser */
    for (size_t at = 0; at < size;) {
        size_t end = line_end(text, at);
        struct text line = {text.bytes + at, end - at};
        check_line(line, before, seed++);
        before = line;
        at = end + 1;
    }
    return 0;
}

/* --- what libFuzzer asks -------------------------------------------------------------------- */

static size_t give(struct text text, uint8_t *out, size_t size_max)
{
    size_t size = text.size < size_max ? text.size : size_max;
    memcpy(out, text.bytes, size);
    return size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2,
                                 size_t size2, uint8_t *out, size_t size_max, unsigned seed)
{
    struct arena arena;
    struct dice dice = dice_from(seed);
    arena_init(&arena);
    struct text one = {(const char *)data1, size1}, two = {(const char *)data2, size2};
    size_t size = give(mutate(&arena, &dice, one, two, size_max), out, size_max);
    arena_release(&arena);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
    struct arena arena;
    struct dice dice = dice_from(seed);
    arena_init(&arena);
    struct text own = arena_text(&arena, (struct text){(const char *)data, size});
    size = give(mutate(&arena, &dice, own, own, size_max), data, size_max);
    arena_release(&arena);
    return size;
}
