/*
 * document.c - libyaml's events → tree. The first malformed place ends it: after that positions mean
 * nothing. Depth and number of nodes are limited; an alias, which could multiply them, is refused.
 */
#include "proxy/config/document.h"

#include "proxy/base/limits.h"

#include <stdlib.h>
#include <yaml.h>

struct builder {
    struct arena *arena;
    struct problems *problems;
    yaml_parser_t parser;
    size_t nodes;
};

static struct place place_of(yaml_mark_t mark)
{
    return (struct place){mark.line + 1, mark.column + 1};
}

static struct text text_of(struct builder *builder, const yaml_char_t *bytes, size_t size)
{
    return arena_text(builder->arena, (struct text){(const char *)bytes, size});
}

/* What libyaml reads as characters has a mark; what are no characters only an offset. */
static void report_malformed(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    struct place place = place_of(parser->problem_mark);
    if (parser->error == YAML_READER_ERROR) {
        place = (struct place){1, 1};
        for (size_t i = 0; i < parser->problem_offset && i < builder->problems->source.size; i++)
            place = builder->problems->source.bytes[i] == '\n'
                        ? (struct place){place.line + 1, 1}
                        : (struct place){place.line, place.column + 1};
    }
    problem_error(builder->problems, place, "not YAML: %s%s%s",
                  parser->problem != NULL ? parser->problem : "malformed",
                  parser->context != NULL ? " " : "",
                  parser->context != NULL ? parser->context : "");
}

static bool next_event(struct builder *builder, yaml_event_t *event)
{
    if (yaml_parser_parse(&builder->parser, event))
        return true;
    report_malformed(builder);
    return false;
}

static bool refuse(struct builder *builder, const yaml_event_t *event, const char *what)
{
    problem_error(builder->problems, place_of(event->start_mark), "%s", what);
    return false;
}

static bool has_properties(struct builder *builder, const yaml_event_t *event,
                           const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor != NULL)
        (void)refuse(builder, event, "anchors (&name) are not used here: write the value out");
    else if (tag != NULL)
        (void)refuse(builder, event, "tags (!name) are not used here");
    return anchor != NULL || tag != NULL;
}

static bool build(struct builder *builder, const yaml_event_t *event, int depth, struct node *node);

static bool build_list(struct builder *builder, int depth, struct node *node)
{
    struct node *items = NULL;
    size_t capacity = 0;
    while (true) {
        yaml_event_t event;
        if (!next_event(builder, &event))
            return false;
        bool at_end = event.type == YAML_SEQUENCE_END_EVENT;
        bool built = at_end;
        if (!at_end)
            built = build(builder, &event, depth,
                          arena_push(builder->arena, (void **)&items, &node->count, &capacity,
                                     sizeof *items));
        yaml_event_delete(&event);
        node->items = items;
        if (at_end || !built)
            return built;
    }
}

static bool build_key(struct builder *builder, const yaml_event_t *event, struct node *key)
{
    if (event->type != YAML_SCALAR_EVENT && event->type != YAML_ALIAS_EVENT)
        return refuse(builder, event, "a key must be a name");
    if (!build(builder, event, 0, key))
        return false;
    if (key->is_plain && text_is(key->text, "<<"))
        return refuse(builder, event, "merge keys (<<) are not used here: write the values out");
    return true;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *const *left = a, *const *right = b;
    int order = text_compare((*left)->key.text, (*right)->key.text);
    return order != 0 ? order : (*left > *right) - (*left < *right);
}

static void report_duplicates(struct builder *builder, const struct node *map)
{
    const struct entry **sorted = arena_array(builder->arena, map->count, sizeof *sorted);
    for (size_t i = 0; i < map->count; i++)
        sorted[i] = &map->entries[i];
    if (map->count > 1)
        qsort(sorted, map->count, sizeof *sorted, compare_entries);
    for (size_t i = 1; i < map->count; i++)
        if (text_equal(sorted[i - 1]->key.text, sorted[i]->key.text))
            problem_error(builder->problems, sorted[i]->key.place,
                          "the key \"%.*s\" stands twice, first in line %zu",
                          TEXT_ARGS(sorted[i]->key.text), sorted[i - 1]->key.place.line);
}

static bool build_map(struct builder *builder, int depth, struct node *node)
{
    struct entry *entries = NULL;
    size_t capacity = 0;
    bool built = true, at_end = false;
    while (built && !at_end) {
        yaml_event_t event;
        if (!next_event(builder, &event))
            return false;
        at_end = event.type == YAML_MAPPING_END_EVENT;
        struct entry *entry = NULL;
        if (!at_end) {
            entry = arena_push(builder->arena, (void **)&entries, &node->count, &capacity,
                               sizeof *entries);
            built = build_key(builder, &event, &entry->key);
        }
        yaml_event_delete(&event);
        if (entry != NULL && built) {
            if (!next_event(builder, &event))
                return false;
            built = build(builder, &event, depth, &entry->value);
            yaml_event_delete(&event);
        }
        node->entries = entries;
    }
    if (built)
        report_duplicates(builder, node);
    return built;
}

