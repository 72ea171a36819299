// SPDX-License-Identifier: Apache-2.0
/* The base that was read last, so that a status does not start git for it. */
#ifndef AL_STAGING_BASE_CACHE_H
#define AL_STAGING_BASE_CACHE_H

#include <stdbool.h>

#include "staging/base.h"
#include "staging/store.h"
#include "util/fs.h"

void al_base_cache_free(struct al_base_cache *cache);

/** Copy the remembered base if it was read from this version of sandboxes/<key>.json. */
bool al_base_cache_get(struct al_staging *staging, const char *key, const struct al_file_id *id,
                       struct al_base *ret_base);

/** Remember a base that was read from this version of the file. */
void al_base_cache_set(struct al_staging *staging, const char *key, const struct al_file_id *id,
                       const struct al_base *base);

#endif
