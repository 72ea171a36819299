// SPDX-License-Identifier: Apache-2.0
/*
 * Filter drivers (such as LFS) and merge drivers: programs that git would run to write the right
 * content.  airlock runs none of them.  It refuses instead of writing the raw content silently.
 *
 * Source: gitattributes(5) "filter" and "merge".
 */
#ifndef AL_GIT_PLUMBING_FILTERS_H
#define AL_GIT_PLUMBING_FILTERS_H

#include <stdbool.h>

#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"

/**
 * Refuse when one of these paths goes through a configured filter driver.
 *
 * @param paths  Relative to the top.
 * @param tree   The commit whose .gitattributes count, besides untracked ones in the working tree,
 *               which git reads where the commit has none; NULL: those of the working tree.
 * @return 0, or AL_ERR_EXECUTION naming file and filter.
 */
int al_git_check_filters(const struct al_repo *repo, const struct al_strv *paths, const char *tree,
                         struct al_error *err);

/** The same for the paths that differ between two commits or trees, by the attributes of `to`;
 * NULL: between the index with the files and `from`, by those of `from`. */
int al_git_check_filters_between(const struct al_repo *repo, const char *from, const char *to,
                                 struct al_error *err);

/** Refuse when one of these paths goes through a configured merge driver.  The attributes of the
 * working tree always count, and those of `tree` unless it is NULL. */
int al_git_check_merge_drivers(const struct al_repo *repo, const struct al_strv *paths,
                               const char *tree, struct al_error *err);

/** Refuse when one of these files (absolute paths) goes through a configured filter driver, naming
 * file and filter. */
int al_git_check_files(const struct al_repo *repo, const struct al_strv *files,
                       struct al_error *err);

/** List those of the files (absolute paths, or relative to the top), relative to the top, that do.
 */
int al_git_filtered_files(const struct al_repo *repo, const struct al_strv *files,
                          struct al_strv *ret_names, struct al_error *err);

/* --- Hooks and filters that did not run --- */

/* Notes about hooks and filters that airlock did not run, so that a result never differs silently
 * from git's own. */

/** Append the hooks of this list, between spaces, that git itself would have run: files, and from
 * git 2.54 on what hook.<name>.event names. */
void al_git_skipped_hooks(const struct al_repo *repo, const char *hooks, struct al_str *out);

/** Append, for an approval, a line each that names the hooks of this list that do not run, and that
 * the commit is not signed although the configuration asks for it. */
void al_git_show_skipped(const struct al_repo *repo, const char *hooks, struct al_str *out);

/** Append the filter drivers that a command on the working tree would have run. */
void al_git_skipped_filters(const struct al_repo *repo, struct al_str *out);

/* --- Partial clones --- */

/*
 * Partial clones, which lack some of the objects that their commits name.
 *
 * git would download a missing object.  Here it cannot, and a command that writes files has already
 * truncated the first file when it fails.
 *
 * Source: partial-clone(7) in git's technical documentation.
 */

/** Test whether a pack of the repository was fetched with a filter. */
bool al_repo_is_partial(const struct al_repo *repo);

/**
 * Refuse, before anything is written, when the content of a file that would be restored is missing.
 *
 * @param from   The tree to restore from; NULL: the index.
 * @param paths  An agent's words; NULL or empty: every file.
 * @return 0, also for a repository that is no partial clone; AL_ERR_EXECUTION naming the first
 *         file.
 */
int al_git_check_downloaded(const struct al_repo *repo, const char *from,
                            const struct al_strv *paths, struct al_error *err);

#endif
