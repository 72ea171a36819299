// SPDX-License-Identifier: Apache-2.0
/* Run `git diff`, and build its arguments. */
#ifndef AL_GIT_DIFF_DIFF_H
#define AL_GIT_DIFF_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "git/repo/repo.h"
#include "git/run.h"

/** Options of a diff. */
struct al_diff_options {
    bool cached, name_only, stat;
    bool not_deleted;   /**< leave out files that the newer side does not have */
    bool show_controls; /**< make control characters visible, since a user decides by the output */
    int64_t unified;    /**< lines of context, -1: git's default */
    const char *from_ref, *to_ref;
    const struct al_strv *paths; /**< paths as the agent wrote them; NULL: all */
    const char *index; /**< index file to compare with; NULL: the repository's own; borrowed */
};

/** Run `git diff` and capture at most `max_bytes` of its output. A non-zero exit code is an
 * error. */
int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_git_output *ret_output, struct al_error *err);

/** Append all arguments of a diff except the paths: context, safety flags, revisions, "--". */
void al_git_diff_add_options(const struct al_diff_options *options, struct al_strv *argv);

/** Append the arguments as al_git_diff_add_options() does, then the resolved pathspecs. Returns
 * AL_ERR_BAD_ARGS when they do not fit on one command line. */
int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_strv *argv, struct al_error *err);

struct al_hunks;

/**
 * Run `git diff`, keep at most `max_bytes` of the patch, and parse them into `hunks`.  `name_only`
 * and `stat` of the options are ignored.
 *
 * `hunks->files` counts the files of the whole diff: when the patch was cut, a second git child
 * counts them.
 */
int al_git_read_diff(const struct al_repo *repo, const struct al_diff_options *options,
                     size_t max_bytes, struct al_hunks *hunks, struct al_str *ret_text,
                     bool *ret_truncated, struct al_error *err);

/* --- Ci files --- */

/* Files that tell another machine what to run (continuous integration). */

/** Test whether a file of this path, relative to the top, runs in CI. */
bool al_path_runs_in_ci(const char *path);

#endif
