/* templates.h - the section `templates`. Internal to config/. */
#ifndef PGWICKET_CONFIG_TEMPLATES_H
#define PGWICKET_CONFIG_TEMPLATES_H

#include "proxy/config/fields.h"
#include "rules/template.h"

struct templates_section {
    struct template *templates;
    struct place *places; /* of each name, in scratch */
    size_t count;
};

/* Target: struct templates_section. */
field_function field_templates;

/* A list of parameters, in the order of $1, $2, …; target: struct template. (template_parameters.c) */
field_function field_parameters;

/* A name that can be written in SQL and in JSON as it is; otherwise reported. */
bool template_name_is_fine(struct reader *reader, const struct node *name);

#endif
