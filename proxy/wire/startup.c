/*
 * startup.c - reads the first packet of a connection.
 *
 * What cannot be a packet is STARTUP_BAD, as early as its length is known: nobody has to be told,
 * and nothing is kept for it. A packet whose inside is wrong has a kind that says which error to
 * send.
 */
#include "proxy/wire/startup.h"

#include "proxy/base/cursor.h"
#include "proxy/base/limits.h"

enum {
    TLS_HANDSHAKE_RECORD = 0x16,
    LENGTH_SIZE = 4,
    REQUEST_SIZE = 8,
    CANCEL_SIZE = 16,
    PROTOCOL_MAJOR = 3,
    CODE_CANCEL = 80877102,
    CODE_SSL = 80877103,
    CODE_GSS = 80877104,
};

static enum startup_kind read_parameters(struct cursor *cursor, struct startup_packet *packet)
{
    for (;;) {
        struct text name = cursor_string(cursor);
        if (name.size == 0)
            return cursor_done(cursor) ? STARTUP_SESSION : STARTUP_BAD_LAYOUT;
        struct text value = cursor_string(cursor);
        if (cursor->failed || packet->parameter_count == STARTUP_PARAMETERS_MAX)
            return STARTUP_BAD_LAYOUT;
        packet->parameters[packet->parameter_count++] = (struct startup_parameter){name, value};
    }
}

static enum startup_kind read_cancel(struct cursor *cursor, struct startup_packet *packet)
{
    if (packet->size != CANCEL_SIZE)
        return STARTUP_BAD;
    packet->cancel_pid = cursor_u32(cursor);
    packet->cancel_secret = cursor_u32(cursor);
    return STARTUP_CANCEL;
}

static enum startup_kind read_body(struct cursor *cursor, struct startup_packet *packet)
{
    packet->version = cursor_u32(cursor);
    switch (packet->version) {
    case CODE_CANCEL:
        return read_cancel(cursor, packet);
    case CODE_SSL:
        return packet->size == REQUEST_SIZE ? STARTUP_SSL_REQUEST : STARTUP_BAD;
    case CODE_GSS:
        return packet->size == REQUEST_SIZE ? STARTUP_GSS_REQUEST : STARTUP_BAD;
    default:
        if (packet->version >> 16 != PROTOCOL_MAJOR)
            return STARTUP_OLD_PROTOCOL;
        return read_parameters(cursor, packet);
    }
}

static enum startup_kind read_packet(struct text bytes, struct startup_packet *packet)
{
    if (bytes.size > 0 && (uint8_t)bytes.bytes[0] == TLS_HANDSHAKE_RECORD)
        return STARTUP_TLS_HELLO;
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    uint32_t length = cursor_u32(&cursor);
    if (cursor.failed)
        return STARTUP_PARTIAL;
    /* The limit is on what follows the length. */
    if (length < REQUEST_SIZE || length > LENGTH_SIZE + LIMIT_STARTUP_BYTES)
        return STARTUP_BAD;
    if (bytes.size < length)
        return STARTUP_PARTIAL;
    packet->size = length;
    struct cursor body = cursor_over(bytes.bytes, length);
    cursor_bytes(&body, LENGTH_SIZE);
    return read_body(&body, packet);
}

void startup_read(struct text bytes, struct startup_packet *packet)
{
    *packet = (struct startup_packet){0};
    packet->kind = read_packet(bytes, packet);
    if (packet->kind == STARTUP_BAD)
        packet->size = 0;
}

struct text startup_parameter(const struct startup_packet *packet, const char *name)
{
    for (size_t i = packet->parameter_count; i > 0; i--)
        if (text_is(packet->parameters[i - 1].name, name))
            return packet->parameters[i - 1].value;
    return TEXT("");
}
