/*
 * form_bound.c - see form_bound.h.
 *
 * A no costs little: the value is then shown as decided when the statement runs. A wrong yes would end
 * every release in a drift.
 */
#include "parser/form_bound.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"
#include "proxy/base/text.h"

#include <strings.h>

/* Immutable, and the same in every session. */
static bool is_immutable_function(struct text name)
{
    static const char *const names[] = {
        "abs",     "btrim",      "ceil",   "ceiling", "char_length", "decode",        "div",
        "encode",  "floor",      "greatest", "initcap", "least",     "left",          "length",
        "lower",   "lpad",       "ltrim",  "md5",     "mod",         "octet_length",  "overlay",
        "position", "power",     "regexp_replace", "repeat", "replace", "reverse",    "right",
        "round",   "rpad",       "rtrim",  "sha256",  "sign",        "split_part",    "sqrt",
        "strpos",  "substr",     "substring", "translate", "trunc",  "upper",         "array_append",
        "array_remove", "array_replace", "jsonb_set", "jsonb_strip_nulls",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

static bool contains_word(const char *text, const char *word)
{
    size_t size = text_from(word).size;
    for (; *text != '\0'; text++)
        if (strncasecmp(text, word, size) == 0)
            return true;
    return false;
}

/* 'now' and its kind are read as the moment, by every date and time type, wherever they come to be cast. */
static bool is_moment(const A_Const *constant)
{
    static const char *const words[] = {"now", "today", "tomorrow", "yesterday"};
    if (constant->isnull || !IsA(&constant->val, String))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (contains_word(constant->val.sval.sval, words[i]) &&
            text_from(constant->val.sval.sval).size < 32)
            return true;
    return false;
}

static bool is_bound(Node *node, int depth);

static bool all_bound(List *list, int depth)
{
    ListCell *cell;
    foreach (cell, list)
        if (!is_bound(lfirst(cell), depth))
            return false;
    return true;
}

static bool call_bound(const FuncCall *call, int depth)
{
    struct text name = text_from(strVal(llast(call->funcname)));
    bool plain = call->agg_order == NIL && call->agg_filter == NULL && call->over == NULL;
    bool builtin = call->funcname->length == 1 ||
                   text_is(text_from(strVal(linitial(call->funcname))), "pg_catalog");
    return plain && builtin && is_immutable_function(name) && all_bound(call->args, depth);
}

static bool case_bound(const CaseExpr *tree, int depth)
{
    ListCell *cell;
    foreach (cell, tree->args) {
        const CaseWhen *when = lfirst(cell);
        if (!is_bound((Node *)when->expr, depth) || !is_bound((Node *)when->result, depth))
            return false;
    }
    return is_bound((Node *)tree->arg, depth) && is_bound((Node *)tree->defresult, depth);
}

/* (a, b) = (1, 2): one of them. */
static bool part_bound(const MultiAssignRef *part, int depth)
{
    const RowExpr *row = (const RowExpr *)part->source;
    return IsA(row, RowExpr) && part->colno <= list_length(row->args) &&
           is_bound(list_nth(row->args, part->colno - 1), depth);
}

/* SET a = DEFAULT is none of them: a default may be a clock or a sequence. */
static bool node_bound(Node *node, int depth)
{
    switch (nodeTag(node)) {
    case T_A_Const:
        return !is_moment((A_Const *)node);
    case T_ParamRef:
    case T_ColumnRef:
        return true;
    case T_List:
        return all_bound((List *)node, depth);
    case T_A_Expr:
        return is_bound(((A_Expr *)node)->lexpr, depth) && is_bound(((A_Expr *)node)->rexpr, depth);
    case T_BoolExpr:
        return all_bound(((BoolExpr *)node)->args, depth);
    case T_TypeCast:
        return is_bound(((TypeCast *)node)->arg, depth);
    case T_A_ArrayExpr:
        return all_bound(((A_ArrayExpr *)node)->elements, depth);
    case T_CoalesceExpr:
        return all_bound(((CoalesceExpr *)node)->args, depth);
    case T_MinMaxExpr:
        return all_bound(((MinMaxExpr *)node)->args, depth);
    case T_NullTest:
        return is_bound((Node *)((NullTest *)node)->arg, depth);
    case T_BooleanTest:
        return is_bound((Node *)((BooleanTest *)node)->arg, depth);
    case T_CaseExpr:
        return case_bound((CaseExpr *)node, depth);
    case T_MultiAssignRef:
        return part_bound((MultiAssignRef *)node, depth);
    case T_FuncCall:
        return call_bound((FuncCall *)node, depth);
    default:
        return false;
    }
}

static bool is_bound(Node *node, int depth)
{
    if (node == NULL)
        return true;
    return depth < LIMIT_STATEMENT_DEPTH && node_bound(node, depth + 1);
}

bool form_is_bound(Node *expression)
{
    return expression != NULL && is_bound(expression, 0);
}
