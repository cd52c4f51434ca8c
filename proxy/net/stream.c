/* stream.c - see stream.h. */
#include "proxy/net/stream.h"

#include "proxy/base/invariant.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 32 * 1024, KEEP_CAPACITY = 16 * 1024 };

struct text span_text(const struct span *span)
{
    return (struct text){span->bytes != NULL ? (const char *)span->bytes + span->start : "",
                         span->end - span->start};
}

/* Room for `size` bytes behind the end. */
static void make_room(struct span *span, size_t size)
{
    size_t used = span->end - span->start;
    if (span->capacity - span->end >= size && span->bytes != NULL)
        return;
    if (span->start > 0) {
        memmove(span->bytes, span->bytes + span->start, used);
        span->start = 0;
        span->end = used;
    }
    if (span->capacity - span->end >= size && span->bytes != NULL)
        return;
    size_t capacity = span->capacity > 0 ? span->capacity : KEEP_CAPACITY;
    while (capacity - used < size)
        capacity *= 2;
    span->bytes = memory_resize(span->bytes, capacity);
    span->capacity = capacity;
}

void span_append(struct span *span, struct text bytes)
{
    if (bytes.size == 0)
        return;
    make_room(span, bytes.size);
    memcpy(span->bytes + span->end, bytes.bytes, bytes.size);
    span->end += bytes.size;
}

void span_use(struct span *span, size_t size)
{
    INVARIANT(size <= span->end - span->start);
    span->start += size;
    if (span->start < span->end)
        return;
    span->start = span->end = 0;
    if (span->capacity > KEEP_CAPACITY)
        span_release(span);
}

void span_release(struct span *span)
{
    free(span->bytes);
    *span = (struct span){0};
}

void stream_init(struct stream *stream, int fd, SSL *ssl, bool owns)
{
    *stream = (struct stream){.fd = fd, .ssl = ssl, .owns = owns};
}

void stream_close(struct stream *stream)
{
    if (stream->owns && stream->ssl != NULL) {
        if (stream->state != STREAM_BROKEN) {
            ERR_clear_error();
            SSL_shutdown(stream->ssl);
        }
        SSL_free(stream->ssl);
    }
    if (stream->owns && stream->fd >= 0)
        close(stream->fd);
    span_release(&stream->in);
    span_release(&stream->out);
    stream_init(stream, -1, NULL, false);
}

/* Bytes read, 0 when there are none now; sets the state. */
static size_t read_tls(struct stream *stream, void *bytes, size_t size)
{
    size_t got = 0;
    ERR_clear_error();
    stream->read_wants_write = false;
    if (SSL_read_ex(stream->ssl, bytes, size, &got) == 1)
        return got;
    switch (SSL_get_error(stream->ssl, 0)) {
    case SSL_ERROR_WANT_READ:
        break;
    case SSL_ERROR_WANT_WRITE:
        stream->read_wants_write = true;
        break;
    case SSL_ERROR_ZERO_RETURN:
        stream->state = STREAM_ENDED;
        break;
    default:
        stream->state = STREAM_BROKEN;
        break;
    }
    return 0;
}

static size_t read_plain(struct stream *stream, void *bytes, size_t size)
{
    ssize_t got = recv(stream->fd, bytes, size, 0);
    if (got > 0)
        return (size_t)got;
    if (got == 0)
        stream->state = STREAM_ENDED;
    else if (errno != EAGAIN && errno != EINTR)
        stream->state = STREAM_BROKEN;
    return 0;
}

bool stream_read(struct stream *stream, size_t size_max)
{
    bool any = false;
    while (stream->state == STREAM_OPEN && stream->fd >= 0) {
        size_t held = stream->in.end - stream->in.start;
        if (held >= size_max)
            break;
        make_room(&stream->in, READ_SIZE);
        size_t room = stream->in.capacity - stream->in.end;
        uint8_t *at = stream->in.bytes + stream->in.end;
        size_t got = stream->ssl != NULL ? read_tls(stream, at, room) : read_plain(stream, at, room);
        if (got == 0)
            break;
        stream->in.end += got;
        stream->read_total += got;
        any = true;
        if (got < room && stream->ssl == NULL)
            break; /* the socket is empty, most likely: spare the call that says so */
    }
    if (stream->in.start == stream->in.end)
        stream->in.start = stream->in.end = 0;
    return any;
}

static size_t write_tls(struct stream *stream, struct text bytes)
{
    size_t written = 0;
    ERR_clear_error();
    stream->write_wants_read = false;
    if (SSL_write_ex(stream->ssl, bytes.bytes, bytes.size, &written) == 1)
        return written;
    int error = SSL_get_error(stream->ssl, 0);
    stream->write_wants_read = error == SSL_ERROR_WANT_READ;
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
        stream->state = STREAM_BROKEN;
    return 0;
}

static size_t write_plain(struct stream *stream, struct text bytes)
{
    ssize_t written = send(stream->fd, bytes.bytes, bytes.size, MSG_NOSIGNAL);
    if (written >= 0)
        return (size_t)written;
    if (errno != EAGAIN && errno != EINTR)
        stream->state = STREAM_BROKEN;
    return 0;
}

void stream_write(struct stream *stream)
{
    while (stream->fd >= 0 && stream->state != STREAM_BROKEN && !stream_drained(stream)) {
        struct text bytes = span_text(&stream->out);
        size_t written =
            stream->ssl != NULL ? write_tls(stream, bytes) : write_plain(stream, bytes);
        if (written == 0)
            break;
        span_use(&stream->out, written);
        stream->written_total += written;
    }
    if (stream->state == STREAM_BROKEN)
        span_release(&stream->out);
}

bool stream_has_pending(const struct stream *stream)
{
    return stream->ssl != NULL && stream->state == STREAM_OPEN && SSL_pending(stream->ssl) > 0;
}

bool stream_drained(const struct stream *stream) { return stream->out.start == stream->out.end; }
