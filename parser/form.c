/*
 * form.c - see form.h. The tree says which clauses there are, the tokens where they are.
 *
 * Keywords are looked for outside of all brackets, where the grammar lets each of them stand once; a
 * text in which one is missing that the tree has is not taken apart.
 */
#include "parser/form.h"

#include "parser/form_bound.h"
#include "parser/print.h"
#include "proxy/base/limits.h"

#include <string.h>

struct work {
    struct arena *arena;
    struct grammar_visit visit;
    struct tokens tokens;
    struct write_form *form;
    size_t verb;     /* token of the write's own INSERT, UPDATE or DELETE */
    size_t relation; /* first token of the relation, ONLY included */
    size_t settled;  /* the clause that was found last begins here */
};

/* --- tokens ----------------------------------------------------------------------------------- */

static bool is_word(const struct token *token, const char *word)
{
    return token_is_keyword(token) && strcmp(token->string, word) == 0;
}

static int bracket(const struct token *token)
{
    if (token->kind == '(' || token->kind == '[')
        return 1;
    return token->kind == ')' || token->kind == ']' ? -1 : 0;
}

/* The first such keyword outside of brackets from `at` on; the number of tokens if there is none. FROM does
 * not begin a clause behind DISTINCT. */
static size_t find_word(const struct tokens *tokens, size_t at, const char *word)
{
    int depth = 0;
    for (; at < tokens->count; at++) {
        depth += bracket(&tokens->items[at]);
        bool tail = at > 0 && is_word(&tokens->items[at - 1], "distinct");
        bool alias = at > 0 && is_word(&tokens->items[at - 1], "as");
        if (depth == 0 && !tail && !alias && is_word(&tokens->items[at], word))
            break;
    }
    return at;
}

static size_t token_at(const struct tokens *tokens, int location)
{
    size_t at = 0;
    while (at < tokens->count && tokens->items[at].location < location)
        at++;
    return at;
}

static struct text printed(struct work *work, size_t first, size_t end)
{
    struct buffer out;
    buffer_init(&out, LIMIT_PRINT_BYTES);
    print_tokens(&out, &work->tokens, first, end);
    struct text text = out.overflow ? TEXT("") : arena_text(work->arena, buffer_text(&out));
    buffer_release(&out);
    return text;
}

struct text form_identifier(struct arena *arena, struct text name)
{
    struct token token = {.kind = TOKEN_IDENT, .string = arena_text(arena, name).bytes};
    struct tokens tokens = {.items = &token, .count = 1};
    struct buffer out;
    buffer_init(&out, LIMIT_SMALL_MESSAGE_BYTES);
    print_tokens(&out, &tokens, 0, 1);
    struct text text = arena_text(arena, buffer_text(&out));
    buffer_release(&out);
    return text;
}

/* --- parts that all have ---------------------------------------------------------------------- */

static bool with_writes(const WithClause *with)
{
    ListCell *cell;
    if (with == NULL)
        return false;
    foreach (cell, with->ctes)
        if (!IsA(((CommonTableExpr *)lfirst(cell))->ctequery, SelectStmt))
            return true;
    return false;
}

/* The relation's own tokens begin behind `lead`: INTO, UPDATE, or the FROM of DELETE. */
static bool find_relation(struct work *work, const RangeVar *range, const char *lead)
{
    size_t at = token_at(&work->tokens, range->location);
    while (at > 0 && !is_word(&work->tokens.items[at - 1], lead)) {
        const struct token *before = &work->tokens.items[at - 1];
        if (!is_word(before, "only") && before->kind != '(')
            return false;
        at--;
    }
    work->relation = at;
    work->verb = at - (strcmp(lead, "update") == 0 ? 1 : 2);
    struct text name = text_from(range->alias != NULL ? range->alias->aliasname : range->relname);
    work->form->target = form_identifier(work->arena, name);
    struct text own = form_identifier(work->arena, text_from(range->relname));
    const char *only = range->inh ? "" : "ONLY ";
    if (range->schemaname == NULL)
        work->form->relation = arena_printf(work->arena, "%s%.*s", only, TEXT_ARGS(own));
    else
        work->form->relation =
            arena_printf(work->arena, "%s%.*s.%.*s", only,
                         TEXT_ARGS(form_identifier(work->arena, text_from(range->schemaname))),
                         TEXT_ARGS(own));
    return at > 0 && range->catalogname == NULL;
}

static bool is_conflict_column(const OnConflictClause *conflict, const char *name)
{
    ListCell *cell;
    foreach (cell, conflict->infer != NULL ? conflict->infer->indexElems : NIL) {
        const IndexElem *element = lfirst(cell);
        if (element->name != NULL && strcmp(element->name, name) == 0)
            return true;
    }
    return false;
}

