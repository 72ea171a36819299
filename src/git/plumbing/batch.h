// SPDX-License-Identifier: Apache-2.0
/*
 * Paths on command lines, for git commands that cannot read them from standard input: as many
 * command lines as necessary.
 *
 * Source: execve(2), "Limits on size of arguments and environment".
 */
#ifndef AL_GIT_PLUMBING_BATCH_H
#define AL_GIT_PLUMBING_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "git/repo/repo.h"
#include "proc/proc.h"

struct al_git_command;
struct al_repo;

/** The most bytes of a list of paths; a call with more is refused. */
#define AL_PATH_LIST_MAX_BYTES (8u << 20)

/** The most bytes of the words of one batch, each counted with its NUL and a pointer. */
size_t al_batch_max_bytes(void);

/**
 * Append the next words to a command line: as many as fit, and at least one.
 *
 * @param words  Words ended by NUL each, as al_repo_pathspecs() gives them.
 * @param at     Offset of the next word; moved past the words that were added.
 * @return whether words are left.
 */
bool al_batch_add(struct al_strv *argv, const struct al_str *words, size_t *at);

/** Append the pathspecs of an agent's words (NULL: none) for a command that takes all of them at
 * once, such as "diff".  AL_ERR_BAD_ARGS when they do not fit on one command line. */
int al_batch_add_all(const struct al_repo *repo, const struct al_strv *paths, const char *command,
                     struct al_strv *argv, struct al_error *err);

/**
 * Run a command with -z for these words, in batches, and append the paths it prints to `ret_paths`,
 * which was empty: sorted and without duplicates.
 *
 * @param command  Its words up to "--", ended by NULL.
 * @return 0, or as al_git_list_paths().
 */
int al_batch_list(const struct al_repo *repo, const char *const *command,
                  const struct al_str *words, struct al_strv *ret_paths, struct al_error *err);

/**
 * List the paths that `git diff` prints for these words, with al_batch_list().
 *
 * @param options  More options of git diff, and a commit; ended by NULL.
 */
int al_batch_list_diff(const struct al_repo *repo, const char *const *options,
                       const struct al_str *words, struct al_strv *ret_paths, struct al_error *err);

/**
 * Run a command that prints NUL-terminated paths relative to the top, and append them.
 *
 * @return 0; AL_ERR_EXECUTION when git failed or there were more paths than the list may hold.
 */
int al_git_list_paths(const struct al_repo *repo, const struct al_git_command *command,
                      struct al_strv *ret_paths, struct al_error *err);

/** Append the paths that differ between two commits or trees, or between a commit and the working
 * tree if `to` is NULL.  `ret_paths` is sorted. */
int al_git_list_changed(const struct al_repo *repo, const char *from, const char *to,
                        struct al_strv *ret_paths, struct al_error *err);

/** Sort paths, and leave each once. */
void al_paths_sort_once(struct al_strv *paths);

/** List the tracked files, and the untracked ones that are not ignored.
 *
 * @param top_fd  The top of the working tree.
 * @param take    Gets a path, relative to the top, as the only field; a nested repository ends with
 *                '/'.  Unchecked: an index can hold any name. */
int al_git_list_files(const struct al_repo *repo, int top_fd, al_record_fn take, void *payload,
                      struct al_error *err);

/* --- Ls files tracked --- */

/* Tracked files, by their names. */

/** Append the tracked files that `names` (relative to the top) name or contain.  The names need not
 * exist on disk.  One git child for each batch of names. */
int al_repo_tracked_files(const struct al_repo *repo, const struct al_strv *names,
                          struct al_strv *ret_files, struct al_error *err);

/* --- Check ignore --- */

/*
 * The paths that git ignores.
 *
 * Source: git-check-ignore(1), gitignore(5).
 */

/**
 * Find the first of these paths that is ignored and not tracked.
 *
 * @param paths       As the agent wrote them.
 * @param ret_rule    "<path> is ignored by <file>:<line> <pattern>", safe text; NULL: none is
 *                    ignored.  Caller frees.
 */
int al_git_find_ignored(const struct al_repo *repo, const struct al_strv *paths, char **ret_rule,
                        struct al_error *err);

#endif
