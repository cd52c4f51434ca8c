/* path.c - see path.h. What is not known to be passed over stays on the path. */
#include "rules/path.h"

/* `settings: {role: …}`: the session does not begin with its login's role. */
static bool start_role(const struct decide_context *context, struct text *role)
{
    const struct policy *policy = context->policy;
    for (size_t i = 0; i < policy->setting_count; i++)
        if (text_is(policy->settings[i].name, "role")) {
            *role = context->setting_values != NULL ? context->setting_values[i] : policy->settings[i].value;
            return !text_is(*role, "none");
        }
    return false;
}

static bool begins_with(const struct decide_context *context, const struct closed_schema *closed)
{
    struct text role;
    return start_role(context, &role) ? text_equal(closed->role, role) : closed->of_login;
}

static bool may_be_taken(const struct decide_context *context, const struct closed_schema *closed)
{
    const struct object role = {.kind = OBJECT_ROLE, .name = closed->role};
    return policy_may(context->policy, VERB_SET, &role) ||
           (closed->of_login && policy_may_change_role(context->policy));
}

enum use { USED, PASSED_OVER, DEPENDS };

static enum use use_of(const struct decide_context *context, struct text schema)
{
    size_t count;
    const struct closed_schema *closed = catalog_closed_schemas(context->catalog, &count);
    bool at_start = false, later = false;
    for (size_t i = 0; i < count; i++)
        if (text_equal(closed[i].schema, schema)) {
            at_start = at_start || begins_with(context, &closed[i]);
            later = later || may_be_taken(context, &closed[i]);
        }
    if (policy_may_change_role(context->policy))
        return at_start || later ? DEPENDS : USED;
    return at_start ? PASSED_OVER : USED;
}

struct used_path path_in_use(struct arena *arena, const struct decide_context *context)
{
    const struct policy *policy = context->policy;
    struct used_path path = {policy->search_path, policy->search_path_count, false};
    size_t closed = 0;
    if (context->catalog != NULL)
        (void)catalog_closed_schemas(context->catalog, &closed);
    if (closed == 0 || policy->search_path_count == 0)
        return path;
    struct text *schemas = arena_array(arena, policy->search_path_count, sizeof *schemas);
    path = (struct used_path){.schemas = schemas};
    for (size_t i = 0; i < policy->search_path_count; i++) {
        enum use use = use_of(context, policy->search_path[i]);
        path.open = path.open || use == DEPENDS;
        if (use != PASSED_OVER)
            schemas[path.count++] = policy->search_path[i];
    }
    return path;
}
