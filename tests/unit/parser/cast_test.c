/* cast_test.c - where users' casts run: of arguments, of values that become one type, of
 * conditions, in DDL; and where none can.
 *
 * Casts: date to ext and mood to text implicit; mood to bool and int8, int8 to text for
 * assignments.
 */
#include "unit/parser/trap_catalog.h"

#include "proxy/base/attributes.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
    BOOL = 16,
    INT8 = 20,
    INT4 = 23,
    TEXT_OID = 25,
    DATE = 1082,
    JSONB = 3802,
    TEXT_ARRAY = 1009
};
enum { T = 30001, PLAIN, BY_EXPRESSION, EXT = 31001, MOOD, T_ROW, EXT_ARRAY, CASTS = 32001, LOWER = 870, TAKE = 33001 };

static struct catalog *catalog;

static const struct column of_t[] = {
    {.name = TEXT_INIT("i"), .number = 1, .type = INT4},
    {.name = TEXT_INIT("x"), .number = 2, .type = TEXT_OID},
    {.name = TEXT_INIT("d"), .number = 3, .type = DATE},
    {.name = TEXT_INIT("e"), .number = 4, .type = EXT},
    {.name = TEXT_INIT("m"), .number = 5, .type = MOOD},
    {.name = TEXT_INIT("n"), .number = 6, .type = INT8},
    {.name = TEXT_INIT("es"), .number = 7, .type = EXT_ARRAY},
};

static void add_relations(void)
{
    struct relation t = {.oid = T,
                         .schema = TEXT("shop"),
                         .name = TEXT("t"),
                         .kind = 'r',
                         .persistence = 'p',
                         .columns = of_t,
                         .column_count = ARRAY_SIZE(of_t)};
    struct relation plain = t;
    plain.oid = PLAIN;
    plain.name = TEXT("plain");
    plain.column_count = 3;
    catalog_add_relation(catalog, &t);
    catalog_add_relation(catalog, &plain);
    struct relation keyed = plain;
    keyed.oid = BY_EXPRESSION;
    keyed.kind = 'p';
    keyed.name = TEXT("by_expression");
    keyed.column_count = 3;
    keyed.key_by_expression = true;
    catalog_add_relation(catalog, &keyed);
}

static void add_types(void)
{
    static const struct type types[] = {
        {.oid = 1700, .name = TEXT_INIT("numeric")},
        {.oid = BOOL, .name = TEXT_INIT("bool")},
        {.oid = INT8, .name = TEXT_INIT("int8")},
        {.oid = INT4, .name = TEXT_INIT("int4")},
        {.oid = TEXT_OID, .name = TEXT_INIT("text"), .array = TEXT_ARRAY},
        {.oid = DATE, .name = TEXT_INIT("date")},
        {.oid = JSONB, .name = TEXT_INIT("jsonb")},
        {.oid = TEXT_ARRAY, .name = TEXT_INIT("_text"), .base = TEXT_OID, .is_array = true},
    };
    static const struct type users[] = {
        {.oid = EXT, .name = TEXT_INIT("ext"), .kind = 'b', .array = EXT_ARRAY},
        {.oid = EXT_ARRAY, .name = TEXT_INIT("_ext"), .kind = 'b', .base = EXT, .is_array = true},
        {.oid = MOOD, .name = TEXT_INIT("mood"), .kind = 'e'},
        {.oid = T_ROW, .name = TEXT_INIT("t"), .kind = 'c', .relation = T},
    };
    for (size_t i = 0; i < ARRAY_SIZE(types) + ARRAY_SIZE(users); i++) {
        bool user = i >= ARRAY_SIZE(types);
        struct type type = user ? users[i - ARRAY_SIZE(types)] : types[i];
        type.schema = user ? TEXT("shop") : TEXT("pg_catalog");
        type.kind = user ? type.kind : 'b';
        catalog_add_type(catalog, &type);
    }
}

