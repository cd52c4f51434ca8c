/*
 * builtins.c - reads the embedded tables once and answers look-ups by binary search.
 *
 * The tables are part of the program, so a malformed one is our own mistake and ends the process
 * (INVARIANT). A look-up cannot fail: what is not there is unknown, never, closed.
 */
#include "parser/builtins.h"

#include "proxy/base/attributes.h"
#include "proxy/base/invariant.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern const char builtin_functions_tsv[], builtin_functions_tsv_end[];
extern const char builtin_settings_tsv[], builtin_settings_tsv_end[];
extern const char builtin_catalog_tsv[], builtin_catalog_tsv_end[];
extern const char builtin_libraries_tsv[], builtin_libraries_tsv_end[];

enum { FIELDS_MAX = 6 };

struct signature_entry {
    struct text signature;
    enum function_class class;
};

struct function_entry {
    struct text name;
    bool information_schema;
    struct builtin_function function;
};

struct setting_entry {
    struct text name; /* lower case */
    struct builtin_setting setting;
};

struct column_entry {
    struct text relation; /* "pg_catalog.pg_class" */
    struct text column;
};

static struct {
    struct signature_entry *signatures;
    size_t signature_count;
    struct function_entry *functions; /* one for each name of a schema */
    size_t function_count;
    struct setting_entry *settings;
    size_t setting_count;
    struct column_entry *columns; /* open ones */
    size_t column_count;
    struct text *relations;
    size_t relation_count;
    struct builtin_totals totals;
} tables;

static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

struct rows {
    const char *at;
    const char *end;
};

static struct rows rows_begin(const char *start, const char *end)
{
    const char *header_end = memchr(start, '\n', (size_t)(end - start));

    INVARIANT(header_end != NULL);
    return (struct rows){header_end + 1, end};
}

static size_t rows_count(struct rows rows)
{
    size_t count = 0;

    for (const char *at = rows.at; at < rows.end; at++)
        count += *at == '\n';
    return count;
}

static struct text field_next(const char **at, const char *line_end)
{
    const char *tab = memchr(*at, '\t', (size_t)(line_end - *at));
    const char *end = tab != NULL ? tab : line_end;
    struct text field = {*at, (size_t)(end - *at)};

    *at = tab != NULL ? tab + 1 : NULL;
    return field;
}

/* The next row; it must have exactly `count` fields. */
static bool rows_next(struct rows *rows, struct text *fields, size_t count)
{
    if (rows->at >= rows->end)
        return false;

    const char *line_end = memchr(rows->at, '\n', (size_t)(rows->end - rows->at));
    const char *at = rows->at;

    INVARIANT(line_end != NULL);
    for (size_t i = 0; i < count; i++) {
        INVARIANT(at != NULL);
        fields[i] = field_next(&at, line_end);
    }
    INVARIANT(at == NULL);
    rows->at = line_end + 1;
    return true;
}

static bool yes_or_no(struct text field)
{
    INVARIANT(text_is(field, "yes") || text_is(field, "no"));
    return text_is(field, "yes");
}

/* A short table: it is read as it is. */
struct builtin_library builtin_library(struct text name)
{
    struct rows rows = rows_begin(builtin_libraries_tsv, builtin_libraries_tsv_end);
    struct text fields[FIELDS_MAX];

    while (rows_next(&rows, fields, 3))
        if (text_equal(fields[0], name))
            return (struct builtin_library){.known = true, .sets = yes_or_no(fields[1])};
    return (struct builtin_library){0};
}

/* --- functions ------------------------------------------------------------------------------- */

static enum function_class function_class_of(struct text field)
{
    if (text_is(field, "harmless"))
        return FUNCTION_HARMLESS;
    if (text_is(field, "catalog"))
        return FUNCTION_CATALOG;
    INVARIANT(text_is(field, "guarded"));
    return FUNCTION_GUARDED;
}