/* ON CONFLICT (id) DO UPDATE SET id = EXCLUDED.id: equal already, or there were no conflict. */
static bool stays_as_it_is(const OnConflictClause *conflict, const ResTarget *target)
{
    const ColumnRef *value = (const ColumnRef *)target->val;
    if (conflict == NULL || value == NULL || !IsA(value, ColumnRef) || target->indirection != NIL ||
        list_length(value->fields) != 2 || !IsA(llast(value->fields), String) ||
        !IsA(linitial(value->fields), String))
        return false;
    return strcmp(strVal(linitial(value->fields)), "excluded") == 0 &&
           strcmp(strVal(llast(value->fields)), target->name) == 0 &&
           is_conflict_column(conflict, target->name);
}

static bool updated_columns(struct work *work, List *targets, const OnConflictClause *conflict)
{
    size_t count = (size_t)list_length(targets), kept = 0;
    struct text *updated = arena_array(work->arena, count, sizeof *updated);
    for (size_t i = 0; i < count; i++) {
        const ResTarget *target = list_nth(targets, (int)i);
        if (!IsA(target, ResTarget) || target->name == NULL)
            return false;
        if (!stays_as_it_is(conflict, target))
            updated[kept++] = arena_text(work->arena, text_from(target->name));
    }
    work->form->updated = updated;
    work->form->updated_count = kept;
    return true;
}

static bool set_columns(struct work *work, List *targets, struct bound_place place, bool has_others)
{
    size_t count = (size_t)list_length(targets);
    struct form_column *columns = arena_array(work->arena, count, sizeof *columns);
    if (!updated_columns(work, targets, NULL))
        return false;
    for (size_t i = 0; i < count; i++) {
        const ResTarget *target = list_nth(targets, (int)i);
        columns[i].name = work->form->updated[i]; /* all of an UPDATE */
        columns[i].bound = target->indirection == NIL && form_is_bound(place, target->val);
        columns[i].reads_others = has_others || form_reads_others(place, target->val);
    }
    work->form->columns = columns;
    work->form->column_count = count;
    return true;
}

/* Where a clause begins, or `end` if the tree has none. False: the tokens do not have it. */
static bool clause(struct work *work, bool there, size_t from, const char *word, size_t end,
                   size_t *at)
{
    *at = there ? find_word(&work->tokens, from, word) : end;
    return *at < end || !there;
}

/* --- UPDATE and DELETE ------------------------------------------------------------------------ */

/* [WITH …] SELECT 1 FROM relation [, others] [WHERE …] FOR UPDATE OF target */
static void select_rows(struct work *work, size_t relation_end, size_t others, size_t where,
                        size_t end)
{
    struct buffer out;
    buffer_init(&out, LIMIT_PRINT_BYTES);
    print_tokens(&out, &work->tokens, 0, work->verb);
    buffer_append_string(&out, work->verb > 0 ? " SELECT 1 FROM " : "SELECT 1 FROM ");
    buffer_append_text(&out, printed(work, work->relation, relation_end));
    if (others < where)
        buffer_printf(&out, ", %.*s", TEXT_ARGS(printed(work, others + 1, where)));
    if (where < end)
        buffer_printf(&out, " %.*s", TEXT_ARGS(printed(work, where, end)));
    buffer_printf(&out, " FOR UPDATE OF %.*s", TEXT_ARGS(work->form->target));
    if (!out.overflow)
        work->form->select_rows = arena_text(work->arena, buffer_text(&out));
    buffer_release(&out);
}

static bool is_positioned(const Node *where)
{
    return where != NULL && IsA(where, CurrentOfExpr);
}

/* The end of FOR UPDATE's relation is the first of the clauses behind it. */
static bool changing_form(struct work *work, const WithClause *with, bool has_others,
                          const char *others_word, size_t from, Node *where_clause)
{
    size_t count = work->tokens.count, returning, where, others;
    if (!clause(work, work->form->has_returning, from, "returning", count, &returning) ||
        !clause(work, where_clause != NULL, from, "where", returning, &where) ||
        !clause(work, has_others, from, others_word, where, &others))
        return false;
    size_t relation_end = find_word(&work->tokens, work->relation, "set");
    if (work->form->verb == VERB_DELETE)
        relation_end = others;
    if (!is_positioned(where_clause) && !with_writes(with))
        select_rows(work, relation_end, others, where, returning);
    return true;
}

static bool update_form(struct work *work, const UpdateStmt *tree)
{
    struct bound_place place = form_bound_place(tree->withClause, tree->fromClause);
    work->form->verb = VERB_UPDATE;
    work->form->has_returning = tree->returningList != NIL;
    if (!find_relation(work, tree->relation, "update") ||
        !set_columns(work, tree->targetList, place, tree->fromClause != NIL))
        return false;
    size_t set = find_word(&work->tokens, work->relation, "set");
    return set < work->tokens.count && changing_form(work, tree->withClause, tree->fromClause != NIL,
                                                     "from", set, tree->whereClause);
}

