// SPDX-License-Identifier: Apache-2.0
/* Sizes of files for people. */
#ifndef AL_STAGING_SIZE_H
#define AL_STAGING_SIZE_H

#include <stdint.h>

#include "util/str.h"

/** Append a size as "0.8 KB", "1.2 KB" or "3.0 MB"; less than 0.1 KB as "12 B".  A kilobyte has
 * 1024 bytes. */
void al_size_add(struct al_str *out, uint64_t bytes);

#endif