/* The bare name in a signature: what stands before the parenthesis, without quotes. */
static struct text name_of_signature(struct text signature)
{
    if (signature.size > 0 && signature.bytes[0] == '"') {
        const char *start = signature.bytes + 1;
        const char *quote = memchr(start, '"', signature.size - 1);

        INVARIANT(quote != NULL && quote[1] == '(');
        return (struct text){start, (size_t)(quote - start)};
    }

    const char *parenthesis = memchr(signature.bytes, '(', signature.size);

    INVARIANT(parenthesis != NULL);
    return (struct text){signature.bytes, (size_t)(parenthesis - signature.bytes)};
}

static struct function_entry function_entry_of(const struct text *fields)
{
    static const char prefix[] = "information_schema.";
    struct function_entry entry = {.name = fields[0]};

    if (text_starts_with(entry.name, prefix)) {
        entry.information_schema = true;
        entry.name.bytes += sizeof(prefix) - 1;
        entry.name.size -= sizeof(prefix) - 1;
    }
    entry.name = name_of_signature(entry.name);
    entry.function.strictest = entry.function.mildest = function_class_of(fields[1]);
    entry.function.reason = fields[2];
    entry.function.outside = yes_or_no(fields[3]);
    return entry;
}

static int compare_signatures(const void *a, const void *b)
{
    const struct signature_entry *left = a, *right = b;

    return text_compare(left->signature, right->signature);
}

static int compare_functions(const void *a, const void *b)
{
    const struct function_entry *left = a, *right = b;

    if (left->information_schema != right->information_schema)
        return left->information_schema ? 1 : -1;
    return text_compare(left->name, right->name);
}

static void merge_overload(struct builtin_function *name, const struct builtin_function *overload)
{
    if (overload->strictest < name->strictest) {
        name->strictest = overload->strictest;
        name->reason = overload->reason;
    }
    if (overload->mildest > name->mildest)
        name->mildest = overload->mildest;
    name->outside |= overload->outside;
}

static void merge_overloads(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < tables.function_count; i++) {
        struct function_entry *entry = &tables.functions[i];

        if (kept > 0 && compare_functions(&tables.functions[kept - 1], entry) == 0)
            merge_overload(&tables.functions[kept - 1].function, &entry->function);
        else
            tables.functions[kept++] = *entry;
    }
    tables.function_count = kept;
}

static void count_function(const struct builtin_function *function)
{
    tables.totals.functions_harmless += function->strictest == FUNCTION_HARMLESS;
    tables.totals.functions_catalog += function->strictest == FUNCTION_CATALOG;
    tables.totals.functions_guarded += function->strictest == FUNCTION_GUARDED;
    tables.totals.functions_outside += function->outside;
}

static void load_functions(void)
{
    struct rows rows = rows_begin(builtin_functions_tsv, builtin_functions_tsv_end);
    size_t count = rows_count(rows);
    struct text fields[FIELDS_MAX];

    tables.signatures = memory_allocate_zeroed(count, sizeof(*tables.signatures));
    tables.functions = memory_allocate_zeroed(count, sizeof(*tables.functions));
    while (rows_next(&rows, fields, 4)) {
        struct function_entry *entry = &tables.functions[tables.function_count++];

        *entry = function_entry_of(fields);
        count_function(&entry->function);
        tables.signatures[tables.signature_count++] =
            (struct signature_entry){fields[0], entry->function.strictest};
    }
    qsort(tables.signatures, count, sizeof(*tables.signatures), compare_signatures);
    qsort(tables.functions, count, sizeof(*tables.functions), compare_functions);
    merge_overloads();
}

/* --- settings -------------------------------------------------------------------------------- */

static enum setting_class setting_class_of(struct text field)
{
    if (text_is(field, "harmless"))
        return SETTING_HARMLESS;
    if (text_is(field, "down-only"))
        return SETTING_DOWN_ONLY;
    if (text_is(field, "pinned"))
        return SETTING_PINNED;
    INVARIANT(text_is(field, "never"));
    return SETTING_NEVER;
}

