/*
 * parse.c - PostgreSQL's raw parser behind an error value.
 *
 * libpg_query raises errors by jumping to the newest point set with sigsetjmp. grammar_try is the
 * only place that sets one; when it is reached by a jump, the error is copied to the arena and the
 * state of libpg_query is as before the call. The memory of the failed call goes with the visit.
 */
#include "parser/parse.h"

#include "parser/tree.h"
#include "proxy/base/invariant.h"

#include "parser/parser.h"

extern __thread MemoryContext CurrentMemoryContext;
extern __thread sigjmp_buf *PG_exception_stack;
extern __thread ErrorContextCallback *error_context_stack;

MemoryContext pg_query_enter_memory_context(void);
void pg_query_exit_memory_context(MemoryContext context);

struct grammar_visit grammar_enter(void)
{
    return (struct grammar_visit){pg_query_enter_memory_context()};
}

void grammar_leave(struct grammar_visit visit)
{
    pg_query_exit_memory_context(visit.memory);
}

static void copy_sqlstate(char sqlstate[6], int code)
{
    for (int i = 0; i < 5; i++) {
        sqlstate[i] = PGUNSIXBIT(code);
        code >>= 6;
    }
    sqlstate[5] = '\0';
}

static void take_error(struct arena *arena, struct grammar_error *error)
{
    const ErrorData *data = CopyErrorData();
    FlushErrorState();
    if (error == NULL)
        return;
    *error = (struct grammar_error){
        .message = arena_text(arena, text_from(data->message)),
        .detail = arena_text(arena, text_from(data->detail)),
        .hint = arena_text(arena, text_from(data->hint)),
        .position = data->cursorpos,
    };
    copy_sqlstate(error->sqlstate, data->sqlerrcode);
}

bool grammar_try(struct grammar_visit visit, void (*function)(void *), void *argument,
                 struct arena *arena, struct grammar_error *error)
{
    INVARIANT(visit.memory != NULL);
    sigjmp_buf *outer = PG_exception_stack;
    ErrorContextCallback *outer_context = error_context_stack;
    volatile bool fine = false;
    sigjmp_buf here;
    if (sigsetjmp(here, 0) == 0) {
        PG_exception_stack = &here;
        function(argument);
        fine = true;
    }
    PG_exception_stack = outer;
    error_context_stack = outer_context;
    CurrentMemoryContext = visit.memory;
    if (!fine)
        take_error(arena, error);
    return fine;
}

struct parse_call {
    const char *sql;
    List *tree;
};

static void call_parser(void *argument)
{
    struct parse_call *call = argument;
    call->tree = raw_parser(call->sql, RAW_PARSE_DEFAULT);
}

bool grammar_parse(struct grammar_visit visit, const char *sql, struct List **tree,
                   struct arena *arena, struct grammar_error *error)
{
    struct parse_call call = {.sql = sql};
    if (!grammar_try(visit, call_parser, &call, arena, error))
        return false;
    *tree = call.tree;
    return true;
}

bool grammar_error_is_depth(const struct grammar_error *error)
{
    /* bison's words when its stack of 10,000 symbols is full, and PostgreSQL's for its own. */
    return text_starts_with(error->message, "memory exhausted") ||
           text_starts_with(error->message, "stack depth limit exceeded") ||
           text_starts_with(error->message, "out of memory");
}
