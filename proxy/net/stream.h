/*
 * stream.h - one non-blocking connection, plain or TLS: what was read and not used yet, what is still to
 * be written. The only place that reads and writes agents' sockets and, after login, the upstream's.
 */
#ifndef PGWICKET_NET_STREAM_H
#define PGWICKET_NET_STREAM_H

#include "proxy/base/attributes.h"
#include "proxy/base/text.h"

#include <openssl/ssl.h>

/* Bytes with a used-up front; grows to what is put in, shrinks when it is empty. */
struct span {
    uint8_t *bytes;
    size_t start, end, capacity;
};

struct text span_text(const struct span *span);
void span_append(struct span *span, struct text bytes);
void span_use(struct span *span, size_t size);
void span_release(struct span *span);

enum stream_state {
    STREAM_OPEN = 0,
    STREAM_ENDED,  /* the peer closed its side; what was read before is still there */
    STREAM_BROKEN, /* an error: nothing can be written any more */
};

struct stream {
    int fd;    /* -1: none */
    SSL *ssl;  /* NULL: plain */
    bool owns; /* closes fd and frees ssl; the upstream's belong to libpq */
    enum stream_state state;
    struct span in;
    struct span out;
    uint64_t read_total;    /* bytes, in its life */
    uint64_t written_total;
    bool read_wants_write; /* TLS: the next read needs the socket to be writable, and vice versa */
    bool write_wants_read;
};

void stream_init(struct stream *stream, int fd, SSL *ssl, bool owns);
void stream_close(struct stream *stream);

/* Reads what is there, up to about `size_max` bytes in `in`. True if something was read. */
bool stream_read(struct stream *stream, size_t size_max);

/* Writes what can be written of `out`. */
void stream_write(struct stream *stream);

/* TLS has decrypted bytes that no socket event will announce. */
bool stream_has_pending(const struct stream *stream);

bool stream_drained(const struct stream *stream); /* nothing left to write */

#endif
