// SPDX-License-Identifier: Apache-2.0
/* Names of repositories on GitHub, and their addresses. */
#ifndef AL_GUARD_GITHUB_H
#define AL_GUARD_GITHUB_H

#include <stdbool.h>

#include "guard/url.h"
#include "util/error.h"

/** The base URL when none is configured. */
#define AL_GITHUB_BASE_URL "https://github.com"

/**
 * Check "owner/name" by GitHub's rules for both: letters, digits and '-' (an owner; '_' for managed
 * users), also '_' and '.' (a name).  No name is "." or "..", and none begins with '-' or ends in
 * ".git".
 *
 * @param param  The parameter, for the message: "target.repo".
 * @return 0, or AL_ERR_BAD_ARGS.
 */
int al_github_check_repo(const char *param, const char *repo, struct al_error *err);

/** The address of a checked repository: "https://github.com/owner/name.git".  `base` may end with
 * '/'.  Caller frees. */
char *al_github_address(const char *base, const char *repo);

/** Test whether a token may be sent to this address: over https, or to this machine. */
bool al_github_is_safe(const struct al_url *url);

#endif
