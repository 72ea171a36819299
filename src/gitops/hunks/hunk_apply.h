// SPDX-License-Identifier: Apache-2.0
/*
 * Apply chosen hunks of a diff: stage them, unstage them, or discard them from the working tree.
 *
 * The patch has git's own header lines and the chosen lines byte for byte; no setting of a
 * repository changes white space in it.  The diff is read again when the hunks are applied, with
 * the write lock held, so every position in the patch is exact.
 *
 * Source: git-apply(1), git-add(1) "EDITING PATCHES".
 */
#ifndef AL_GITOPS_HUNKS_HUNK_APPLY_H
#define AL_GITOPS_HUNKS_HUNK_APPLY_H

#include "gitops/hunks/hunk_list.h"

/** Hunks that were chosen from a list. */
struct al_hunk_choice {
    const struct al_hunk_list *list;
    bool *chosen; /**< one for each item of the list */
    size_t count; /**< how many are chosen */
};

void al_hunk_choice_clear(struct al_hunk_choice *choice);

/**
 * Choose hunks by their ids.  An id given twice counts once.
 *
 * @param ids  As the agent wrote them, upper case accepted.
 * @return 0; AL_ERR_BAD_ARGS "hunk 3fa9c1d2 is not there any more", with the ids that are, when one
 *         is not in the list.
 */
int al_hunks_choose(const struct al_hunk_list *list, const struct al_strv *ids,
                    struct al_hunk_choice *ret_choice, struct al_error *err);

/** Append the paths of the files that have a chosen hunk, relative to the top, in file order. */
void al_hunk_choice_paths(const struct al_hunk_choice *choice, struct al_strv *out);

/**
 * Append the patch of the chosen hunks.
 *
 * @param reverse  The patch is for `git apply -R`: hunks that are not chosen are in its new side.
 */
void al_hunk_choice_patch(const struct al_hunk_choice *choice, bool reverse, struct al_str *out);

/** How hunks are applied. */
enum al_hunk_apply {
    AL_HUNKS_STAGE,   /**< unstaged ones, to the index */
    AL_HUNKS_UNSTAGE, /**< staged ones, out of the index */
    AL_HUNKS_DISCARD, /**< unstaged ones, out of the working tree */
};

/**
 * Apply chosen hunks with `git apply`: all of them or none.
 *
 * @param index  The index file to change; NULL: the repository's own.
 * @return 0, or git's failure; nothing is changed then.
 */
int al_git_apply_hunks(struct al_repo *repo, const struct al_hunk_choice *choice,
                       enum al_hunk_apply how, const char *index, struct al_run_limits *budget,
                       struct al_error *err);

#endif
