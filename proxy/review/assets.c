/* assets.c - see assets.h. The bytes come from assets.S. */
#include "proxy/review/assets.h"

#include "proxy/base/attributes.h"
#include "proxy/base/digest.h"
#include "proxy/base/invariant.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

extern const char asset_wicket_css[], asset_wicket_css_end[];
extern const char asset_wicket_js[], asset_wicket_js_end[];
extern const char asset_icon_svg[], asset_icon_svg_end[];

enum { ASSETS = 3, VERSION_DIGITS = 8 };

static struct asset assets[ASSETS];
static char paths[ASSETS][64];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add(size_t at, const char *name, const char *type, const char *begin, const char *end)
{
    char hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE];
    assets[at] = (struct asset){name, type, {begin, (size_t)(end - begin)}};
    sha256(begin, assets[at].content.size, digest);
    hex_from_bytes(digest, sizeof digest, hex);
    snprintf(paths[at], sizeof paths[at], "/page/%s?%.*s", name, VERSION_DIGITS, hex);
}

static void add_all(void)
{
    add(0, "wicket.css", "text/css; charset=utf-8", asset_wicket_css, asset_wicket_css_end);
    add(1, "wicket.js", "text/javascript; charset=utf-8", asset_wicket_js, asset_wicket_js_end);
    add(2, "icon.svg", "image/svg+xml", asset_icon_svg, asset_icon_svg_end);
}

void assets_init(void)
{
    pthread_once(&once, add_all);
}

const struct asset *asset_find(struct text name)
{
    for (size_t i = 0; i < ASSETS; i++)
        if (text_is(name, assets[i].name))
            return &assets[i];
    return NULL;
}

const char *asset_path(const char *name)
{
    for (size_t i = 0; i < ASSETS; i++)
        if (strcmp(assets[i].name, name) == 0)
            return paths[i];
    INVARIANT(false && "a file of page/");
    return "";
}
