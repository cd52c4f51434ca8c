/*
 * walk_telling.c - does the other side of a comparison say anything? '%', '{}', '.*' match every value.
 *
 * What cannot be seen through, such as a parameter, says something: the row limits catch what it means.
 */
#include "parser/walk_scope.h"

#include "nodes/nodeFuncs.h"

#include <string.h>

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

/* Patterns of LIKE and containers: any letter or digit must be matched. */
static bool text_is_telling(struct text value)
{
    for (size_t i = 0; i < value.size; i++)
        if (is_alphanumeric(value.bytes[i]))
            return true;
    return false;
}

/* --- regular expressions ---------------------------------------------------------------------- */

/* Behind the bracket expression or group that begins here; the end where it is not closed. */
static size_t skip_brackets(struct text pattern, size_t at)
{
    char close = pattern.bytes[at] == '[' ? ']' : ')';
    size_t depth = 0;
    for (size_t i = at; i < pattern.size; i++) {
        char c = pattern.bytes[i];
        if (c == '\\')
            i++;
        else if (c == pattern.bytes[at] && (close == ')' || i == at))
            depth++;
        else if (c == close && !(close == ']' && i <= at + 2 && !is_alphanumeric(c) &&
                                 (i == at + 1 || pattern.bytes[at + 1] == '^')) &&
                 --depth == 0)
            return i + 1;
    }
    return pattern.size;
}

static bool may_be_left_out(struct text pattern, size_t next)
{
    return next < pattern.size && (pattern.bytes[next] == '*' || pattern.bytes[next] == '?' ||
                                   pattern.bytes[next] == '{');
}

/* Each alternative has a letter or digit that must be there, outside of groups and classes. Escapes that
 * take more than one character are not looked into: such a pattern says nothing. */
static bool regex_is_telling(struct text pattern)
{
    bool telling = false;
    for (size_t i = 0; i < pattern.size; i++) {
        char c = pattern.bytes[i];
        if (c == '[' || c == '(') {
            i = skip_brackets(pattern, i) - 1;
        } else if (c == '{') {
            while (i + 1 < pattern.size && pattern.bytes[i] != '}')
                i++;
        } else if (c == '\\') {
            char escaped = i + 1 < pattern.size ? pattern.bytes[i + 1] : '0';
            if ((escaped >= '0' && escaped <= '9') || strchr("cuUx", escaped) != NULL)
                return false;
            i++;
        } else if (c == '|') {
            if (!telling)
                return false;
            telling = false;
        } else if (is_alphanumeric(c) && !may_be_left_out(pattern, i + 1)) {
            telling = true;
        }
    }
    return telling;
}

/* --- expressions ------------------------------------------------------------------------------- */

/* raw_expression_tree_walker's callback: true stops it at a value that says something. */
static bool has_telling_leaf(Node *node, void *context)
{
    struct text value;
    if (node == NULL)
        return false;
    if (IsA(node, ParamRef))
        return true;
    if (IsA(node, A_Const))
        return constant_string(node, &value) ? text_is_telling(value) : !((A_Const *)node)->isnull;
    return raw_expression_tree_walker(node, has_telling_leaf, context);
}

bool is_telling_value(Node *node) { return has_telling_leaf(node, NULL); }

bool is_telling_regex(Node *node)
{
    struct text value;
    return constant_string(node, &value) ? regex_is_telling(value) : is_telling_value(node);
}

/* --- functions of a column --------------------------------------------------------------------- */

static bool is_named(const List *name, const char *const *names, size_t count)
{
    int length = list_length(name);
    if (length > 2 || (length == 2 && strcmp(strVal(linitial(name)), "pg_catalog") != 0))
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(strVal(llast(name)), names[i]) == 0)
            return true;
    return false;
}

bool is_telling_function(const FuncCall *call)
{
    static const char *const names[] = {
        "age",         "btrim",   "ceil",        "ceiling",  "date",
        "date_part",   "date_trunc", "extract",  "floor",    "jsonb_extract_path_text",
        "left",        "lower",   "ltrim",       "md5",      "replace",
        "right",       "round",   "rtrim",       "split_part", "substr",
        "substring",   "timezone", "to_char",    "to_tsvector", "trunc",
        "upper",
    };
    return is_named(call->funcname, names, ARRAY_SIZE(names));
}

bool is_telling_predicate(const FuncCall *call)
{
    static const char *const names[] = {"jsonb_path_exists", "overlaps", "regexp_like", "starts_with"};
    return is_named(call->funcname, names, ARRAY_SIZE(names));
}

bool is_size_function(const FuncCall *call)
{
    static const char *const names[] = {
        "abs",          "array_length",       "bit_length",   "cardinality", "char_length",
        "length",       "jsonb_array_length", "octet_length", "position",    "strpos",
    };
    return is_named(call->funcname, names, ARRAY_SIZE(names));
}

bool constant_integer(Node *node, int64_t *value)
{
    bool negative = false;
    if (node != NULL && IsA(node, A_Expr) && ((A_Expr *)node)->kind == AEXPR_OP &&
        ((A_Expr *)node)->lexpr == NULL && list_length(((A_Expr *)node)->name) == 1 &&
        strcmp(strVal(linitial(((A_Expr *)node)->name)), "-") == 0) {
        negative = true;
        node = ((A_Expr *)node)->rexpr;
    }
    if (node == NULL || !IsA(node, A_Const) || ((A_Const *)node)->isnull ||
        !IsA(&((A_Const *)node)->val, Integer))
        return false;
    *value = ((A_Const *)node)->val.ival.ival;
    if (negative)
        *value = -*value;
    return true;
}
