/* policy_settings.c - the settings of one policy: defaults and pins that its sessions start with. */
#include "proxy/config/policies.h"

#include "parser/builtins.h"
#include "proxy/base/limits.h"
#include "rules/setting_value.h"

enum { VALUE_BYTES_MAX = 1024 };

static bool is_setting_name(struct text name)
{
    for (size_t i = 0; i < name.size; i++) {
        char byte = name.bytes[i];
        if (!((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_' ||
              byte == '.'))
            return false;
    }
    return name.size > 0 && name.size <= 63;
}

static bool check_name(struct reader *reader, const struct node *key, struct text name)
{
    const char *problem = NULL;
    if (!is_setting_name(name))
        problem = "the name of a setting is expected";
    else if (text_is(name, "search_path"))
        problem = "search_path is a key of the policy: search_path: [shop]";
    else if (setting_always_pinned(name))
        problem = "this setting is always pinned and cannot be given";
    if (problem != NULL)
        problem_error(reader->problems, key->place, "\"%.*s\": %s",
                      TEXT_ARGS(text_cut(key->text, 63)), problem);
    else if (!text_has_byte(name, '.') && !builtin_setting(name).known)
        problem_warning(reader->problems, key->place,
                        "PostgreSQL %d has no setting \"%.*s\"; a server that does not know it "
                        "refuses the session",
                        PGWICKET_PG_MAJOR, TEXT_ARGS(name));
    return problem == NULL;
}

static bool read_value(struct reader *reader, const struct node *node, struct setting_rule *setting)
{
    int64_t ms;
    if (node->kind != NODE_SCALAR || node_is_null(node) || node->text.size > VALUE_BYTES_MAX ||
        text_has_byte(node->text, '\0'))
        return field_wrong(reader, node, "a value, {pin: value} or {pin: {attribute: name}}");
    setting->value = arena_text(reader->arena, node->text);
    if (builtin_setting(setting->name).class == SETTING_DOWN_ONLY &&
        !setting_timeout_ms(setting->value, &ms))
        return field_wrong(reader, node, "a time-out, an integer with ms, s, min, h or d");
    return true;
}

static bool read_attribute(struct reader *reader, const struct node *node,
                           struct setting_rule *setting)
{
    static const struct field fields[] = {
        {"attribute", field_name, REQUIRED, offsetof(struct setting_rule, attribute),
         "the name of an attribute", NULL, 0, 0},
    };
    return fields_read(reader, node, "pin", fields, ARRAY_SIZE(fields), setting);
}

static bool field_pin(struct reader *reader, const struct field *field, const struct node *node,
                      void *target)
{
    struct setting_rule *setting = target;
    (void)field;
    setting->pinned = true;
    return node->kind == NODE_MAP ? read_attribute(reader, node, setting)
                                  : read_value(reader, node, setting);
}

static bool read_setting(struct reader *reader, const struct entry *entry,
                         struct setting_rule *setting)
{
    static const struct field fields[] = {
        {"pin", field_pin, REQUIRED, 0, "a value or {attribute: name}", NULL, 0, 0},
    };
    setting->name = setting_lower_case(reader->arena, entry->key.text);
    if (!check_name(reader, &entry->key, setting->name))
        return false;
    return entry->value.kind == NODE_MAP
               ? fields_read(reader, &entry->value, "a setting", fields, ARRAY_SIZE(fields), setting)
               : read_value(reader, &entry->value, setting);
}

static bool is_named_before(const struct setting_rule *settings, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (text_equal(settings[i].name, settings[index].name))
            return true;
    return false;
}

bool read_policy_settings(struct reader *reader, const struct node *node, struct policy *policy,
                          struct policy_places *places)
{
    bool fine = true;
    if (!node_must_be(reader, node, NODE_MAP, "a map of settings: {statement_timeout: 30s}"))
        return false;
    if (node->count > LIMIT_CONFIGURATION_SETTINGS)
        return field_wrong(reader, node, "fewer settings");
    struct setting_rule *settings = arena_array(reader->arena, node->count, sizeof *settings);
    places->settings = arena_array(reader->scratch, node->count, sizeof *places->settings);
    for (size_t i = 0; i < node->count; i++) {
        places->settings[i] = node->entries[i].key.place;
        fine = read_setting(reader, &node->entries[i], &settings[i]) && fine;
        if (is_named_before(settings, i)) {
            problem_error(reader->problems, node->entries[i].key.place,
                          "the setting %.*s stands twice", TEXT_ARGS(settings[i].name));
            fine = false;
        }
    }
    policy->settings = settings;
    policy->setting_count = node->count;
    return fine;
}
