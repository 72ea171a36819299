// SPDX-License-Identifier: Apache-2.0
/* `git push`. */
#ifndef AL_VERBS_TRANSPORT_PUSH_H
#define AL_VERBS_TRANSPORT_PUSH_H

#include <stdbool.h>

#include "verbs/transport/network.h"

/** Options of a push. */
struct al_push_options {
    const char *branch; /**< the branch at the remote */
    bool is_tag;        /**< `branch` is a tag's name, and `commit` what it leads to */
    const char *commit; /**< the commit to push, an object id */
    const char *lease;  /**< NULL: fast-forward only; else the object id that the remote's branch
                           must have to be replaced (--force-with-lease), "" for no branch */
    bool deletes;       /**< delete the branch there; `commit` is not used, `lease` as above */
    bool tags;          /**< push every tag as well */
    bool looks;         /**< change nothing: say what a push would do */
    /** A shell gets git's output, with these options of its own; a git that fails is a success
     * then, and nothing is known of what was pushed.  NULL: airlock reads the output. */
    struct al_network_shown *shown;
    const struct al_strv *words;
};

/** The result of a successful push. */
struct al_pushed {
    bool up_to_date, is_new, forced;
    bool is_rejected;        /**< also set when the push failed: git here, git there or a hook there
                                refused it, and nothing changed */
    bool is_stale;           /**< as is_rejected: the remote's branch was not what the lease says */
    bool is_cut;             /**< there was more output than max_bytes: `tags` may lack some */
    struct al_strv tags;     /**< tags that were not there, full names */
    char *range;             /**< "1234567..89abcde", NULL for a new branch */
    struct al_str from_hook; /**< output of the other side's hooks, safe */
};

#define AL_PUSHED_INIT ((struct al_pushed){ .tags = AL_STRV_INIT, .from_hook = AL_STR_INIT })

void al_pushed_clear(struct al_pushed *pushed);

/** Run `git push` of a commit to one branch. */
int al_git_push(struct al_network *network, const struct al_push_options *options,
                const struct al_progress *progress, size_t max_bytes, struct al_run_limits *budget,
                struct al_pushed *ret_pushed, struct al_error *err);

/** Append the commits that a push would add and remove at the remote, as excerpts, as far as known
 * locally.  `seen` is the last known commit of the remote's branch, "" when there was none. */
int al_git_push_preview(const struct al_repo *repo, const char *commit, const char *seen,
                        bool force, struct al_run_limits *budget, struct al_str *out,
                        struct al_error *err);

/** Configure the branch of the same name at a remote as a branch's upstream. */
int al_git_set_upstream(struct al_repo *repo, const char *branch, const char *remote,
                        struct al_run_limits *budget, struct al_error *err);

/** The same with git's words in a shell. */
int al_git_set_upstream_shown(struct al_repo *repo, const char *branch,
                              const struct al_remote *remote, const struct al_git_shell *shell,
                              bool is_quiet, struct al_run_limits *budget, struct al_error *err);

#endif