static void add_function(uint32_t oid, struct text schema, const char *name, const uint32_t *types,
                         uint16_t count, uint32_t result)
{
    catalog_add_function(catalog, &(struct function){.oid = oid,
                                                     .schema = schema,
                                                     .name = text_from(name),
                                                     .kind = 'f',
                                                     .argument_count = count,
                                                     .arguments_required = count,
                                                     .argument_types = types,
                                                     .result_type = result});
}

static void add_code(void)
{
    static const struct {
        const char *name;
        uint32_t from, to;
        char context;
    } casts[] = {{"to_ext", DATE, EXT, 'i'},
                 {"mood_text", MOOD, TEXT_OID, 'i'},
                 {"mood_bool", MOOD, BOOL, 'a'},
                 {"mood_int8", MOOD, INT8, 'a'},
                 {"int8_text", INT8, TEXT_OID, 'a'}};
    static const uint32_t text[] = {TEXT_OID}, exts[] = {EXT, EXT};
    for (uint32_t i = 0; i < ARRAY_SIZE(casts); i++) {
        add_function(CASTS + i, TEXT("shop"), casts[i].name, &casts[i].from, 1, casts[i].to);
        catalog_add_cast(catalog,
                         &(struct cast){casts[i].from, casts[i].to, CASTS + i, casts[i].context});
    }
    add_function(LOWER, TEXT("pg_catalog"), "lower", text, 1, TEXT_OID);
    add_function(TAKE, TEXT("shop"), "take", exts, 2, INT4);
    add_function(TAKE + 1, TEXT("shop"), "same", exts, 2, BOOL);
    catalog_add_operator(catalog, &(struct operator){.schema = TEXT("shop"),
                                                     .name = TEXT("==="),
                                                     .function = TAKE + 1,
                                                     .left = EXT,
                                                     .right = EXT,
                                                     .result = BOOL});
}

static void add_equality(uint32_t type)
{
    catalog_add_operator(catalog, &(struct operator){.oid = 96, .schema = TEXT("pg_catalog"), .name = TEXT("="),
                                                     .function = 65, .left = type, .right = type,
                                                     .result = BOOL});
}

static void setup(void)
{
    catalog = catalog_new();
    catalog_add_schema(catalog, TEXT("pg_catalog"));
    catalog_add_schema(catalog, TEXT("shop"));
    add_relations();
    add_types();
    add_code();
    add_equality(INT4);
    add_equality(TEXT_OID);
    catalog_seal(catalog, (struct instant){0}, 150000);
}

static void teardown(void)
{
    catalog_release(catalog);
}

TestSuite(cast, .init = setup, .fini = teardown);

struct called {
    const char *sql, *calls; /* their names, in any order, each with a space behind */
};

static bool has_word(const char *words, struct text word)
{
    for (const char *at = words; *at != '\0'; at += strcspn(at, " ") + 1)
        if (text_equal((struct text){at, strcspn(at, " ")}, word))
            return true;
    return false;
}

static size_t count_words(const char *words)
{
    size_t count = 0;
    for (; *words != '\0'; words++)
        count += *words == ' ';
    return count;
}

static void check_calls(const struct called *cases, size_t count)
{
    static const struct text path[] = {TEXT_INIT("shop")};
    for (size_t i = 0; i < count; i++) {
        struct arena arena;
        struct analysis analysis = {0};
        struct analyse_context context = {
            .catalog = catalog, .search_path = path, .search_path_count = 1};
        size_t found = 0;
        bool other = false;
        arena_init(&arena);
        analyse(&arena, &context, text_from(cases[i].sql), &analysis);
        cr_assert_eq(analysis.result, ANALYSE_OK, "%s: %.*s", cases[i].sql,
                     TEXT_ARGS(analysis.message));
        const struct shape *shape = &analysis.statements[0].shape;
        for (size_t j = 0; j < shape->action_count; j++) {
            const struct action *action = &shape->actions[j];
            if (action->verb != VERB_CALL || !text_is(action->object.schema, "shop"))
                continue;
            found++;
            other = other || !has_word(cases[i].calls, action->object.name);
        }
        cr_expect(!other && found == count_words(cases[i].calls),
                  "%s\n  gives    %s\n  expected %s", cases[i].sql, trap_text(&arena, &analysis),
                  cases[i].calls);
        arena_release(&arena);
    }
}

