/*
 * listen.c - where pgwicket listens, and under which TLS.
 *
 * An address that other machines can reach without TLS is an error: passwords and rows would travel
 * in the clear.
 */
#include "proxy/config/listen.h"

#include "proxy/base/limits.h"
#include "proxy/base/url.h"

#define PORT_OF_POSTGRESQL "5432"

static bool is_port(struct text port)
{
    int64_t number;
    return text_to_int64(port, &number) && number >= 0 && number <= 65535 && port.size <= 5;
}

static bool is_host_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '.' || byte == '-' || byte == ':' ||
           byte == '%' || byte == '_';
}

static bool is_host(struct text host)
{
    for (size_t i = 0; i < host.size; i++)
        if (!is_host_byte(host.bytes[i]))
            return false;
    return host.size > 0 && host.size <= 253;
}

static size_t last_colon(struct text source)
{
    size_t at = source.size;
    while (at > 0 && source.bytes[at - 1] != ':')
        at--;
    return at;
}

static bool parse_unix(struct arena *arena, struct text rest, struct listen_address *address)
{
    size_t colon = last_colon(rest);
    struct text folder = rest, port = TEXT(PORT_OF_POSTGRESQL);
    if (colon > 0) {
        folder = (struct text){rest.bytes, colon - 1};
        port = (struct text){rest.bytes + colon, rest.size - colon};
    }
    address->is_unix = address->loopback = true;
    address->folder = arena_text(arena, folder);
    address->port = arena_text(arena, port);
    return folder.size > 0 && folder.bytes[0] == '/' && folder.size <= 80 && is_port(port);
}

bool listen_address_parse(struct arena *arena, struct text source, struct listen_address *address)
{
    *address = (struct listen_address){.source = arena_text(arena, source)};
    if (text_starts_with(source, "unix:"))
        return parse_unix(arena, (struct text){source.bytes + 5, source.size - 5}, address);
    size_t colon = last_colon(source);
    if (colon < 2)
        return false;
    struct text host = {source.bytes, colon - 1};
    struct text port = {source.bytes + colon, source.size - colon};
    bool in_brackets = host.size >= 2 && host.bytes[0] == '[' && host.bytes[host.size - 1] == ']';
    if (in_brackets)
        host = (struct text){host.bytes + 1, host.size - 2};
    address->host = arena_text(arena, host);
    address->port = arena_text(arena, port);
    address->loopback = host_is_loopback(host);
    return is_host(host) && is_port(port) && in_brackets == text_has_byte(host, ':');
}

static bool read_address(struct reader *reader, const struct node *node,
                         struct listener_section *section, size_t index)
{
    section->places[index] = node->place;
    if (node->kind == NODE_SCALAR &&
        listen_address_parse(reader->arena, node->text, &section->addresses[index]))
        return true;
    return field_wrong(reader, node, "an address: host:port, [v6]:port or unix:/folder");
}

static bool field_addresses(struct reader *reader, const struct field *field,
                            const struct node *node, void *target)
{
    struct listener_section *section = target;
    bool fine = true;
    section->count = node->kind == NODE_LIST ? node->count : 1;
    section->addresses =
        arena_array(reader->arena, section->count, sizeof *section->addresses);
    section->places = arena_array(reader->scratch, section->count, sizeof *section->places);
    if (node->kind != NODE_LIST)
        return read_address(reader, node, section, 0);
    for (size_t i = 0; i < node->count; i++)
        fine = read_address(reader, &node->items[i], section, i) && fine;
    return node->count > 0 ? fine : field_wrong(reader, node, field->expected);
}

static bool field_one_address(struct reader *reader, const struct field *field,
                              const struct node *node, void *target)
{
    if (node->kind == NODE_LIST)
        return field_wrong(reader, node, field->expected);
    return field_addresses(reader, field, node, target);
}

static const char *const tls_modes[] = {
    [TLS_DISABLE] = "disable", [TLS_PREFER] = "prefer", [TLS_REQUIRE] = "require", NULL};

struct tls_keys {
    struct text certificate, key, client_ca;
    int mode;
};

static bool field_tls(struct reader *reader, const struct field *field, const struct node *node,
                      void *target)
{
    static const struct field fields[] = {
        {"certificate", field_path, OPTIONAL, offsetof(struct tls_keys, certificate), "a path", 0, 0, 0},
        {"key", field_path, OPTIONAL, offsetof(struct tls_keys, key), "a path", 0, 0, 0},
        {"client_ca", field_path, OPTIONAL, offsetof(struct tls_keys, client_ca), "a path", 0, 0, 0},
        {"mode", field_choice, OPTIONAL, offsetof(struct tls_keys, mode), NULL, tls_modes, 0, 0},
    };
    struct tls_keys keys = {.mode = TLS_REQUIRE};
    struct tls_settings *tls = target;
    if (!fields_read(reader, node, field->key, fields, ARRAY_SIZE(fields), &keys))
        return false;
    *tls = (struct tls_settings){
        .given = true,
        .certificate = keys.certificate,
        .key = keys.key,
        .client_ca = keys.client_ca,
        .mode = (enum tls_mode)keys.mode,
    };
    if (keys.mode == TLS_DISABLE || (keys.certificate.size > 0 && keys.key.size > 0))
        return true;
    problem_error(reader->problems, node->place, "tls needs a certificate and a key");
    return false;
}

