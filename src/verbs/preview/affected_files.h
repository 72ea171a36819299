// SPDX-License-Identifier: Apache-2.0
/* Files of the working tree that a call would change, overwrite, or can write.  Absolute paths. */
#ifndef AL_VERBS_PREVIEW_AFFECTED_FILES_H
#define AL_VERBS_PREVIEW_AFFECTED_FILES_H

#include <stdbool.h>

#include "base/fs.h"
#include "base/str.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/repo/repo.h"

/** Append the untracked files that are not ignored; `paths`: NULL, all.  Absolute paths. */
int al_git_untracked_files(const struct al_repo *repo, const struct al_strv *paths,
                           struct al_strv *out, struct al_error *err);

/** Append the files that a call which stages or restores `paths` (NULL: all) affects: files that
 * differ from the index and, with `untracked`, untracked ones. Absolute paths, sorted, each
 * once. */
int al_git_affected_files(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                          struct al_strv *out, struct al_error *err);

/** The same for a call that overwrites files. Also appends changed files that the index marks as
 * unchanged (see unseen_changes.h). */
int al_git_overwritten_files(const struct al_repo *repo, const struct al_strv *paths,
                             bool untracked, struct al_strv *out, struct al_error *err);

/** Append the files that git writes when it restores `paths` from the index: those whose stat data
 * differ from the index.  Their content may be equal as git compares it, and its line endings still
 * change.  Files that the index marks as unchanged are not among them. */
int al_git_rewritten_files(const struct al_repo *repo, const struct al_strv *paths,
                           struct al_strv *out, struct al_error *err);

/** Append what the files that the index marks as unchanged would lose, as an excerpt for an
 * approval. Appends nothing when there are none. */
int al_git_unseen_changes_excerpt(const struct al_repo *repo, const struct al_strv *paths,
                                  struct al_str *out, struct al_error *err);

/** Append what a diff shows of work that is lost, and, unless it is of the index alone, what the
 * index does not tell of its paths, below `title`.  Appends nothing when there is none. */
int al_git_loss_excerpt(const struct al_repo *repo, const struct al_diff_options *options,
                        const char *title, struct al_str *out, struct al_error *err);

/** Append the names and sizes of the untracked files, ignored or not, in the places of files that a
 * commit has.
 *
 * @param paths  As of al_git_untracked_overwritten(). */
int al_git_untracked_excerpt(const struct al_repo *repo, const char *commit,
                             const struct al_strv *paths, struct al_str *out, struct al_error *err);

/** Append the names of those `files` that are in the working tree, one a line below `title`, as an
 * excerpt for an approval. Appends nothing when there are none. */
void al_git_files_excerpt(const struct al_repo *repo, const struct al_strv *files,
                          const char *title, struct al_str *out);

/**
 * List the files that `target` has, the index does not have, and in whose place something is on
 * disk: a command that is forced or is given paths replaces it, ignored or not, and neither `git
 * status` nor a diff shows it.
 *
 * @param target  A commit.  Nothing is listed if there is none, and git reports the error later.
 * @param paths   Paths of the call that al_repo_pathspec() accepted; NULL or empty: all.
 * @param out     Absolute paths, appended.
 */
int al_git_untracked_overwritten(const struct al_repo *repo, const char *target,
                                 const struct al_strv *paths, struct al_strv *out,
                                 struct al_error *err);

/*
 * The files of the working tree that a git command can write or remove, for the `changed_files` of
 * a tool; those of a merge are in replay/merge_guard.h.
 *
 * Each function lists a superset, and is called right before the command, with the repository's
 * write lock held.  It answers "not known" for a repository where git's changes do not follow from
 * the index and from trees: no index, no commit, entries that are marked as unchanged or as not in
 * the working tree, a split or a sparse index, a sparse checkout.
 *
 * Source: git's unpack-trees.c, entry.c, builtin/checkout.c.
 */

/** Test whether git's changes follow from the index and from trees. */
bool al_git_index_tells(const struct al_repo *repo);

/**
 * List the files of a switch from HEAD's commit that keeps local changes: those that differ between
 * the two commits.  Everything else stays as it is, changed or not.
 *
 * @param target  The id of a commit.
 * @param[out] ret_known  False: it cannot be told, and nothing is appended.
 */
int al_git_switched_files(const struct al_repo *repo, const char *target, bool *ret_known,
                          struct al_strv *out, struct al_error *err);

/**
 * List the files of a command that makes index and files those of a commit, as `git reset --hard`:
 * those that differ between the commit and the index, and those whose stat data differ from the
 * index.
 *
 * @param target     A commit or a tree, as git accepts it.
 * @param paths      Only these paths of the call; NULL or empty: all.
 * @param untracked  The command removes untracked files, too, as `git stash push -u`.
 */
int al_git_reset_files(const struct al_repo *repo, const char *target, const struct al_strv *paths,
                       bool untracked, bool *ret_known, struct al_strv *out, struct al_error *err);

/* --- Unseen changes --- */

/*
 * Find changes that git does not see but overwrites all the same: changes of files that the index
 * marks as assume-unchanged or skip-worktree, or whose stat data in the index still matches.
 *
 * Source: git-update-index(1) "USING “ASSUME UNCHANGED” BIT", "SKIP-WORKTREE BIT"; git-ls-files(1)
 * "-v".
 */

struct al_unseen_changes {
    char *index; /**< temporary index with the entries of these files and no stat data, removed by
                    al_unseen_changes_clear(); NULL: there are none */
    struct al_strv names; /**< the files, relative to the top */
};

#define AL_UNSEEN_CHANGES_INIT ((struct al_unseen_changes){ .index = NULL })

void al_unseen_changes_clear(struct al_unseen_changes *unseen);

/**
 * Find such changes among the files that `words` name (pathspecs of al_repo_pathspecs()).
 *
 * @param known  Files that git sees a change of, sorted.  They are left out.
 */
int al_git_find_unseen_changes(const struct al_repo *repo, const struct al_str *words,
                               const struct al_strv *known, struct al_unseen_changes *unseen,
                               struct al_error *err);

#endif
