/*
 * walk_setting.c - SET, RESET, SHOW and DISCARD, also inside ALTER ROLE, DATABASE and SYSTEM.
 *
 * A value that is not made of constants fails the walk: the server would refuse it too.
 */
#include "parser/walk_utility.h"

#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"

static struct text lower_case_name(struct walk *walk, struct text name)
{
    char *bytes = arena_allocate(walk->arena, name.size + 1);

    for (size_t i = 0; i < name.size; i++) {
        bool upper = name.bytes[i] >= 'A' && name.bytes[i] <= 'Z';

        bytes[i] = upper ? (char)(name.bytes[i] + ('a' - 'A')) : name.bytes[i];
    }
    return (struct text){bytes, name.size};
}

static bool is_identity(struct text name)
{
    return text_is(name, "role") || text_is(name, "session_authorization");
}

/* RESET and DEFAULT go back to the role that the session began with. */
static void identity(struct walk *walk, enum setting_act kind, struct text value,
                     bool value_unknown, int location)
{
    changes(walk, CHANGES_ROLE | CHANGES_SETTINGS);
    if (kind == SETTING_RESET)
        return;
    if (value_unknown) {
        struct target any = target_none();

        act(walk, VERB_SET, &any);
        return;
    }
    walk_add_named(walk, VERB_SET, OBJECT_ROLE, value, location);
}

void walk_setting(struct walk *walk, enum setting_act kind, struct text name, struct text value,
                  bool value_unknown, int location)
{
    struct text lower = lower_case_name(walk, name);
    struct setting_use *use;

    if (kind != SETTING_SHOW && is_identity(lower)) {
        identity(walk, kind, value, value_unknown, location);
        return;
    }
    if (kind != SETTING_SHOW)
        changes(walk, CHANGES_SETTINGS);
    use = arena_push(walk->arena, (void **)&walk->settings, &walk->setting_count,
                     &walk->setting_capacity, sizeof(*walk->settings));
    *use = (struct setting_use){kind, lower, value, value_unknown};
}

/* --- values ---------------------------------------------------------------------------------- */

