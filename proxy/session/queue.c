/* queue.c - a ring that doubles. */
#include "proxy/session/queue.h"

#include "proxy/base/invariant.h"

#include <stdlib.h>
#include <string.h>

void queue_init(struct queue *queue) { *queue = (struct queue){0}; }

void queue_release(struct queue *queue)
{
    INVARIANT(queue->count == 0);
    free(queue->items);
    queue_init(queue);
}

static void grow(struct queue *queue)
{
    size_t capacity = queue->capacity > 0 ? queue->capacity * 2 : 16;
    struct request *items = memory_allocate_zeroed(capacity, sizeof *items);
    for (size_t i = 0; i < queue->count; i++)
        items[i] = *queue_at(queue, i);
    free(queue->items);
    *queue = (struct queue){.items = items, .count = queue->count, .capacity = capacity};
}

struct request *queue_at(struct queue *queue, size_t index)
{
    INVARIANT(index < queue->count);
    return &queue->items[(queue->first + index) % queue->capacity];
}

struct request *queue_push(struct queue *queue)
{
    if (queue->count == queue->capacity)
        grow(queue);
    queue->count++;
    struct request *request = queue_at(queue, queue->count - 1);
    memset(request, 0, sizeof *request);
    return request;
}

struct request *queue_head(struct queue *queue)
{
    return queue->count > 0 ? queue_at(queue, 0) : NULL;
}

struct request queue_pop(struct queue *queue)
{
    struct request head = *queue_at(queue, 0);
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
    return head;
}
