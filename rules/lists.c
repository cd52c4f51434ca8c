/* lists.c - see lists.h. */
#include "rules/lists.h"

void append_names(struct buffer *out, const char *title, const struct text *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_string(out, i == 0 ? title : ", ");
        buffer_append_text(out, names[i]);
    }
}

void append_patterns(struct buffer *out, const char *title, const struct object_pattern *patterns,
                     size_t count, const char *any)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_string(out, i == 0 ? title : ", ");
        if (patterns[i].any)
            buffer_append_string(out, any);
        else
            buffer_append_text(out, patterns[i].source);
    }
}

void append_verbs(struct buffer *out, const char *title, const struct rule *rule, const char *all,
                  const char *(*word)(enum verb verb))
{
    const char *separator = title;
    if (rule->all_verbs) {
        buffer_append_string(out, title);
        buffer_append_string(out, all);
        return;
    }
    for (enum verb verb = VERB_NONE + 1; verb < VERB_COUNT; verb++)
        if (rule->verbs[verb]) {
            buffer_append_string(out, separator);
            buffer_append_string(out, word(verb));
            separator = ", ";
        }
}
