// SPDX-License-Identifier: Apache-2.0
/* For config/ only: checks of values below `[staging]`.  Each gives AL_ERR_BAD_ARGS. */
#ifndef AL_CONFIG_STAGING_H
#define AL_CONFIG_STAGING_H

#include "util/error.h"

/** An identity for commits: "Name <mail>". */
int al_staging_check_author(const char *author, struct al_error *err);

/** The address that GitHub repositories are below: https, or http to this machine. */
int al_staging_check_base_url(const char *address, struct al_error *err);

#endif
