// SPDX-License-Identifier: Apache-2.0
/* Which keys differ in two readings of the configuration. */
#ifndef AL_CONFIG_KEYS_CHANGED_H
#define AL_CONFIG_KEYS_CHANGED_H

#include "config/config.h"

/**
 * Append the names of the keys whose values differ, in the order of the table.  Grants and rules
 * are left out: their parts have names of their own.
 */
void al_keys_changed(const struct al_config *before, const struct al_config *after,
                     struct al_strv *ret_names);

#endif
