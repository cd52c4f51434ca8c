/*
 * form_bound.c - see form_bound.h.
 *
 * What is bound is what an approver's release stands for, so it is all that comes from text and data. A wrong no
 * lets another value be written than was shown, as one that is decided when the statement runs. A wrong yes
 * ends every release in a drift: clocks, random numbers, sequences, what a session is, code of users.
 */
#include "parser/form_bound.h"

#include "parser/builtins.h"
#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"
#include "proxy/base/text.h"

#include <strings.h>

/* Harmless, but another one in another run, transaction or session. */
static bool differs_from_run_to_run(struct text name)
{
    static const char *const names[] = {
        "now", "statement_timestamp", "transaction_timestamp", "clock_timestamp", "timeofday",
        "random", "gen_random_uuid", "currval", "lastval", "pg_backend_pid", "pg_trigger_depth",
        "pg_listening_channels", "pg_is_in_recovery", "current_query", "pg_timezone_abbrevs",
        "pg_column_size", "pg_column_compression", "pg_advisory_unlock_all",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

/* age(x) is the time between x and today. */
static bool repeats(struct text name, int arguments)
{
    return builtin_function(name).strictest == FUNCTION_HARMLESS && !differs_from_run_to_run(name) &&
           !(text_is(name, "age") && arguments == 1);
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

static bool is_bound(struct bound_place place, Node *node);

static bool all_bound(struct bound_place place, List *list)
{
    ListCell *cell;
    foreach (cell, list)
        if (!is_bound(place, lfirst(cell)))
            return false;
    return true;
}

static bool window_bound(struct bound_place place, const WindowDef *window)
{
    return window == NULL ||
           (all_bound(place, window->partitionClause) && all_bound(place, window->orderClause) &&
            is_bound(place, window->startOffset) && is_bound(place, window->endOffset));
}

static bool call_bound(struct bound_place place, const FuncCall *call)
{
    struct text name = text_from(strVal(llast(call->funcname)));
    bool builtin = call->funcname->length == 1 ||
                   text_is(text_from(strVal(linitial(call->funcname))), "pg_catalog");
    return builtin && repeats(name, list_length(call->args)) && all_bound(place, call->args) &&
           all_bound(place, call->agg_order) && is_bound(place, call->agg_filter) &&
           window_bound(place, call->over);
}

static bool case_bound(struct bound_place place, const CaseExpr *tree)
{
    ListCell *cell;
    foreach (cell, tree->args) {
        const CaseWhen *when = lfirst(cell);
        if (!is_bound(place, (Node *)when->expr) || !is_bound(place, (Node *)when->result))
            return false;
    }
    return is_bound(place, (Node *)tree->arg) && is_bound(place, (Node *)tree->defresult);
}

/* (a, b) = (1, 2): one of them; (a, b) = (SELECT …): all of it. */
static bool part_bound(struct bound_place place, const MultiAssignRef *part)
{
    const RowExpr *row = (const RowExpr *)part->source;
    if (!IsA(row, RowExpr))
        return is_bound(place, part->source);
    return part->colno <= list_length(row->args) &&
           is_bound(place, list_nth(row->args, part->colno - 1));
}

static bool element_bound(struct bound_place place, const A_Indirection *tree)
{
    ListCell *cell;
    foreach (cell, tree->indirection) {
        const A_Indices *indices = lfirst(cell);
        if (IsA(indices, A_Indices) &&
            (!is_bound(place, indices->lidx) || !is_bound(place, indices->uidx)))
            return false;
    }
    return is_bound(place, tree->arg);
}

/* --- queries ------------------------------------------------------------------------------------ */

static bool query_bound(struct bound_place place, const SelectStmt *query);

/* Where its rows come from; functions there are asked for as in expressions. */
static bool source_bound(struct bound_place place, Node *source)
{
    ListCell *cell;
    switch (nodeTag(source)) {
    case T_RangeVar:
        return true;
    case T_RangeSubselect:
        return is_bound(place, ((RangeSubselect *)source)->subquery);
    case T_JoinExpr:
        return source_bound(place, ((JoinExpr *)source)->larg) &&
               source_bound(place, ((JoinExpr *)source)->rarg) &&
               is_bound(place, ((JoinExpr *)source)->quals);
    case T_RangeFunction:
        foreach (cell, ((RangeFunction *)source)->functions)
            if (!is_bound(place, linitial(lfirst(cell))))
                return false;
        return true;
    default:
        return false;
    }
}

/* What a WITH query that writes returns may be defaults' and triggers' own; of DELETE it was there. */
static bool with_bound(struct bound_place place, const WithClause *with)
{
    ListCell *cell;
    foreach (cell, with != NULL ? with->ctes : NIL) {
        Node *query = ((CommonTableExpr *)lfirst(cell))->ctequery;
        const DeleteStmt *gone = (const DeleteStmt *)query;
        if (IsA(query, DeleteStmt) ? !all_bound(place, gone->returningList) || gone->usingClause != NIL ||
                                         gone->withClause != NULL
                                   : !is_bound(place, query))
            return false;
    }
    return true;
}

/* Its columns are asked one by one where it is the source of an INSERT. */
static struct bound_place inside(struct bound_place place, const WithClause *with, List *from)
{
    ListCell *cell;
    place.depth++;
    place.columns = place.columns && with_bound(place, with);
    foreach (cell, from)
        place.columns = place.columns && source_bound(place, lfirst(cell));
    return place;
}

static bool query_bound(struct bound_place place, const SelectStmt *query)
{
    if (query->op != SETOP_NONE) {
        place = inside(place, query->withClause, NIL);
        return place.columns && all_bound(place, query->sortClause) &&
               is_bound(place, (Node *)query->larg) && is_bound(place, (Node *)query->rarg);
    }
    place = inside(place, query->withClause, query->fromClause);
    return place.columns && all_bound(place, query->targetList) && all_bound(place, query->valuesLists) &&
           all_bound(place, query->distinctClause) && is_bound(place, query->whereClause) &&
           all_bound(place, query->groupClause) && is_bound(place, query->havingClause) &&
           all_bound(place, query->sortClause) && is_bound(place, query->limitCount) &&
           is_bound(place, query->limitOffset);
}

/* --- expressions -------------------------------------------------------------------------------- */

/* SET a = DEFAULT is none of them: a default may be a clock or a sequence. */
static bool node_bound(struct bound_place place, Node *node)
{
    switch (nodeTag(node)) {
    case T_A_Const:
        return !is_moment((A_Const *)node);
    case T_ParamRef:
        return true;
    case T_ColumnRef:
        return place.columns;
    case T_List:
        return all_bound(place, (List *)node);
    case T_RowExpr:
        return all_bound(place, ((RowExpr *)node)->args);
    case T_A_Expr:
        return is_bound(place, ((A_Expr *)node)->lexpr) && is_bound(place, ((A_Expr *)node)->rexpr);
    case T_BoolExpr:
        return all_bound(place, ((BoolExpr *)node)->args);
    case T_TypeCast:
        return is_bound(place, ((TypeCast *)node)->arg);
    case T_CollateClause:
        return is_bound(place, ((CollateClause *)node)->arg);
    case T_A_ArrayExpr:
        return all_bound(place, ((A_ArrayExpr *)node)->elements);
    case T_A_Indirection:
        return element_bound(place, (A_Indirection *)node);
    case T_CoalesceExpr:
        return all_bound(place, ((CoalesceExpr *)node)->args);
    case T_MinMaxExpr:
        return all_bound(place, ((MinMaxExpr *)node)->args);
    case T_NullTest:
        return is_bound(place, (Node *)((NullTest *)node)->arg);
    case T_BooleanTest:
        return is_bound(place, (Node *)((BooleanTest *)node)->arg);
    case T_CaseExpr:
        return case_bound(place, (CaseExpr *)node);
    case T_MultiAssignRef:
        return part_bound(place, (MultiAssignRef *)node);
    case T_FuncCall:
        return call_bound(place, (FuncCall *)node);
    case T_ResTarget:
        return is_bound(place, ((ResTarget *)node)->val);
    case T_SortBy:
        return is_bound(place, ((SortBy *)node)->node);
    case T_SubLink:
        return !place.row_only && is_bound(place, ((SubLink *)node)->testexpr) && is_bound(place, ((SubLink *)node)->subselect);
    case T_SelectStmt:
        return query_bound(place, (SelectStmt *)node);
    default:
        return false;
    }
}

static bool is_bound(struct bound_place place, Node *node)
{
    if (node == NULL)
        return true;
    place.depth++;
    return place.depth < LIMIT_STATEMENT_DEPTH && node_bound(place, node);
}

/* --- entry points ------------------------------------------------------------------------------- */

struct bound_place form_bound_place(const WithClause *with, List *from)
{
    return inside((struct bound_place){.columns = true}, with, from);
}

bool form_is_bound(struct bound_place place, Node *expression)
{
    return expression != NULL && is_bound(place, expression);
}

bool form_reads_others(struct bound_place place, Node *expression)
{
    place.row_only = true;
    return !is_bound(place, expression);
}

bool form_source_has_star(const SelectStmt *source)
{
    ListCell *cell;
    foreach (cell, source->targetList) {
        const ColumnRef *reference = (const ColumnRef *)((ResTarget *)lfirst(cell))->val;
        if (reference != NULL && IsA(reference, ColumnRef) && IsA(llast(reference->fields), A_Star))
            return true;
    }
    return source->op != SETOP_NONE &&
           (form_source_has_star(source->larg) || form_source_has_star(source->rarg));
}

static bool values_bound(struct bound_place place, List *lists, int column)
{
    ListCell *cell;
    foreach (cell, lists) {
        List *values = lfirst(cell);
        if (column >= list_length(values) || !form_is_bound(place, list_nth(values, column)))
            return false;
    }
    return true;
}

bool form_source_is_bound(struct bound_place place, const SelectStmt *source, int column)
{
    if (source->op != SETOP_NONE || form_source_has_star(source))
        return query_bound(place, source);
    place = inside(place, source->withClause, source->fromClause);
    if (source->valuesLists != NIL)
        return values_bound(place, source->valuesLists, column);
    return column < list_length(source->targetList) &&
           form_is_bound(place, ((ResTarget *)list_nth(source->targetList, column))->val);
}
