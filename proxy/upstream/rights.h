/* rights.h - reads what the login of an upstream may do there. Blocking, like catalog_load.h. */
#ifndef PGWICKET_UPSTREAM_RIGHTS_H
#define PGWICKET_UPSTREAM_RIGHTS_H

#include "parser/rights.h"
#include "proxy/upstream/catalog_load.h"

/* Everything in `arena`. False if the server cannot be asked; `problem` says why. */
MUST_USE bool catalog_loader_rights(struct catalog_loader *loader, struct arena *arena,
                                    struct rights *rights, char *problem, size_t problem_size);

#endif
