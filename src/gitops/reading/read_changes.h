// SPDX-License-Identifier: Apache-2.0
/* Run `git diff` or `git log` for the changed files and the patch. */
#ifndef AL_GITOPS_READING_READ_CHANGES_H
#define AL_GITOPS_READING_READ_CHANGES_H

#include "gitops/diff/diff.h"
#include "gitops/reading/change_reader.h"
#include "gitops/repo/repo.h"

/**
 * Run `git diff`.  One git child.
 *
 * @param options  `name_only`, `stat` and `show_controls` are ignored.
 * @param patch    The patch is wanted too.
 * @param reader   Gets the output, with its end.
 * @return 0, also when the reader has stopped; git's failure.
 */
int al_git_read_changes(const struct al_repo *repo, const struct al_diff_options *options,
                        bool patch, struct al_run_limits *budget, struct al_change_reader *reader,
                        struct al_error *err);

/** Append the options of every patch that struct al_patch_reader reads. */
void al_git_add_patch_options(struct al_strv *argv);

#endif
