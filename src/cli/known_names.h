// SPDX-License-Identifier: Apache-2.0
/* Names of tools and operations that the configuration has, and airlock has not. */
#ifndef AL_CLI_KNOWN_NAMES_H
#define AL_CLI_KNOWN_NAMES_H

#include "config/config.h"
#include "util/error.h"

/**
 * Whether each rule and each grant could ever match: its patterns match a tool of any toolset, and
 * the operation is one of such a tool.  A rule with a slip in it would protect nothing.
 *
 * @return 0, or AL_ERR_BAD_ARGS with the place and the nearest name.
 */
int al_check_known_names(const struct al_config *config, struct al_error *err);

#endif