static struct text lower_case(struct text name)
{
    char *bytes = memory_allocate(name.size);

    for (size_t i = 0; i < name.size; i++) {
        bool upper = name.bytes[i] >= 'A' && name.bytes[i] <= 'Z';

        bytes[i] = upper ? (char)(name.bytes[i] + ('a' - 'A')) : name.bytes[i];
    }
    return (struct text){bytes, name.size};
}

static int compare_settings(const void *a, const void *b)
{
    const struct setting_entry *left = a, *right = b;

    return text_compare(left->name, right->name);
}

static void count_setting(const struct builtin_setting *setting)
{
    tables.totals.settings_never += setting->class == SETTING_NEVER;
    tables.totals.settings_harmless += setting->class == SETTING_HARMLESS;
    tables.totals.settings_pinned += setting->class == SETTING_PINNED;
    tables.totals.settings_down_only += setting->class == SETTING_DOWN_ONLY;
    tables.totals.settings_readable += setting->readable;
}

/* Rows that are not the name of one setting say how other spellings are classed; the walk turns
 * those spellings into the setting's own name. */
static bool names_one_setting(const struct text *fields)
{
    return !text_is(fields[1], "spelling") && !text_has_byte(fields[0], '*');
}

static void load_settings(void)
{
    struct rows rows = rows_begin(builtin_settings_tsv, builtin_settings_tsv_end);
    struct text fields[FIELDS_MAX];

    tables.settings = memory_allocate_zeroed(rows_count(rows), sizeof(*tables.settings));
    while (rows_next(&rows, fields, 6)) {
        struct builtin_setting setting = {
            .class = setting_class_of(fields[2]),
            .known = true,
            .readable = yes_or_no(fields[3]),
            .reported = yes_or_no(fields[4]),
        };

        count_setting(&setting);
        if (names_one_setting(fields))
            tables.settings[tables.setting_count++] =
                (struct setting_entry){lower_case(fields[0]), setting};
    }
    qsort(tables.settings, tables.setting_count, sizeof(*tables.settings), compare_settings);
}

/* --- catalog columns ------------------------------------------------------------------------- */

static int compare_columns(const void *a, const void *b)
{
    const struct column_entry *left = a, *right = b;
    int relations = text_compare(left->relation, right->relation);

    return relations != 0 ? relations : text_compare(left->column, right->column);
}

static int compare_texts(const void *a, const void *b)
{
    const struct text *left = a, *right = b;

    return text_compare(*left, *right);
}

static void remove_duplicate_relations(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < tables.relation_count; i++)
        if (kept == 0 || !text_equal(tables.relations[kept - 1], tables.relations[i]))
            tables.relations[kept++] = tables.relations[i];
    tables.relation_count = tables.totals.catalog_relations = kept;
}

static bool access_is_open(struct text field)
{
    INVARIANT(text_is(field, "open") || text_is(field, "closed") || text_is(field, "conditional"));
    return text_is(field, "open");
}

static void load_catalog(void)
{
    struct rows rows = rows_begin(builtin_catalog_tsv, builtin_catalog_tsv_end);
    size_t count = rows_count(rows);
    struct text fields[FIELDS_MAX];

    tables.columns = memory_allocate_zeroed(count, sizeof(*tables.columns));
    tables.relations = memory_allocate_zeroed(count, sizeof(*tables.relations));
    while (rows_next(&rows, fields, 4)) {
        bool open = access_is_open(fields[2]);

        tables.totals.catalog_columns_open += open;
        if (text_has_byte(fields[0], '*'))
            continue; /* system columns of every relation: see builtin_catalog_column_open */
        tables.relations[tables.relation_count++] = fields[0];
        if (open)
            tables.columns[tables.column_count++] = (struct column_entry){fields[0], fields[1]};
    }
    qsort(tables.columns, tables.column_count, sizeof(*tables.columns), compare_columns);
    qsort(tables.relations, tables.relation_count, sizeof(*tables.relations), compare_texts);
    remove_duplicate_relations();
}

