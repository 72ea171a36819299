// SPDX-License-Identifier: Apache-2.0
/*
 * Filter drivers (such as LFS) and merge drivers: programs that git would run to write the right
 * content.  airlock runs none of them.  It refuses instead of writing the raw content silently.
 *
 * Source: gitattributes(5) "filter" and "merge".
 */
#ifndef AL_GIT_PLUMBING_FILTERS_H
#define AL_GIT_PLUMBING_FILTERS_H

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

#endif
