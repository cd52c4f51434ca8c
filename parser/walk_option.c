/*
 * walk_option.c - lists of options: every name is on a list, every value is inert.
 *
 * An option that is not listed, or whose value could be an expression, fails the walk.
 */
#include "parser/walk_utility.h"

#include <string.h>

static bool is_inert(struct walk *walk, Node *value);

static bool is_inert_list(struct walk *walk, List *list)
{
    ListCell *cell;

    foreach (cell, list) {
        Node *element = lfirst(cell);

        if (element != NULL && IsA(element, List))
            return false;
        if (!is_inert(walk, element))
            return false;
    }
    return true;
}

static bool is_inert(struct walk *walk, Node *value)
{
    if (value == NULL)
        return true;
    switch (nodeTag(value)) {
    case T_Integer:
    case T_Float:
    case T_Boolean:
    case T_String:
    case T_A_Star:
    case T_RoleSpec:
        return true;
    case T_TypeName:
        type_mention(walk, (TypeName *)value);
        return true;
    case T_List:
        return is_inert_list(walk, (List *)value);
    default:
        return false;
    }
}

void option_unknown(struct walk *walk, const DefElem *option, const char *statement)
{
    struct text name = walk_text(walk, option->defname);

    walk_fail(walk, ANALYSE_REJECTED, "42501", option->location,
              "option %.*s of %s is not known to pgwicket", TEXT_ARGS(text_cut(name, 64)),
              statement);
}

static bool is_listed(const char *name, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void option_known(struct walk *walk, DefElem *option, const char *const *names,
                         const char *statement)
{
    if (!IsA(option, DefElem))
        walk_unknown(walk, statement, (int)nodeTag(option), -1);
    else if (option->defnamespace != NULL || !is_listed(option->defname, names) ||
             !is_inert(walk, option->arg))
        option_unknown(walk, option, statement);
}

void options_known(struct walk *walk, List *options, const char *const *names,
                   const char *statement)
{
    ListCell *cell;

    foreach (cell, options)
        option_known(walk, lfirst(cell), names, statement);
}

static const char *const storage_names[] = {
    "autosummarize",
    "autovacuum_analyze_scale_factor",
    "autovacuum_analyze_threshold",
    "autovacuum_enabled",
    "autovacuum_freeze_max_age",
    "autovacuum_freeze_min_age",
    "autovacuum_freeze_table_age",
    "autovacuum_multixact_freeze_max_age",
    "autovacuum_multixact_freeze_min_age",
    "autovacuum_multixact_freeze_table_age",
    "autovacuum_vacuum_cost_delay",
    "autovacuum_vacuum_cost_limit",
    "autovacuum_vacuum_insert_scale_factor",
    "autovacuum_vacuum_insert_threshold",
    "autovacuum_vacuum_scale_factor",
    "autovacuum_vacuum_threshold",
    "buffering",
    "check_option",
    "deduplicate_items",
    "fastupdate",
    "fillfactor",
    "gin_pending_list_limit",
    "log_autovacuum_min_duration",
    "n_distinct",
    "n_distinct_inherited",
    "oids",
    "pages_per_range",
    "parallel_workers",
    "security_barrier",
    "security_invoker",
    "toast_tuple_target",
    "user_catalog_table",
    "vacuum_index_cleanup",
    "vacuum_truncate",
    NULL,
};

void storage_options(struct walk *walk, List *options)
{
    ListCell *cell;

    foreach (cell, options) {
        DefElem *option = lfirst(cell);

        if (!IsA(option, DefElem) || !is_listed(option->defname, storage_names) ||
            !is_inert(walk, option->arg) ||
            (option->defnamespace != NULL && strcmp(option->defnamespace, "toast") != 0))
            option_unknown(walk, option, "WITH");
    }
}

void free_options(struct walk *walk, List *options)
{
    ListCell *cell;

    foreach (cell, options) {
        DefElem *option = lfirst(cell);

        if (!IsA(option, DefElem) || !is_inert(walk, option->arg))
            option_unknown(walk, option, "OPTIONS");
    }
}

static const char *const sequence_names[] = {
    "as",       "cache",    "cycle",   "increment", "logged",    "maxvalue",
    "minvalue", "owned_by", "restart", "start",     "generated", NULL,
};

/* OWNED BY table.column makes the sequence go with the table: a change of the table. */
static void sequence_owner(struct walk *walk, List *options)
{
    const DefElem *owner = option_last(options, "owned_by");
    struct target target;

    if (owner == NULL || owner->arg == NULL || !IsA(owner->arg, List) ||
        list_length((List *)owner->arg) < 2)
        return; /* OWNED BY NONE */
    target = target_of(walk, OBJECT_COLUMN, owner->arg, NULL);
    act(walk, VERB_ALTER, &target)->lock = LOCK_ACCESS_SHARE;
}

void sequence_options(struct walk *walk, List *options)
{
    options_known(walk, options, sequence_names, "SEQUENCE");
    sequence_owner(walk, options);
}

const DefElem *option_last(List *options, const char *name)
{
    const DefElem *found = NULL;
    ListCell *cell;

    foreach (cell, options) {
        const DefElem *option = lfirst(cell);

        if (strcmp(option->defname, name) == 0)
            found = option;
    }
    return found;
}

static bool boolean_of_string(struct walk *walk, const DefElem *option, const char *value)
{
    struct text given = text_from(value);

    if (text_is_ignoring_case(given, "true") || text_is_ignoring_case(given, "on"))
        return true;
    if (!text_is_ignoring_case(given, "false") && !text_is_ignoring_case(given, "off"))
        walk_fail(walk, ANALYSE_REJECTED, "42601", option->location,
                  "option %s needs a Boolean value", option->defname);
    return false;
}

bool option_boolean(struct walk *walk, const DefElem *option)
{
    if (option->arg == NULL)
        return true;
    switch (nodeTag(option->arg)) {
    case T_Integer: {
        int value = ((Integer *)option->arg)->ival;

        return value == 0 || value == 1 ? value == 1 : boolean_of_string(walk, option, "");
    }
    case T_Boolean:
        return ((Boolean *)option->arg)->boolval;
    case T_String:
        return boolean_of_string(walk, option, ((String *)option->arg)->sval);
    default:
        return boolean_of_string(walk, option, "");
    }
}

bool option_is_on(struct walk *walk, List *options, const char *name)
{
    const DefElem *option = option_last(options, name);

    return option != NULL && option_boolean(walk, option);
}