static bool build_scalar(struct builder *builder, const yaml_event_t *event, struct node *node)
{
    /* libyaml gives the tag "!" where it stands in the text, NULL where nothing stands. */
    if (has_properties(builder, event, event->data.scalar.anchor, event->data.scalar.tag))
        return false;
    node->text = text_of(builder, event->data.scalar.value, event->data.scalar.length);
    node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return true;
}

static bool build(struct builder *builder, const yaml_event_t *event, int depth, struct node *node)
{
    node->place = place_of(event->start_mark);
    if (++builder->nodes > LIMIT_CONFIGURATION_NODES)
        return refuse(builder, event, "the file holds too many values");
    if (depth > LIMIT_CONFIGURATION_DEPTH)
        return refuse(builder, event, "the file is nested too deeply");
    if (event->type == YAML_SCALAR_EVENT)
        return build_scalar(builder, event, node);
    if (event->type == YAML_SEQUENCE_START_EVENT) {
        node->kind = NODE_LIST;
        return !has_properties(builder, event, event->data.sequence_start.anchor,
                               event->data.sequence_start.tag) &&
               build_list(builder, depth + 1, node);
    }
    if (event->type == YAML_MAPPING_START_EVENT) {
        node->kind = NODE_MAP;
        return !has_properties(builder, event, event->data.mapping_start.anchor,
                               event->data.mapping_start.tag) &&
               build_map(builder, depth + 1, node);
    }
    return refuse(builder, event, "aliases (*name) are not used here: write the value out");
}

/* The event that begins the one document's root; the events around it carry nothing. */
static bool build_root(struct builder *builder, struct node *root)
{
    bool built = false;
    yaml_event_t event;
    while (next_event(builder, &event)) {
        yaml_event_type_t type = event.type;
        bool fine = true;
        if (type == YAML_DOCUMENT_START_EVENT && built)
            fine = refuse(builder, &event, "only one document may stand in the file");
        else if (type != YAML_STREAM_START_EVENT && type != YAML_STREAM_END_EVENT &&
                 type != YAML_DOCUMENT_START_EVENT && type != YAML_DOCUMENT_END_EVENT)
            fine = built = build(builder, &event, 0, root);
        yaml_event_delete(&event);
        if (!fine)
            return false;
        if (type == YAML_STREAM_END_EVENT)
            return true;
    }
    return false;
}

static struct text without_byte_order_mark(struct text source)
{
    if (text_starts_with(source, "\xEF\xBB\xBF"))
        return (struct text){source.bytes + 3, source.size - 3};
    return source;
}

const struct node *document_parse(struct arena *arena, struct text source,
                                  struct problems *problems)
{
    struct builder builder = {.arena = arena, .problems = problems};
    struct text text = without_byte_order_mark(source);
    struct node *root = arena_allocate(arena, sizeof *root);
    root->place = (struct place){1, 1};
    root->is_plain = true;
    if (source.size > LIMIT_CONFIGURATION_BYTES) {
        problem_error(problems, (struct place){0, 0}, "the file is larger than %d bytes",
                      LIMIT_CONFIGURATION_BYTES);
        return NULL;
    }
    if (!yaml_parser_initialize(&builder.parser)) {
        problem_error(problems, (struct place){0, 0}, "no memory to read the file");
        return NULL;
    }
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)text.bytes, text.size);
    bool built = build_root(&builder, root);
    yaml_parser_delete(&builder.parser);
    return built ? root : NULL;
}

const struct node *node_find(const struct node *map, const char *key)
{
    for (size_t i = 0; map->kind == NODE_MAP && i < map->count; i++)
        if (text_is(map->entries[i].key.text, key))
            return &map->entries[i].value;
    return NULL;
}

bool node_is_null(const struct node *node)
{
    return node->kind == NODE_SCALAR && node->is_plain &&
           (node->text.size == 0 || text_is(node->text, "~") || text_is(node->text, "null") ||
            text_is(node->text, "Null") || text_is(node->text, "NULL"));
}

const char *node_description(const struct node *node)
{
    if (node->kind == NODE_LIST)
        return "a list";
    if (node->kind == NODE_MAP)
        return "a map";
    return node_is_null(node) ? "nothing" : "a text";
}