static bool delete_form(struct work *work, const DeleteStmt *tree)
{
    work->form->verb = VERB_DELETE;
    work->form->has_returning = tree->returningList != NIL;
    return find_relation(work, tree->relation, "from") &&
           changing_form(work, tree->withClause, tree->usingClause != NIL, "using", work->relation,
                         tree->whereClause);
}

/* --- INSERT ----------------------------------------------------------------------------------- */

static int source_width(const SelectStmt *source)
{
    while (source->op != SETOP_NONE)
        source = source->larg;
    return source->valuesLists != NIL ? list_length(linitial(source->valuesLists))
                                      : list_length(source->targetList);
}

static bool updates_on_conflict(const OnConflictClause *conflict, struct text name, ResTarget **target)
{
    ListCell *cell;
    foreach (cell, conflict != NULL ? conflict->targetList : NIL) {
        *target = lfirst(cell);
        if ((*target)->name != NULL && text_is(name, (*target)->name))
            return true;
    }
    return false;
}

/* VALUES of one column may have sub-selects; rows of a query are others anyway. */
static bool value_reads_others(struct bound_place place, const SelectStmt *source, int column)
{
    ListCell *cell;
    bool reads = source->valuesLists == NIL;
    foreach (cell, source->valuesLists)
        if (column < list_length(lfirst(cell)))
            reads = reads || form_reads_others(place, list_nth(lfirst(cell), column));
    return reads;
}

/* One that DO UPDATE sets, too, has either value. */
static struct form_column inserted_column(const InsertStmt *tree, struct bound_place place, struct text name,
                                          int column)
{
    const SelectStmt *source = (const SelectStmt *)tree->selectStmt;
    ResTarget *update = NULL;
    struct form_column found = {.name = name,
                                .bound = form_source_is_bound(place, source, column),
                                .reads_others = value_reads_others(place, source, column)};
    if (name.size > 0 && updates_on_conflict(tree->onConflictClause, name, &update)) {
        found.bound = found.bound && update->indirection == NIL && form_is_bound(place, update->val);
        found.reads_others = found.reads_others || form_reads_others(place, update->val);
    }
    return found;
}

/* With `*` nobody knows here how many columns there are. */
static void inserted_columns(struct work *work, const InsertStmt *tree)
{
    const SelectStmt *source = (const SelectStmt *)tree->selectStmt;
    struct bound_place place = form_bound_place(tree->withClause, NIL);
    if (source == NULL)
        return;
    bool counted = tree->cols != NIL || !form_source_has_star(source);
    int count = tree->cols != NIL ? list_length(tree->cols) : counted ? source_width(source) : 0;
    struct form_column *columns = arena_array(work->arena, (size_t)count, sizeof *columns);
    for (int i = 0; i < count; i++) {
        struct text name = {0};
        if (tree->cols != NIL)
            name = arena_text(work->arena, text_from(((ResTarget *)list_nth(tree->cols, i))->name));
        columns[i] = inserted_column(tree, place, name, i);
    }
    work->form->columns = columns;
    work->form->column_count = (size_t)count;
    work->form->star_bound = !counted && tree->onConflictClause == NULL &&
                             form_source_is_bound(place, source, 0);
}

static bool insert_form(struct work *work, const InsertStmt *tree)
{
    const OnConflictClause *conflict = tree->onConflictClause;
    work->form->verb = VERB_INSERT;
    work->form->has_returning = tree->returningList != NIL;
    work->form->conflict_updates = conflict != NULL && conflict->action == ONCONFLICT_UPDATE;
    if (!find_relation(work, tree->relation, "into") ||
        (work->form->conflict_updates && !updated_columns(work, conflict->targetList, conflict)))
        return false;
    inserted_columns(work, tree);
    return true;
}

/* --- all -------------------------------------------------------------------------------------- */

static bool form_of_tree(struct work *work, Node *tree)
{
    switch (nodeTag(tree)) {
    case T_InsertStmt:
        return insert_form(work, (InsertStmt *)tree);
    case T_UpdateStmt:
        return update_form(work, (UpdateStmt *)tree);
    case T_DeleteStmt:
        return delete_form(work, (DeleteStmt *)tree);
    default:
        return false;
    }
}

bool write_form(struct arena *arena, struct text sql, struct write_form *form)
{
    struct work work = {.arena = arena, .form = form};
    List *tree = NIL;
    *form = (struct write_form){0};
    if (sql.size > LIMIT_HELD_BYTES)
        return false;
    const char *text = arena_text(arena, sql).bytes;
    work.visit = grammar_enter();
    bool known = grammar_parse(work.visit, text, &tree, arena, NULL) && list_length(tree) == 1 &&
                 lex_tokens(work.visit, arena, text, &work.tokens);
    if (known) {
        print_prepare(&work.tokens);
        known = form_of_tree(&work, linitial_node(RawStmt, tree)->stmt);
    }
    grammar_leave(work.visit);
    return known;
}
