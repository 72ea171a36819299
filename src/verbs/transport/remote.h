// SPDX-License-Identifier: Apache-2.0
/* `git remote`.  The caller has checked names with al_arg_check_branch(). */
#ifndef AL_VERBS_TRANSPORT_REMOTE_H
#define AL_VERBS_TRANSPORT_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "git/command.h"
#include "git/repo/repo.h"
#include "verbs/transport/network.h"

/** A change of a remote: it is removed, unless one of the last two is given. */
struct al_remote_change {
    const char *name;
    const char *url;      /**< it is added */
    const char *new_name; /**< it is renamed */
};

/** `git remote add`, `remove` or `rename`.  Adding refuses an address that could never be used.
 * AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR when a name does not exist or is taken. */
int al_git_remote_change(struct al_repo *repo, const struct al_remote_change *change,
                         struct al_error *err);

/** Options of a fetch. */
struct al_fetch_options {
    const char *branch; /**< NULL: the remote's refspecs */
    bool tags;          /**< every tag too, not only those of commits that come */
    bool prune;         /**< delete references whose branch is gone at the remote */
};

/** The words of a shell, but for the remote. */
struct al_fetch_words {
    const char *command; /**< "fetch" or "ls-remote" */
    struct al_strv options, refs;
    bool is_update; /**< `git remote update`, which says of each remote that it is fetched */
    const struct al_git_shell *shell; /**< borrowed */
};

/** Run them. */
int al_git_fetch_words(struct al_network *network, const struct al_fetch_words *words,
                       struct al_network_shown *shown, struct al_error *err);

/** `git clone` into a directory in the current one; `network` is of an empty repository.  Returns
 * as al_network_run(). */
int al_git_clone_words(struct al_network *network, const struct al_strv *options, const char *dir,
                       struct al_network_shown *shown, struct al_error *err);

/** Run `git fetch`.  *ret_text gets a line for each reference that changed, "" when none did. */
int al_git_fetch(struct al_network *network, const struct al_fetch_options *options,
                 const struct al_progress *progress, size_t max_bytes, struct al_str *ret_text,
                 struct al_error *err);

/** Count the files that differ between a commit and HEAD; all files of HEAD if `before` is "". */
int al_git_count_updated(const struct al_repo *repo, const char *before, uint64_t *ret_count,
                         struct al_error *err);

#endif
