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
    bool is_behind;          /**< as is_rejected: the remote's branch has commits that are here, but
                                not in what was pushed */
    bool is_cut;             /**< there was more output than max_bytes: `tags` may lack some */
    struct al_strv tags;     /**< tags that were not there, full names */
    char *range;             /**< "1234567..89abcde", NULL for a new branch */
    struct al_str from_hook; /**< output of the other side's hooks, safe */
};

#define AL_PUSHED_INIT ((struct al_pushed){ .tags = AL_STRV_INIT, .from_hook = AL_STR_INIT })

void al_pushed_clear(struct al_pushed *pushed);

/** Run `git push` of a commit to one branch. */
int al_git_push(struct al_network *network, const struct al_push_options *options,
                const struct al_progress *progress, size_t max_bytes, struct al_pushed *ret_pushed,
                struct al_error *err);

/** The references of another repository, as it tells them.  Both lists are sorted. */
struct al_there {
    struct al_strv ids;   /**< of its references, as far as these objects are here as well */
    struct al_strv names; /**< of its references, in full */
};

#define AL_THERE_INIT ((struct al_there){ .ids = AL_STRV_INIT })

void al_there_clear(struct al_there *there);

/** Ask the other end what it has, by `git ls-remote`.  Fails when that is more than an answer may
 * have. */
int al_git_look_there(struct al_network *network, struct al_there *ret_there, struct al_error *err);

/** The contents of a push. */
struct al_push_shown {
    const char *commit;
    const struct al_strv *tags; /**< ids of the tags that go with it */
    const struct al_strv
        *there;           /**< ids of what the other end has; empty: the whole history goes */
    const char *replaced; /**< what a forced push replaces; "": nothing */
};

/** Append the commits that a push would add and remove at the remote, as excerpts.  Remote-tracking
 * branches do not count, since whoever asks for the push could have moved them. */
int al_git_push_preview(const struct al_repo *repo, const struct al_push_shown *push,
                        struct al_str *out, struct al_error *err);

/** Configure the branch of the same name at a remote as a branch's upstream. */
int al_git_set_upstream(struct al_repo *repo, const char *branch, const char *remote,
                        struct al_error *err);

/** The same with git's words in a shell. */
int al_git_set_upstream_shown(struct al_repo *repo, const char *branch,
                              const struct al_remote *remote, const struct al_git_shell *shell,
                              bool is_quiet, struct al_error *err);

#endif