#define CHECK_CALLS(cases) check_calls(cases, ARRAY_SIZE(cases))

Test(cast, counts_what_becomes_the_users_type_among_several_values)
{
    static const struct called cases[] = {
        {"SELECT coalesce(e, d) FROM t", "to_ext "},
        {"SELECT coalesce(e, $1) FROM t", ""},
        {"SELECT coalesce(e, '1', NULL) FROM t", ""},
        {"SELECT coalesce(e, i) FROM t", ""},
        {"SELECT greatest(d, e) FROM t", "to_ext "},
        {"SELECT CASE WHEN i = 1 THEN e ELSE d END FROM t", "to_ext "},
        {"SELECT CASE e WHEN d THEN 1 END FROM t", "to_ext "},
        {"SELECT ARRAY[e, d] FROM t", "to_ext "},
        {"SELECT nullif(e, d) FROM t", "to_ext "},
        {"SELECT e = d FROM t", "to_ext "},
        {"SELECT e = '1' FROM t", ""},
        {"SELECT e = $1 FROM t", ""},
        {"SELECT d IN (e) FROM t", "to_ext "},
        {"SELECT e IN ('1', '2') FROM t", ""},
        {"SELECT e BETWEEN d AND '2' FROM t", "to_ext "},
        {"SELECT (i, e) = (1, d) FROM t", "to_ext "},
        {"SELECT (d, e) = ('1', '2') FROM t", ""},
        {"SELECT d = ANY (es) FROM t", "to_ext "},
        {"SELECT e = ANY ($1) FROM t", ""},
        {"SELECT d IN (SELECT e FROM t) FROM t", "to_ext "},
        {"SELECT e FROM t UNION SELECT d FROM plain", "to_ext "},
        {"SELECT d FROM plain UNION ALL SELECT e FROM t", "to_ext "},
        {"SELECT e FROM t UNION SELECT '1'", ""},
        {"SELECT * FROM (VALUES ('1'::ext), ('now'::date)) v", "to_ext "},
        {"SELECT 1 FROM (SELECT e AS k FROM t) a JOIN (SELECT d AS k FROM plain) b USING (k)",
         "to_ext "},
        {"SELECT coalesce(d, d), d = d, d IN (d) FROM plain", ""},
    };
    CHECK_CALLS(cases);
}

Test(cast, counts_what_a_users_functions_and_operators_take)
{
    static const struct called cases[] = {
        {"SELECT take(d, '1') FROM plain", "take to_ext "},
        {"SELECT take($1, '1') FROM plain", "take "},
        {"SELECT take(e, e) FROM t", "take "},
        {"SELECT take(a => d, b => NULL) FROM plain", "take to_ext "},
        {"SELECT d === d FROM plain", "same to_ext "},
        {"SELECT e === e FROM t", "same "},
        {"SELECT e === $1 FROM t", "same "},
    };
    CHECK_CALLS(cases);
}

/* A value whose type is not known may be of any type of a user, where something of a user's is in
 * sight. */
Test(cast, counts_implicit_casts_of_values_that_could_be_a_users)
{
    static const struct called cases[] = {
        {"SELECT length(m) FROM t", "mood_text "},
        {"SELECT length(lower(x)) FROM t", ""},
        {"SELECT length(unheard_of.f(x)) FROM plain", "mood_text "},
        {"SELECT length((jsonb_populate_record(NULL::t, '{}')).m)", "mood_text "},
        {"SELECT upper(upper(x)) FROM plain", ""},
        {"SELECT upper(upper(x)) FROM t", "mood_text "},
        {"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m) FROM t", "mood_text "},
        {"SELECT 1 FROM (SELECT m AS k FROM t) a JOIN (SELECT x AS k FROM plain) b USING (k)",
         "mood_text "},
        {"SELECT lower($1) FROM t", ""},
        {"SELECT lower($1), m = $1 FROM t", "mood_text "},
        {"SELECT lower($1), x = $1 FROM plain", ""},
    };
    CHECK_CALLS(cases);
}

