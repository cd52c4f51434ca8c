/*
 * walk_define.c - what extends the server: types, domains, operators, aggregates, casts, languages,
 * …
 *
 * Whatever names functions that the server will run later is `code` besides `create`, and `call` on
 * each of the functions.
 */
#include "parser/walk_utility.h"

#include <string.h>

/* Options of CREATE AGGREGATE, OPERATOR, TYPE, … whose value names a function. */
static const char *const function_options[] = {
    "analyze",   "canonical", "combinefunc", "deserialfunc", "end",        "finalfunc",
    "function",  "gettoken",  "headline",    "init",         "input",      "join",
    "lextypes",  "lexize",    "mfinalfunc",  "minvfunc",     "msfunc",     "output",
    "procedure", "receive",   "restrict",    "send",         "serialfunc", "sfunc",
    "sfunc1",    "start",     "subscript",   "subtype_diff", "typmod_in",  "typmod_out",
    NULL,
};

/* Those whose value names an operator. */
static const char *const operator_options[] = {
    "commutator",
    "negator",
    "sortop",
    NULL,
};

static const char *const plain_options[] = {
    "alignment",
    "basetype",
    "category",
    "collatable",
    "collation",
    "copy",
    "default",
    "delimiter",
    "deterministic",
    "element",
    "finalfunc_extra",
    "finalfunc_modify",
    "from",
    "hashes",
    "hypothetical",
    "initcond",
    "initcond1",
    "internallength",
    "lc_collate",
    "lc_ctype",
    "leftarg",
    "like",
    "locale",
    "merges",
    "mfinalfunc_extra",
    "mfinalfunc_modify",
    "minitcond",
    "mspace",
    "msspace",
    "mstype",
    "multirange_type_name",
    "parallel",
    "parser",
    "passedbyvalue",
    "preferred",
    "provider",
    "rightarg",
    "sspace",
    "storage",
    "stype",
    "stype1",
    "subtype",
    "subtype_opclass",
    "version",
    NULL,
};

static bool is_in(const char *name, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* A name as an option's value: bare, quoted, or under OPERATOR(). */
static List *option_names(struct walk *walk, const DefElem *option)
{
    List *single;

    if (option->arg != NULL && IsA(option->arg, TypeName))
        return ((TypeName *)option->arg)->names;
    if (option->arg != NULL && IsA(option->arg, List))
        return (List *)option->arg;
    if (option->arg == NULL || !IsA(option->arg, String)) {
        option_unknown(walk, option, "a definition");
        return NIL;
    }
    single = arena_allocate(walk->arena, sizeof(*single) + sizeof(ListCell));
    single->type = T_List;
    single->length = single->max_length = 1;
    single->elements = single->initial_elements;
    single->elements[0].ptr_value = option->arg;
    return single;
}

/* NONE stands for no function. */
static bool is_none(const DefElem *option)
{
    return option->arg == NULL ||
           (IsA(option->arg, String) && strcmp(((String *)option->arg)->sval, "none") == 0);
}

/* One option of a definition; true if it names a function. */
static bool definition_option(struct walk *walk, DefElem *option)
{
    static const char *const none[] = {NULL};

    if (!IsA(option, DefElem) || option->defnamespace != NULL) {
        walk_unknown(walk, "definition", T_DefElem, -1);
    } else if (is_in(option->defname, function_options)) {
        if (!is_none(option))
            call_named(walk, option_names(walk, option), -1);
        return true;
    } else if (is_in(option->defname, operator_options)) {
        strings_only(walk, option_names(walk, option));
    } else {
        List single = {.type = T_List, .length = 1, .max_length = 1};
        ListCell cell = {.ptr_value = option};

        single.elements = &cell;
        options_known(walk, &single, is_in(option->defname, plain_options) ? plain_options : none,
                      "a definition");
    }
    return false;
}

/* True if an option names a function. */
static bool definition(struct walk *walk, List *options)
{
    bool names_function = false;
    ListCell *cell;

    foreach (cell, options)
        names_function |= definition_option(walk, lfirst(cell));
    return names_function;
}

/* --- CREATE AGGREGATE, OPERATOR, TYPE, COLLATION, TEXT SEARCH … ----------------------------------
 */

static void define_arguments(struct walk *walk, List *arguments)
{
    ListCell *cell;

    foreach (cell, arguments) {
        Node *argument = lfirst(cell);

        if (argument == NULL || IsA(argument, Integer))
            continue; /* how many of an ordered-set aggregate's arguments are direct */
        if (IsA(argument, List))
            define_arguments(walk, (List *)argument);
        else if (IsA(argument, FunctionParameter))
            type_mention(walk, ((FunctionParameter *)argument)->argType);
        else
            type_mention(walk, (TypeName *)argument);
    }
}

/* A dictionary's options belong to its template, and name files of the server. */
static bool define_dictionary(struct walk *walk, List *options)
{
    const DefElem *template = option_last(options, "template");

    if (template != NULL)
        strings_only(walk, option_names(walk, template));
    free_options(walk, options);
    return true;
}

static bool define_options(struct walk *walk, const DefineStmt *statement)
{
    switch (statement->kind) {
    case OBJECT_AGGREGATE:
    case OBJECT_OPERATOR:
    case OBJECT_TSPARSER:
    case OBJECT_TSTEMPLATE:
        definition(walk, statement->definition);
        return true;
    case OBJECT_TSDICTIONARY:
        return define_dictionary(walk, statement->definition);
    case OBJECT_TYPE:
    case OBJECT_COLLATION:
    case OBJECT_TSCONFIGURATION:
        return definition(walk, statement->definition);
    default:
        walk_unknown(walk, "CREATE", T_DefineStmt, -1);
        return false;
    }
}

void walk_define(struct walk *walk, Node *node)
{
    DefineStmt *statement = (DefineStmt *)node;
    struct target target = target_new_names(walk, statement->defnames);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    define_arguments(walk, statement->args);
    if (define_options(walk, statement))
        act(walk, VERB_CODE, &target);
}

/* --- types ----------------------------------------------------------------------------------- */

void walk_create_composite_type(struct walk *walk, Node *node)
{
    CompositeTypeStmt *statement = (CompositeTypeStmt *)node;
    struct target target = target_new_relation(walk, statement->typevar);
    struct draft *draft = draft_new(walk, &target);
    ListCell *cell;

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    foreach (cell, statement->coldeflist)
        column_definition(walk, draft, lfirst(cell));
}

void walk_create_enum(struct walk *walk, Node *node)
{
    CreateEnumStmt *statement = (CreateEnumStmt *)node;
    struct target target = target_new_names(walk, statement->typeName);

    changes(walk, CHANGES_OBJECTS);
    strings_only(walk, statement->vals);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
}

void walk_create_range(struct walk *walk, Node *node)
{
    CreateRangeStmt *statement = (CreateRangeStmt *)node;
    struct target target = target_new_names(walk, statement->typeName);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    if (definition(walk, statement->params))
        act(walk, VERB_CODE, &target);
}

void walk_alter_enum(struct walk *walk, Node *node)
{
    struct target target = target_names(walk, ((AlterEnumStmt *)node)->typeName);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target)->lock = LOCK_NONE;
}

