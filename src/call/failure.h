// SPDX-License-Identifier: Apache-2.0
/*
 * Failures that say the next step in words of this session.
 *
 * git's message is folded into one line.  The remedy comes from the table of call/remedy.c unless
 * the tool has set one.
 */
#ifndef AL_CALL_FAILURE_H
#define AL_CALL_FAILURE_H

#include "base/error.h"
#include "base/str.h"
#include "call/answer.h"
#include "call/call.h"

/** Set AL_ERR_BAD_ARGS, or AL_ERR_EXECUTION, with a remedy, a string constant. */
#define al_failure_bad_args(err, remedy, ...)                                                      \
    al_error_remedy(al_error_set(err, AL_ERR_BAD_ARGS, __VA_ARGS__), err, remedy)
#define al_failure_set(err, remedy, ...)                                                           \
    al_error_remedy(al_error_set(err, AL_ERR_EXECUTION, __VA_ARGS__), err, remedy)

/*
 * Paths of a call that name nothing, and the paths that may have been meant.
 *
 * A mistyped path is otherwise answered with "No changes", which is true and misleading.
 */

/** The place that a call looks for its paths in. */
struct al_path_scope {
    const char *rev; /**< a revision or a range; NULL: none.  Checked by the caller */
    bool worktree;   /**< the index and the files on disk */
    bool untracked;  /**< files that git does not track are found too */
};

/**
 * Append a line for each path that is not there: "There is no 'src/prase.c' in the working tree;
 * did you mean 'src/parse.c'?".  Of one that is there and not tracked, if that is why it is not
 * found: "'new.c' is not tracked".  Nothing for globs and other pathspecs with magic.
 *
 * A file of a submodule, or of another repository or worktree inside, is said to be in that.
 *
 * Children: none if all paths are on disk and `untracked` is set; else one for the index, and one
 * for each side of `rev`.  A git that fails adds nothing.
 *
 * @return What helps with the last one, a constant; NULL: there is no working tree.
 */
const char *al_missing_paths_add(struct al_call *call, const struct al_strv *paths,
                                 const struct al_path_scope *scope, struct al_str *out);

/**
 * End an answer that is not empty with a line for each path that is neither in `rev` nor on disk.
 * Nothing for a single path, nor where the page is full.
 *
 * Children: none if all paths are on disk.
 */
void al_missing_paths_end(struct al_call *call, const struct al_strv *paths, const char *rev,
                          struct al_pages *pages);

/** Fail because a call about one path found nothing in a revision: AL_ERR_BAD_ARGS with a remedy.
 */
int al_missing_path_fail(struct al_call *call, const char *path, const char *rev,
                         struct al_error *err);

#endif
