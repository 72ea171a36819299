// SPDX-License-Identifier: Apache-2.0
/* `git push`. */
#ifndef AL_GITOPS_TRANSPORT_PUSH_H
#define AL_GITOPS_TRANSPORT_PUSH_H

#include <stdbool.h>

#include "gitops/transport/network.h"

/** What to push. */
struct al_push_options {
    const char *branch; /**< the name there */
    const char *commit; /**< what it is to be: an object id */
    const char *lease;  /**< NULL: only what follows what is there; else what has to be there to be
                             replaced, an object id, "" for nothing at all */
};

/** What became of a push that worked. */
struct al_pushed {
    bool up_to_date, is_new, forced;
    char *range;             /**< "1234567..89abcde", NULL for a new branch */
    struct al_str from_hook; /**< what the other side had to say, safe */
};

#define AL_PUSHED_INIT ((struct al_pushed){ .from_hook = AL_STR_INIT })

void al_pushed_clear(struct al_pushed *pushed);

/** `git push` of one branch to the branch of the same name. */
int al_git_push(struct al_network *network, const struct al_push_options *options,
                const struct al_progress *progress, size_t max_bytes, struct al_run_limits *budget,
                struct al_pushed *ret_pushed, struct al_error *err);

/** What a push of a commit brings and takes away there, as far as known here: commits as excerpts
 * appended to `out`.  `seen` is the commit that the branch was there last, "" when none was. */
int al_git_push_preview(const struct al_repo *repo, const char *commit, const char *seen,
                        bool force, struct al_run_limits *budget, struct al_str *out,
                        struct al_error *err);

/** Let a branch follow the branch of the same name at a remote. */
int al_git_set_upstream(struct al_repo *repo, const char *branch, const char *remote,
                        struct al_run_limits *budget, struct al_error *err);

#endif
