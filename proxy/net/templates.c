/* templates.c - see templates.h. */
#include "proxy/net/templates.h"

#include "proxy/base/invariant.h"

#include <stdio.h>
#include <stdlib.h>

struct unprepared *unprepared_retain(struct unprepared *unprepared)
{
    if (unprepared != NULL)
        atomic_fetch_add(&unprepared->references, 1);
    return unprepared;
}

void unprepared_release(struct unprepared *unprepared)
{
    if (unprepared == NULL || atomic_fetch_sub(&unprepared->references, 1) > 1)
        return;
    arena_release(&unprepared->arena);
    free(unprepared);
}

static bool is_used(const struct configuration *configuration, struct text upstream,
                    const struct template *template)
{
    const struct object object = {OBJECT_TEMPLATE, TEXT(""), template->name};
    for (size_t i = 0; i < configuration->agent_count; i++) {
        const struct agent *agent = &configuration->agents[i];
        if (text_equal(agent->upstream->name, upstream) &&
            policy_may(agent->policy, VERB_EXECUTE, &object))
            return true;
    }
    return false;
}

static enum prepare_answer prepare(struct catalog_loader *loader, const struct template *template,
                                   char *problem, size_t size)
{
    struct arena arena;
    arena_init(&arena);
    uint32_t *types = arena_array(&arena, template->parameter_count, sizeof *types);
    for (size_t i = 0; i < template->parameter_count; i++)
        types[i] = template_type_oid(template->parameters[i].type, template->parameters[i].array);
    struct text sql = arena_text(&arena, template->sql);
    enum prepare_answer answer = catalog_loader_prepare(loader, sql.bytes, types,
                                                        template->parameter_count, problem, size);
    arena_release(&arena);
    return answer;
}

struct unprepared *templates_check(struct catalog_loader *loader,
                                   const struct configuration *configuration, struct text upstream)
{
    struct unprepared *found = memory_allocate_zeroed(1, sizeof *found);
    found->references = 1;
    found->complete = true;
    arena_init(&found->arena);
    struct text *names =
        arena_array(&found->arena, configuration->template_count, sizeof *names);
    struct text *problems =
        arena_array(&found->arena, configuration->template_count, sizeof *problems);
    for (size_t i = 0; i < configuration->template_count; i++) {
        const struct template *template = &configuration->templates[i];
        char problem[256] = "";
        if (!is_used(configuration, upstream, template))
            continue;
        enum prepare_answer answer = prepare(loader, template, problem, sizeof problem);
        found->complete = found->complete && answer != PREPARE_NO_ANSWER;
        if (answer != PREPARE_REFUSED)
            continue;
        problems[found->count] = arena_printf(
            &found->arena, "upstream %.*s does not accept the statement of template %.*s: %s",
            TEXT_ARGS(upstream), TEXT_ARGS(template->name), problem);
        if (found->count == 0)
            snprintf(found->problem, sizeof found->problem, "%.*s", TEXT_ARGS(problems[0]));
        names[found->count++] = arena_text(&found->arena, template->name);
    }
    found->names = names;
    found->problems = problems;
    return found;
}
