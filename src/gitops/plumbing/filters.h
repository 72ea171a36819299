// SPDX-License-Identifier: Apache-2.0
/*
 * Programs that would have to run for git to write the right content: filter drivers (LFS and its
 * like) and merge drivers.  airlock runs none of them; writing the raw content in silence would be
 * worse than refusing.
 *
 * Source: gitattributes(5) "filter" and "merge".
 */
#ifndef AL_GITOPS_PLUMBING_FILTERS_H
#define AL_GITOPS_PLUMBING_FILTERS_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/**
 * Refuse when one of these paths goes through a configured filter driver.
 *
 * @param list  NUL-terminated paths relative to the top.
 * @param tree  Whose .gitattributes count: NULL for the working tree's, else a commit's (and those
 *              that lie about in the working tree, which git reads where the commit has none).
 * @return 0 or AL_ERR_EXECUTION naming file and filter.
 */
int al_git_check_filters(const struct al_repo *repo, const struct al_buffer *list, const char *tree,
                         struct al_run_limits *budget, struct al_error *err);

/** The same for merge drivers; the attributes of the working tree always count, and those of `tree`
 * when it is not NULL. */
int al_git_check_merge_drivers(const struct al_repo *repo, const struct al_buffer *list,
                               const char *tree, struct al_run_limits *budget,
                               struct al_error *err);

/** Whether any filter driver is configured. */
bool al_git_has_filters(const struct al_repo *repo);

/** Refuse when the content of one of these files would go through a configured filter driver,
 * naming file and filter. */
int al_git_check_files(const struct al_repo *repo, const struct al_strv *files,
                       struct al_run_limits *budget, struct al_error *err);

#endif