/* --- look-ups -------------------------------------------------------------------------------- */

static void load(void)
{
    load_functions();
    load_settings();
    load_catalog();
    tables.totals.libraries = rows_count(rows_begin(builtin_libraries_tsv, builtin_libraries_tsv_end));
}

static void ensure_loaded(void)
{
    INVARIANT(pthread_once(&tables_once, load) == 0);
}

static struct builtin_function function_by_name(struct text name, bool information_schema)
{
    const struct function_entry wanted = {.name = name, .information_schema = information_schema};

    ensure_loaded();
    const struct function_entry *found = bsearch(&wanted, tables.functions, tables.function_count,
                                                 sizeof(wanted), compare_functions);

    return found != NULL ? found->function : (struct builtin_function){0};
}

struct builtin_function builtin_function(struct text name)
{
    return function_by_name(name, false);
}

struct builtin_function builtin_information_schema_function(struct text name)
{
    return function_by_name(name, true);
}

enum function_class builtin_signature_class(struct text signature)
{
    const struct signature_entry wanted = {.signature = signature};

    ensure_loaded();
    const struct signature_entry *found = bsearch(
        &wanted, tables.signatures, tables.signature_count, sizeof(wanted), compare_signatures);

    return found != NULL ? found->class : FUNCTION_UNKNOWN;
}

struct builtin_setting builtin_setting(struct text lower_case_name)
{
    const struct setting_entry wanted = {.name = lower_case_name};

    ensure_loaded();
    const struct setting_entry *found =
        bsearch(&wanted, tables.settings, tables.setting_count, sizeof(wanted), compare_settings);

    return found != NULL ? found->setting : (struct builtin_setting){0};
}

enum { QUALIFIED_NAME_MAX = 160 };

/* "schema.relation" in `buffer`; empty, which no table has, where the names are too long. */
static struct text qualified(char *buffer, struct text schema, struct text relation)
{
    size_t size = schema.size + 1 + relation.size;

    if (size > QUALIFIED_NAME_MAX || schema.size == 0 || relation.size == 0)
        return TEXT("");
    memcpy(buffer, schema.bytes, schema.size);
    buffer[schema.size] = '.';
    memcpy(buffer + schema.size + 1, relation.bytes, relation.size);
    return (struct text){buffer, size};
}

static bool column_is_listed(struct text relation, struct text column)
{
    const struct column_entry wanted = {relation, column};

    return bsearch(&wanted, tables.columns, tables.column_count, sizeof(wanted), compare_columns) !=
           NULL;
}

/* tableoid of a relation says which relation it is: open where any of its columns is. */
static bool relation_has_open_column(struct text relation)
{
    for (size_t i = 0; i < tables.column_count; i++)
        if (text_equal(tables.columns[i].relation, relation))
            return true;
    return false;
}

bool builtin_catalog_column_open(struct text schema, struct text relation, struct text column)
{
    char buffer[QUALIFIED_NAME_MAX];
    struct text name = qualified(buffer, schema, relation);

    ensure_loaded();
    if (text_is(column, "tableoid"))
        return text_is(schema, "pg_catalog") && relation_has_open_column(name);
    return column_is_listed(name, column);
}

bool builtin_catalog_relation_known(struct text schema, struct text relation)
{
    char buffer[QUALIFIED_NAME_MAX];
    struct text name = qualified(buffer, schema, relation);

    ensure_loaded();
    return bsearch(&name, tables.relations, tables.relation_count, sizeof(name), compare_texts) !=
           NULL;
}

struct builtin_totals builtin_totals(void)
{
    ensure_loaded();
    return tables.totals;
}
