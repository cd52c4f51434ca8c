/*
 * document.h - a YAML document as a tree in which every node knows where it stands.
 *
 * Plain data only: anchors, aliases, merge keys, tags and several documents are errors, as are
 * duplicate keys. Nothing is interpreted: `on` and `yes` are texts, as in YAML 1.2.
 */
#ifndef PGWICKET_CONFIG_DOCUMENT_H
#define PGWICKET_CONFIG_DOCUMENT_H

#include "proxy/config/problems.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    struct place place;
    struct text text; /* scalar */
    bool is_plain;    /* scalar without quotes: may be a number, a boolean, or nothing at all */
    const struct node *items;    /* list */
    const struct entry *entries; /* map, in the order of the file */
    size_t count;                /* items or entries */
};

struct entry {
    struct node key; /* a scalar */
    struct node value;
};

/* The root in `arena`, or NULL with the reason in `problems`. Duplicate keys are reported, and the
 * tree is returned all the same so that more can be found. */
const struct node *document_parse(struct arena *arena, struct text source,
                                  struct problems *problems);

/* The value of a key; NULL if there is none. */
const struct node *node_find(const struct node *map, const char *key);

/* "a text", "a list", "a map", "nothing", for messages. */
const char *node_description(const struct node *node);

/* Written as nothing, ~ or null. */
bool node_is_null(const struct node *node);

#endif