/* A part of the file that is missing is reported where it is missed; here only what is there. */
static bool check_reach(struct reader *reader, const struct listener_section *section)
{
    bool fine = true;
    for (size_t i = 0; i < section->count; i++)
        if (!section->addresses[i].loopback &&
            !(section->tls.given && section->tls.mode == TLS_REQUIRE)) {
            problem_error(reader->problems, section->places[i],
                          "%.*s can be reached from other machines, so it needs tls with a "
                          "certificate, a key and mode: require",
                          TEXT_ARGS(section->addresses[i].source));
            fine = false;
        }
    return fine;
}

bool field_listen(struct reader *reader, const struct field *field, const struct node *node,
                  void *target)
{
    static const struct field fields[] = {
        {"address", field_addresses, REQUIRED, 0, "host:port, [v6]:port, unix:/folder, or a list", 0,
         0, 0},
        {"tls", field_tls, OPTIONAL, offsetof(struct listener_section, tls), NULL, 0, 0, 0},
        {"login_timeout", field_duration, OPTIONAL,
         offsetof(struct listener_section, login_timeout_us), NULL, 0, 1000000, 600 * 1000000LL},
    };
    struct listener_section *section = target;
    section->place = node->place;
    return fields_read(reader, node, field->key, fields, ARRAY_SIZE(fields), section) &&
           check_reach(reader, section);
}

static bool field_url(struct reader *reader, const struct field *field, const struct node *node,
                      void *target)
{
    struct text *url = target;
    struct url parts;
    if (!field_text(reader, field, node, url))
        return false;
    if (url->size <= LIMIT_URL_BYTES && url_parse(*url, &parts))
        return true;
    return field_wrong(reader, node, field->expected);
}

/* Headers that say something else, and so must not say who asks. */
static bool is_header_name(struct text name)
{
    static const char *const taken[] = {"Host",   "Authorization",  "Cookie",        "Content-Type",
                                        "Origin", "Content-Length", "Sec-Fetch-Site"};
    for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
        if (text_is_ignoring_case(name, taken[i]))
            return false;
    for (size_t i = 0; i < name.size; i++)
        if (!is_host_byte(name.bytes[i]) || name.bytes[i] == ':' || name.bytes[i] == '%')
            return false;
    return name.size > 0;
}

static bool field_header_name(struct reader *reader, const struct field *field,
                              const struct node *node, void *target)
{
    struct text *name = target;
    if (!field_text(reader, field, node, name))
        return false;
    return is_header_name(*name) || field_wrong(reader, node, field->expected);
}

static bool field_ranges(struct reader *reader, const struct field *field, const struct node *node,
                         void *target)
{
    struct trusted_header *trusted = (struct trusted_header *)target;
    const struct node *items = node->kind == NODE_LIST ? node->items : node;
    size_t count = node->kind == NODE_LIST ? node->count : 1;
    struct address_range *ranges = arena_array(reader->arena, count, sizeof *ranges);
    bool fine = true;
    for (size_t i = 0; i < count; i++)
        if (items[i].kind != NODE_SCALAR || !address_range_parse(items[i].text, &ranges[i]))
            fine = field_wrong(reader, &items[i], field->expected);
    trusted->from = ranges;
    trusted->from_count = count;
    return count > 0 ? fine : field_wrong(reader, node, field->expected);
}

static bool field_trusted_header(struct reader *reader, const struct field *field,
                                 const struct node *node, void *target)
{
    static const struct field fields[] = {
        {"name", field_header_name, REQUIRED, offsetof(struct trusted_header, name),
         "the name of a header", 0, 0, 0},
        {"from", field_ranges, REQUIRED, 0,
         "the proxy's address or range, 10.0.0.5 or 10.0.0.0/24, or a list", 0, 0, 0},
    };
    return fields_read(reader, node, field->key, fields, ARRAY_SIZE(fields), target);
}

bool field_review(struct reader *reader, const struct field *field, const struct node *node,
                  void *target)
{
    static const struct field fields[] = {
        {"address", field_one_address, REQUIRED, 0, "one address: host:port, [v6]:port", 0, 0, 0},
        {"tls", field_tls, OPTIONAL, offsetof(struct listener_section, tls), NULL, 0, 0, 0},
        {"url", field_url, OPTIONAL, offsetof(struct listener_section, url),
         "a URL that begins with http:// or https://", 0, 0, 0},
        {"trusted_header", field_trusted_header, OPTIONAL,
         offsetof(struct listener_section, trusted), "a map of name and from", 0, 0, 0},
    };
    struct listener_section *section = target;
    section->place = node->place;
    return fields_read(reader, node, field->key, fields, ARRAY_SIZE(fields), section) &&
           check_reach(reader, section);
}