Test(cast, counts_assignment_casts_of_conditions_and_numbers)
{
    static const struct called cases[] = {
        {"SELECT 1 FROM t WHERE m", "mood_bool "},
        {"SELECT 1 FROM t WHERE NOT m", "mood_bool "},
        {"SELECT 1 FROM t WHERE i = 1 AND (m OR i = 2)", "mood_bool "},
        {"SELECT m IS TRUE FROM t", "mood_bool "},
        {"SELECT m IS NULL FROM t", ""},
        {"SELECT 1 FROM t HAVING 1 = 1", ""},
        {"SELECT 1 FROM t JOIN plain ON m", "mood_bool "},
        {"SELECT count(*) FILTER (WHERE m) FROM t", "mood_bool "},
        {"SELECT CASE WHEN m THEN 1 END FROM t", "mood_bool "},
        {"SELECT 1 LIMIT 'sad'::mood", "mood_int8 "},
        {"SELECT 1 OFFSET ('sad'::mood)", "mood_int8 "},
        {"SELECT 1 LIMIT $1 OFFSET 3", ""},
        {"DELETE FROM t WHERE m", "mood_bool "},
        {"UPDATE t SET i = 1 WHERE m", "mood_bool "},
        {"MERGE INTO t USING plain ON m WHEN MATCHED AND t.m THEN DELETE", "mood_bool "},
        {"INSERT INTO t (i) VALUES (1) ON CONFLICT (i) DO UPDATE SET i = 2 WHERE t.m",
         "mood_bool "},
        {"SELECT 1 FROM t WHERE i = 1 AND x = 'a' AND d IS NOT NULL", ""},
    };
    CHECK_CALLS(cases);
}

Test(cast, counts_assignment_casts_of_definitions)
{
    static const struct called cases[] = {
        {"ALTER TABLE t ALTER COLUMN n TYPE text", "int8_text "},
        {"ALTER TABLE t ALTER COLUMN m TYPE text", "mood_text "},
        {"ALTER TABLE t ALTER COLUMN m TYPE bigint", "mood_int8 "},
        {"ALTER TABLE t ALTER COLUMN d TYPE ext", "to_ext "},
        {"ALTER TABLE t ALTER COLUMN x TYPE text USING n", "int8_text "},
        {"ALTER TABLE t ALTER COLUMN n TYPE text USING 'x'", ""},
        {"ALTER TABLE t ALTER COLUMN i TYPE bigint", ""},
        {"ALTER TABLE plain ALTER COLUMN d TYPE text", ""},
        {"ALTER TABLE t ALTER COLUMN x SET DEFAULT 1::bigint", "int8_text "},
        {"ALTER TABLE t ALTER COLUMN x SET DEFAULT 'a'", ""},
        {"ALTER TABLE t ADD COLUMN y text DEFAULT ('sad'::mood)", "mood_text "},
        {"CREATE TABLE u (y text DEFAULT 1::bigint)", "int8_text "},
        {"CREATE TABLE u (y text DEFAULT 'x', z int DEFAULT 1)", ""},
        {"CREATE TABLE u PARTITION OF by_expression FOR VALUES IN (current_date)", "to_ext "},
        {"ALTER TABLE by_expression ATTACH PARTITION plain FOR VALUES IN (current_date)", "to_ext "},
        {"ALTER TABLE by_expression ATTACH PARTITION plain FOR VALUES IN ('2024-01-01')", ""},
        {"ALTER TABLE plain ATTACH PARTITION by_expression FOR VALUES IN (current_date)", ""},
        {"ALTER TABLE t ADD CHECK (m)", "mood_bool "},
        {"CREATE INDEX ON t (i) WHERE m", "mood_bool "},
    };
    CHECK_CALLS(cases);
}