void walk_alter_type(struct walk *walk, Node *node)
{
    AlterTypeStmt *statement = (AlterTypeStmt *)node;
    struct target target = target_names(walk, statement->typeName);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
    if (definition(walk, statement->options))
        act(walk, VERB_CODE, &target);
}

/* --- domains --------------------------------------------------------------------------------- */

/* Checks of a domain speak of VALUE. */
static struct draft *draft_of_domain(struct walk *walk, TypeName *base)
{
    struct target nothing = target_none();
    struct draft *draft = draft_new(walk, &nothing);

    draft_add_column(walk, draft, "value", base);
    return draft;
}

void walk_create_domain(struct walk *walk, Node *node)
{
    CreateDomainStmt *statement = (CreateDomainStmt *)node;
    struct target target = target_new_names(walk, statement->domainname);
    struct draft *draft = draft_of_domain(walk, statement->typeName);
    ListCell *cell;

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    act(walk, VERB_CODE, &target);
    walk_type(walk, statement->typeName);
    if (statement->collClause != NULL)
        strings_only(walk, statement->collClause->collname);
    foreach (cell, statement->constraints) {
        table_constraint(walk, draft, lfirst(cell));
        if (!walk->failed)
            stored_by_default(walk, statement->typeName, lfirst(cell));
    }
}

/* What may make values invalid scans every table that has some. */
static enum table_lock domain_lock(const AlterDomainStmt *statement)
{
    bool is_about_values = statement->subtype == 'C' || statement->subtype == 'O' ||
                           statement->subtype == 'V';

    return is_about_values ? LOCK_SHARE : LOCK_NONE;
}

void walk_alter_domain(struct walk *walk, Node *node)
{
    AlterDomainStmt *statement = (AlterDomainStmt *)node;
    struct target target = target_names(walk, statement->typeName);
    struct draft *draft = draft_of_domain(walk, NULL);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target)->lock = domain_lock(statement);
    switch (statement->subtype) {
    case 'T':
        draft_expression(walk, draft, statement->def);
        if (statement->def != NULL)
            walk_assignment(walk, statement->def, 0, 0);
        break;
    case 'C':
        act(walk, VERB_CODE, &target);
        table_constraint(walk, draft, (Constraint *)statement->def);
        break;
    case 'N':
    case 'O':
    case 'V':
        break;
    case 'X':
        if (statement->behavior == DROP_CASCADE)
            act_on_none(walk, VERB_DROP)->cascade = true;
        break;
    default:
        walk_unknown(walk, "ALTER DOMAIN", T_AlterDomainStmt, -1);
    }
}

/* --- operators, operator classes and families, casts, conversions --------------------------------
 */

void walk_alter_operator(struct walk *walk, Node *node)
{
    AlterOperatorStmt *statement = (AlterOperatorStmt *)node;
    struct target target = target_routine(walk, statement->opername);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
    if (definition(walk, statement->options))
        act(walk, VERB_CODE, &target);
}

