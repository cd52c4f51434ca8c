/* http.c - what the review listener reads by itself: the first byte says which part the rest is. */
#include "proxy/review/http.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/review/body.h"
#include "proxy/review/form.h"
#include "proxy/review/html.h"
#include "proxy/review/sample.h"
#include "proxy/review/site.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_query(struct arena *arena, struct text query)
{
    struct text name;
    struct text value;
    size_t pairs = 0;
    while (query_next(arena, &query, &name, &value) > 0)
        INVARIANT(pairs++ < 65536);
}

static void read_credentials(struct text header)
{
    struct credentials credentials;
    if (credentials_parse(header, &credentials))
        INVARIANT(credentials.name.size > 0 && credentials.password.size > 0 &&
                  credentials.name.size + credentials.password.size < CREDENTIALS_MAX);
    credentials_wipe(&credentials);
}

/* Two hostile texts, as Host or Origin and as the connection's own address. */
static void ask_site(struct arena *arena, struct text text)
{
    const struct configuration configuration = {
        .review = {.host = TEXT("127.0.0.1"), .loopback = true}, .review_url = text};
    struct site site;
    site_init(&site, arena, &configuration, 6480);
    INVARIANT(site_has_host(&site, TEXT("localhost:6480"), text));
    (void)site_has_origin(&site, text, text);
    INVARIANT(site_refuses_write(&site, TEXT("null"), TEXT(""), text) != NULL);
}

static void read_form(struct arena *arena, struct text text)
{
    struct form form;
    if (form_parse(arena, text, &form) == NULL)
        INVARIANT(form.count <= FORM_FIELDS_MAX);
    struct text cookie = cookie_value(text, "pgwicket");
    INVARIANT(!text_has_byte(cookie, ';'));
    if (is_local_path(text))
        INVARIANT(text.bytes[0] == '/' && !text_has_byte(text, '\n'));
}

/* A hostile text leaves neither its tag nor its attribute. */
static void write_markup(struct text text)
{
    struct buffer out;
    int quotes = 0;
    int tags = 0;
    buffer_init(&out, LIMIT_HTTP_ANSWER_BYTES);
    html(&out, "<p title=\"%.*s\">", TEXT_ARGS(text));
    for (size_t i = 0; i < out.size; i++) {
        quotes += out.bytes[i] == '"';
        tags += out.bytes[i] == '<';
    }
    INVARIANT(quotes == 2 && tags == 1);
    buffer_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 65536)
        return 0;
    const struct text text = {(const char *)data + 1, size - 1};
    struct arena arena;
    arena_init(&arena);
    struct decision_body decision;
    struct text argument;
    int64_t number;
    switch (data[0] % 9) {
    case 0:
        read_credentials(text);
        break;
    case 1:
        if (path_matches(text, "/api/holds/:/release", &argument))
            INVARIANT(argument.size > 0 && !text_has_byte(argument, '/'));
        if (number_parse(text, &number))
            INVARIANT(number > 0);
        break;
    case 2:
        read_query(&arena, text);
        break;
    case 3:
        if (decision_body_parse(&arena, text, true, &decision) == NULL)
            INVARIANT(decision.reason.size > 0);
        break;
    case 4:
        (void)is_json_object(text);
        (void)content_type_is_json(text);
        break;
    case 5:
        ask_site(&arena, text);
        break;
    case 6:
        read_form(&arena, text);
        break;
    case 7:
        write_markup(text);
        break;
    case 8:
        (void)sample_read(&arena, text);
        break;
    }
    arena_release(&arena);
    return 0;
}
