/*
 * assets.h - the files of page/, which are part of the program. Immutable.
 */
#ifndef PGWICKET_REVIEW_ASSETS_H
#define PGWICKET_REVIEW_ASSETS_H

#include "proxy/base/text.h"

struct asset {
    const char *name;
    const char *type; /* Content-Type */
    struct text content;
};

/* NULL: there is none of this name. */
const struct asset *asset_find(struct text name);

/* Where a page finds it: "/page/wicket.css?1f0c4b2a", other for other content, so that it may be
 * kept for as long as a browser likes. */
const char *asset_path(const char *name);

/* Once, before the first use. */
void assets_init(void);

/* The sign of the program, as markup. */
#define PAGE_GATE                                                                                  \
    "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M3 21V9a9 6 0 0 1 18 0v12M3 "       \
    "21h18M3 13h18\"/><path class=\"door\" d=\"M9.5 21v-6a2.5 2.5 0 0 1 5 0v6z\"/></svg>"

#endif
