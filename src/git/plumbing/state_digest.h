// SPDX-License-Identifier: Apache-2.0
/* The state that an approval is bound to, as one digest. */
#ifndef AL_GIT_PLUMBING_STATE_DIGEST_H
#define AL_GIT_PLUMBING_STATE_DIGEST_H

#include "git/repo/repo.h"

/**
 * Compute the digest, in hex, of everything that decides what an approved call would do: HEAD, the
 * operation in progress, the whole index (a shared one too), the configuration, attributes, and the
 * stat of the paths.
 *
 * @param paths    An agent's words that al_repo_pathspec() accepted, or NULL.
 * @param objects  More bytes to bind: the ids that the words of the call were resolved to; or NULL.
 * @return 0, or AL_ERR_EXECUTION naming a file that cannot be read.
 */
int al_repo_state_digest(const struct al_repo *repo, const struct al_strv *paths,
                         const struct al_str *objects, char ret_hex[65], struct al_error *err);

#endif