/* Lists whose elements the server quotes as identifiers. */
static bool is_quoted_list(struct text name)
{
    static const char *const names[] = {
        "local_preload_libraries",  "search_path",      "session_preload_libraries",
        "shared_preload_libraries", "temp_tablespaces", "unix_socket_directories",
    };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

static bool is_plain_identifier(struct text word)
{
    for (size_t i = 0; i < word.size; i++) {
        char c = word.bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || c == '_';

        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return word.size > 0;
}

static void append_identifier(struct buffer *out, struct text word)
{
    if (is_plain_identifier(word)) {
        buffer_append_text(out, word);
        return;
    }
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < word.size; i++) {
        if (word.bytes[i] == '"')
            buffer_append_byte(out, '"');
        buffer_append_byte(out, (uint8_t)word.bytes[i]);
    }
    buffer_append_byte(out, '"');
}

static void append_constant(struct walk *walk, struct buffer *out, const A_Const *constant,
                            bool quoted)
{
    const Node *value = &constant->val.node;

    if (constant->isnull)
        walk_unknown(walk, "SET value", T_A_Const, constant->location);
    else if (IsA(value, Integer))
        buffer_printf(out, "%d", constant->val.ival.ival);
    else if (IsA(value, Float))
        buffer_append_string(out, constant->val.fval.fval);
    else if (IsA(value, String) && quoted)
        append_identifier(out, text_from(constant->val.sval.sval));
    else if (IsA(value, String))
        buffer_append_string(out, constant->val.sval.sval);
    else
        walk_unknown(walk, "SET value", (int)nodeTag(value), constant->location);
}

/* SET TIME ZONE INTERVAL '…' is the only value with a cast. */
static void append_interval(struct walk *walk, struct buffer *out, const TypeCast *cast)
{
    const A_Const *constant = (const A_Const *)cast->arg;

    type_mention(walk, cast->typeName);
    if (!IsA(constant, A_Const) || constant->isnull || !IsA(&constant->val, String)) {
        walk_unknown(walk, "SET value", (int)nodeTag(cast->arg), cast->location);
        return;
    }
    buffer_append_string(out, "INTERVAL '");
    buffer_append_string(out, constant->val.sval.sval);
    buffer_append_byte(out, '\'');
}

static struct text value_of(struct walk *walk, struct text name, List *arguments)
{
    bool quoted = is_quoted_list(name);
    struct buffer out;
    struct text value;
    ListCell *cell;

    buffer_init(&out, LIMIT_STATEMENT_BYTES * (size_t)2);
    foreach (cell, arguments) {
        Node *argument = lfirst(cell);

        if (out.size > 0)
            buffer_append_string(&out, ", ");
        if (IsA(argument, A_Const))
            append_constant(walk, &out, (A_Const *)argument, quoted);
        else if (IsA(argument, TypeCast))
            append_interval(walk, &out, (TypeCast *)argument);
        else
            walk_unknown(walk, "SET value", (int)nodeTag(argument), -1);
    }
    value = arena_text(walk->arena, buffer_text(&out));
    buffer_release(&out);
    return value;
}

/* --- SET, RESET ------------------------------------------------------------------------------ */

static void set_transaction(struct walk *walk, VariableSetStmt *set)
{
    struct text what = text_from(set->name);

    if (text_is(what, "TRANSACTION")) {
        transaction_modes(walk, set->args, "");
    } else if (text_is(what, "SESSION CHARACTERISTICS")) {
        transaction_modes(walk, set->args, "default_");
    } else if (text_is(what, "TRANSACTION SNAPSHOT")) {
        walk_setting(walk, SETTING_TRANSACTION, TEXT("transaction_snapshot"),
                     value_of(walk, what, set->args), false, -1);
    } else {
        walk_unknown(walk, "SET", T_VariableSetStmt, -1);
    }
}

void walk_set(struct walk *walk, Node *node)
{
    VariableSetStmt *set = (VariableSetStmt *)node;
    struct text name = lower_case_name(walk, walk_text(walk, set->name));
    enum setting_act kind = set->is_local ? SETTING_SET_LOCAL : SETTING_SET;

    walk->shape->kind = STATEMENT_SET;
    switch (set->kind) {
    case VAR_SET_VALUE:
        walk_setting(walk, kind, name, value_of(walk, name, set->args), false, -1);
        break;
    case VAR_SET_CURRENT:
        walk_setting(walk, kind, name, TEXT(""), true, -1);
        break;
    case VAR_SET_DEFAULT:
    case VAR_RESET:
        walk_setting(walk, SETTING_RESET, name, TEXT(""), false, -1);
        break;
    case VAR_RESET_ALL:
        walk_setting(walk, SETTING_RESET_ALL, TEXT("all"), TEXT(""), false, -1);
        break;
    case VAR_SET_MULTI:
        set_transaction(walk, set);
        break;
    default:
        walk_unknown(walk, "SET", T_VariableSetStmt, -1);
    }
}

void setting_stored(struct walk *walk, VariableSetStmt *set)
{
    struct text name = lower_case_name(walk, walk_text(walk, set->name));

    switch (set->kind) {
    case VAR_SET_VALUE:
        walk_setting(walk, SETTING_SET, name, value_of(walk, name, set->args), false, -1);
        break;
    case VAR_SET_CURRENT:
        walk_setting(walk, SETTING_SET, name, TEXT(""), true, -1);
        break;
    case VAR_SET_DEFAULT: /* takes away what an owner stored for others: for a rule to allow */
    case VAR_RESET:
        walk_add_named(walk, VERB_SET, OBJECT_SETTING, name, -1);
        break;
    case VAR_RESET_ALL:
        walk_add_named(walk, VERB_SET, OBJECT_SETTING, TEXT("*"), -1);
        break;
    case VAR_SET_MULTI:
    default:
        walk_unknown(walk, "SET", T_VariableSetStmt, -1);
    }
}

void setting_of_routine(struct walk *walk, VariableSetStmt *set)
{
    if (set->name == NULL || !text_is(lower_case_name(walk, text_from(set->name)), "search_path"))
        setting_stored(walk, set);
}

/* --- SHOW, DISCARD --------------------------------------------------------------------------- */

void walk_show(struct walk *walk, Node *node)
{
    struct text name = lower_case_name(walk, walk_text(walk, ((VariableShowStmt *)node)->name));

    walk->shape->kind = STATEMENT_SHOW;
    walk->shape->returns_rows = true;
    if (text_starts_with(name, "pgwicket.")) {
        size_t prefix = sizeof("pgwicket.") - 1;

        walk->shape->pgwicket_show = (struct text){name.bytes + prefix, name.size - prefix};
        return;
    }
    walk_setting(walk, SETTING_SHOW, name, TEXT(""), false, -1);
}

static void discard_all(struct walk *walk)
{
    walk->shape->not_in_block = true;
    changes(walk, CHANGES_ROLE | CHANGES_NAMES | CHANGES_OBJECTS);
    walk_setting(walk, SETTING_RESET_ALL, TEXT("all"), TEXT(""), false, -1);
}

void walk_discard(struct walk *walk, Node *node)
{
    walk->shape->kind = STATEMENT_DISCARD;
    switch (((DiscardStmt *)node)->target) {
    case DISCARD_ALL:
        discard_all(walk);
        break;
    case DISCARD_TEMP:
        changes(walk, CHANGES_OBJECTS);
        break;
    case DISCARD_PLANS:
    case DISCARD_SEQUENCES:
        break;
    default:
        walk_unknown(walk, "DISCARD", T_DiscardStmt, -1);
    }
}
