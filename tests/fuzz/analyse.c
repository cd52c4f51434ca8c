/*
 * analyse.c - any bytes as SQL. What is accepted must print to a text that is accepted, prints to
 * itself and has as many statements; the texts made for the audit log must be clean.
 */
#include "parser/analyse.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void analyse_offline(struct arena *arena, struct text sql, bool anything_goes,
                            struct analysis *out)
{
    const struct text path[] = {TEXT("shop")};
    const struct analyse_context context = {
        .search_path = path,
        .search_path_count = 1,
        .anything_goes = anything_goes,
    };
    analyse(arena, &context, sql, out);
}

static void check_print(struct arena *arena, const struct analysis *first)
{
    struct analysis again;
    analyse_offline(arena, first->print, true, &again);
    INVARIANT(again.result == ANALYSE_OK);
    INVARIANT(text_equal(again.print, first->print));
    INVARIANT(again.statement_count == first->statement_count);
    for (size_t i = 0; i < first->print.size; i++)
        INVARIANT((uint8_t)first->print.bytes[i] >= ' ');
}

static void check_failure(const struct analysis *analysis, struct text sql)
{
    INVARIANT(analysis->statement_count == 0);
    INVARIANT(analysis->sqlstate[0] != '\0' && analysis->sqlstate[5] == '\0');
    INVARIANT(analysis->message.size > 0);
    INVARIANT(analysis->position >= 0 && (size_t)analysis->position <= sql.size + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text sql = {(const char *)data, size};
    struct arena arena;
    arena_init(&arena);
    struct analysis analysis;
    analyse_offline(&arena, sql, true, &analysis);
    if (analysis.result == ANALYSE_OK)
        check_print(&arena, &analysis);
    else
        check_failure(&analysis, sql);
    analyse_offline(&arena, sql, false, &analysis);
    if (analysis.result != ANALYSE_OK)
        check_failure(&analysis, sql);
    struct text parameterised = analyse_parameterised(&arena, sql);
    INVARIANT(parameterised.size <= LIMIT_AUDIT_TEXT_BYTES && utf8_valid(parameterised));
    analyse_fingerprint(&arena, sql);
    if (analysis.result == ANALYSE_OK)
        analyse_map_position(sql, analysis.print, (int)(size % 64));
    arena_release(&arena);
    return 0;
}
