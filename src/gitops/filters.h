// SPDX-License-Identifier: Apache-2.0
/*
 * Programs that would have to run for git to write the right content: filter drivers (LFS and its
 * like) and merge drivers.  airlock runs none of them; writing the raw content in silence would be
 * worse than refusing.
 *
 * Source: gitattributes(5) "filter" and "merge".
 */
#ifndef AL_GITOPS_FILTERS_H
#define AL_GITOPS_FILTERS_H

#include "gitops/command.h"
#include "gitops/repo.h"

/** Paths beyond this are too many to look at; the call is refused, saying so. */
#define AL_FILTERED_MAX_BYTES (8u << 20)

/** Whether git itself failed, as it does about a revision that is not there: `r` and the budget of
 * one of the lists below.  Everything else that goes wrong must not be taken for an empty list. */
bool al_git_complained(int r, const struct al_budget *budget);

/** Run a command that prints NUL-terminated paths relative to the top, and append them. */
int al_git_list_paths(const struct al_repo *repo, const struct al_git_command *command,
                      struct al_budget *budget, struct al_buffer *ret_list, struct al_error *err);

/**
 * Refuse when one of these paths goes through a configured filter driver.
 *
 * @param list  NUL-terminated paths relative to the top.
 * @param tree  Whose .gitattributes count: NULL for the working tree's, else a commit's (and those
 *              that lie about in the working tree, which git reads where the commit has none).
 * @return 0 or AL_ERR_EXECUTION naming file and filter.
 */
int al_git_check_filters(const struct al_repo *repo, const struct al_buffer *list, const char *tree,
                         struct al_budget *budget, struct al_error *err);

/** The same for merge drivers; the attributes of the working tree always count, and those of `tree`
 * when it is not NULL. */
int al_git_check_merge_drivers(const struct al_repo *repo, const struct al_buffer *list,
                               const char *tree, struct al_budget *budget, struct al_error *err);

/** Paths that differ between two commits, or (`to` NULL) between a commit and the working tree. */
int al_git_list_changed(const struct al_repo *repo, const char *from, const char *to,
                        struct al_budget *budget, struct al_buffer *ret_list, struct al_error *err);

#endif
