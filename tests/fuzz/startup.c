/*
 * startup.c - the first packet, and its options. A session's parameters, written again, are the
 * packet; a shorter piece of it is never taken for something else.
 */
#include "proxy/wire/startup.h"

#include "proxy/base/buffer.h"
#include "proxy/base/invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void append_string(struct buffer *out, struct text string)
{
    buffer_append_text(out, string);
    buffer_append_byte(out, 0);
}

static void check_session(const struct startup_packet *packet, struct text bytes)
{
    struct buffer again;
    buffer_init(&again, bytes.size);
    buffer_append_u32(&again, (uint32_t)packet->size);
    buffer_append_u32(&again, packet->version);
    for (size_t i = 0; i < packet->parameter_count; i++) {
        append_string(&again, packet->parameters[i].name);
        append_string(&again, packet->parameters[i].value);
    }
    buffer_append_byte(&again, 0);
    INVARIANT(!again.overflow);
    INVARIANT(text_equal(buffer_text(&again), (struct text){bytes.bytes, packet->size}));
    buffer_release(&again);
}

static void check_options(struct text options)
{
    enum { SETTINGS_MAX = 16 };
    struct startup_parameter settings[SETTINGS_MAX];
    struct arena arena;
    size_t count;
    arena_init(&arena);
    if (startup_options(&arena, options, settings, SETTINGS_MAX, &count)) {
        INVARIANT(count <= SETTINGS_MAX);
        for (size_t i = 0; i < count; i++)
            INVARIANT(settings[i].name.size > 0 && !text_has_byte(settings[i].name, '=') &&
                      !text_has_byte(settings[i].name, '-'));
    }
    arena_release(&arena);
}

static void check_prefixes(const struct startup_packet *packet, struct text bytes)
{
    static struct startup_packet shorter;
    for (size_t size = 0; size < packet->size && size < 64; size++) {
        startup_read((struct text){bytes.bytes, size}, &shorter);
        INVARIANT(shorter.kind == STARTUP_PARTIAL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct startup_packet packet;
    struct text bytes = {(const char *)data, size};
    startup_read(bytes, &packet);
    INVARIANT(packet.size <= size && packet.size <= 10004);
    check_prefixes(&packet, bytes);
    if (packet.kind == STARTUP_SESSION) {
        check_session(&packet, bytes);
        check_options(startup_parameter(&packet, "options"));
    }
    check_options(bytes);
    return 0;
}