static void operator_class_item(struct walk *walk, const CreateOpClassItem *item)
{
    if (!IsA(item, CreateOpClassItem)) {
        walk_unknown(walk, "operator class", (int)nodeTag(item), -1);
        return;
    }
    type_mentions(walk, item->class_args);
    switch (item->itemtype) {
    case OPCLASS_ITEM_STORAGETYPE:
        type_mention(walk, item->storedtype);
        break;
    case OPCLASS_ITEM_FUNCTION:
        call_routine(walk, item->name);
        break;
    case OPCLASS_ITEM_OPERATOR:
        if (item->name != NULL)
            operator_mention(walk, item->name->objname);
        break;
    default:
        walk_unknown(walk, "operator class", T_CreateOpClassItem, -1);
    }
}

static void operator_class_items(struct walk *walk, List *items)
{
    ListCell *cell;

    foreach (cell, items)
        operator_class_item(walk, lfirst(cell));
}

static void create_code(struct walk *walk, List *names)
{
    struct target target = target_new_names(walk, names);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    act(walk, VERB_CODE, &target);
}

void walk_create_operator_class(struct walk *walk, Node *node)
{
    CreateOpClassStmt *statement = (CreateOpClassStmt *)node;

    create_code(walk, statement->opclassname);
    strings_only(walk, statement->opfamilyname);
    type_mention(walk, statement->datatype);
    operator_class_items(walk, statement->items);
}

void walk_create_operator_family(struct walk *walk, Node *node)
{
    create_code(walk, ((CreateOpFamilyStmt *)node)->opfamilyname);
}

void walk_alter_operator_family(struct walk *walk, Node *node)
{
    AlterOpFamilyStmt *statement = (AlterOpFamilyStmt *)node;
    struct target target = target_names(walk, statement->opfamilyname);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
    act(walk, VERB_CODE, &target);
    operator_class_items(walk, statement->items);
}

static void create_nameless_code(struct walk *walk)
{
    changes(walk, CHANGES_OBJECTS);
    act_on_none(walk, VERB_CREATE)->lock = LOCK_NONE;
    act_on_none(walk, VERB_CODE);
}

/* A cast has no name of its own. */
void walk_create_cast(struct walk *walk, Node *node)
{
    CreateCastStmt *statement = (CreateCastStmt *)node;

    create_nameless_code(walk);
    type_mention(walk, statement->sourcetype);
    type_mention(walk, statement->targettype);
    call_routine(walk, statement->func);
}

void walk_create_conversion(struct walk *walk, Node *node)
{
    CreateConversionStmt *statement = (CreateConversionStmt *)node;

    create_code(walk, statement->conversion_name);
    call_named(walk, statement->func_name, -1);
}

/* --- languages, transforms, access methods, event triggers --------------------------------------
 */

void walk_create_language(struct walk *walk, Node *node)
{
    CreatePLangStmt *statement = (CreatePLangStmt *)node;

    changes(walk, CHANGES_OBJECTS);
    act_on_kind(walk, VERB_CREATE, OBJECT_LANGUAGE, statement->plname);
    act_on_kind(walk, VERB_CODE, OBJECT_LANGUAGE, statement->plname);
    call_named(walk, statement->plhandler, -1);
    call_named(walk, statement->plinline, -1);
    call_named(walk, statement->plvalidator, -1);
}

void walk_create_transform(struct walk *walk, Node *node)
{
    CreateTransformStmt *statement = (CreateTransformStmt *)node;

    create_nameless_code(walk);
    type_mention(walk, statement->type_name);
    call_routine(walk, statement->fromsql);
    call_routine(walk, statement->tosql);
}

void walk_create_access_method(struct walk *walk, Node *node)
{
    create_nameless_code(walk);
    call_named(walk, ((CreateAmStmt *)node)->handler_name, -1);
}

void walk_create_event_trigger(struct walk *walk, Node *node)
{
    CreateEventTrigStmt *statement = (CreateEventTrigStmt *)node;

    create_nameless_code(walk);
    free_options(walk, statement->whenclause);
    call_named(walk, statement->funcname, 0);
}

void walk_alter_event_trigger(struct walk *walk, Node *node)
{
    (void)node;
    changes(walk, CHANGES_OBJECTS);
    act_on_none(walk, VERB_ALTER);
}

/* --- text search ----------------------------------------------------------------------------- */

void walk_alter_text_search_dictionary(struct walk *walk, Node *node)
{
    AlterTSDictionaryStmt *statement = (AlterTSDictionaryStmt *)node;
    struct target target = target_names(walk, statement->dictname);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
    act(walk, VERB_CODE, &target);
    free_options(walk, statement->options);
}

void walk_alter_text_search_configuration(struct walk *walk, Node *node)
{
    AlterTSConfigurationStmt *statement = (AlterTSConfigurationStmt *)node;
    struct target target = target_names(walk, statement->cfgname);
    ListCell *cell;

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
    strings_only(walk, statement->tokentype);
    foreach (cell, statement->dicts)
        strings_only(walk, lfirst(cell));
}

void walk_alter_collation(struct walk *walk, Node *node)
{
    struct target target = target_names(walk, ((AlterCollationStmt *)node)->collname);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
}
