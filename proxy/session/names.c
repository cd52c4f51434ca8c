/* names.c - a small hash table; see names.h. */
#include "proxy/session/names.h"

#include "proxy/base/invariant.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 128 };

struct entry {
    struct entry *next;
    void *confirmed;     /* retained, or NULL */
    void *pending;       /* what the newest unanswered message made of the name; retained, or NULL */
    size_t unanswered;   /* messages about this name */
    size_t name_size;
    char name[];
};

struct names {
    const struct names_type *type;
    struct entry *buckets[BUCKETS];
};

struct names *names_new(const struct names_type *type)
{
    struct names *names = memory_allocate_zeroed(1, sizeof *names);
    names->type = type;
    return names;
}

static void set(const struct names *names, void **slot, void *object)
{
    if (object != NULL)
        names->type->retain(object);
    if (*slot != NULL)
        names->type->release(*slot);
    *slot = object;
}

void names_free(struct names *names)
{
    if (names == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct entry *entry = names->buckets[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            set(names, &entry->confirmed, NULL);
            set(names, &entry->pending, NULL);
            free(entry);
        }
    free(names);
}

/* Two names that are one to the server must be one here: else the second would be judged as what the first
 * meant. */
static struct text significant(struct text name)
{
    return name.size > NAME_SIGNIFICANT ? text_front(name, NAME_SIGNIFICANT) : name;
}

static struct entry **bucket_of(struct names *names, struct text name)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (uint8_t)name.bytes[i]) * 16777619u;
    return &names->buckets[hash % BUCKETS];
}

static struct entry *find(struct names *names, struct text name)
{
    name = significant(name);
    struct entry *entry = *bucket_of(names, name);
    while (entry != NULL && !text_equal((struct text){entry->name, entry->name_size}, name))
        entry = entry->next;
    return entry;
}

static struct entry *find_or_add(struct names *names, struct text name)
{
    name = significant(name);
    struct entry *entry = find(names, name);
    if (entry != NULL)
        return entry;
    entry = memory_allocate_zeroed(1, sizeof *entry + name.size);
    entry->name_size = name.size;
    if (name.size > 0)
        memcpy(entry->name, name.bytes, name.size);
    struct entry **bucket = bucket_of(names, name);
    entry->next = *bucket;
    *bucket = entry;
    return entry;
}

static void remove_if_empty(struct names *names, struct text name)
{
    name = significant(name);
    struct entry **link = bucket_of(names, name);
    while (*link != NULL && !text_equal((struct text){(*link)->name, (*link)->name_size}, name))
        link = &(*link)->next;
    struct entry *entry = *link;
    if (entry == NULL || entry->confirmed != NULL || entry->unanswered > 0)
        return;
    *link = entry->next;
    free(entry);
}

void *names_find(struct names *names, struct text name)
{
    struct entry *entry = find(names, name);
    if (entry == NULL)
        return NULL;
    return entry->unanswered > 0 ? entry->pending : entry->confirmed;
}

void names_sent(struct names *names, struct text name, void *object)
{
    struct entry *entry = find_or_add(names, name);
    entry->unanswered++;
    set(names, &entry->pending, object);
}

static void answered(struct names *names, struct entry *entry)
{
    INVARIANT(entry->unanswered > 0);
    entry->unanswered--;
    if (entry->unanswered == 0)
        set(names, &entry->pending, NULL);
}

void names_confirmed(struct names *names, struct text name, void *object)
{
    struct entry *entry = find(names, name);
    INVARIANT(entry != NULL);
    set(names, &entry->confirmed, object);
    answered(names, entry);
    remove_if_empty(names, name);
}

void names_failed(struct names *names, struct text name, bool lost)
{
    struct entry *entry = find(names, name);
    INVARIANT(entry != NULL);
    if (lost)
        set(names, &entry->confirmed, NULL);
    answered(names, entry);
    remove_if_empty(names, name);
}

void names_forget(struct names *names, struct text name)
{
    struct entry *entry = find(names, name);
    if (entry == NULL)
        return;
    set(names, &entry->confirmed, NULL);
    remove_if_empty(names, name);
}

void names_drop(struct names *names, bool (*keep)(const void *object))
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct entry **link = &names->buckets[i]; *link != NULL;) {
            struct entry *entry = *link;
            if (entry->confirmed != NULL && (keep == NULL || !keep(entry->confirmed)))
                set(names, &entry->confirmed, NULL);
            if (entry->confirmed == NULL && entry->unanswered == 0) {
                *link = entry->next;
                free(entry);
            } else {
                link = &entry->next;
            }
        }
}

size_t names_count(const struct names *names)
{
    size_t count = 0;
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct entry *entry = names->buckets[i]; entry != NULL; entry = entry->next)
            count += entry->name_size > 0 &&
                     (entry->unanswered > 0 ? entry->pending != NULL : entry->confirmed != NULL);
    return count;
}
