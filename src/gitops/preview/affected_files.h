// SPDX-License-Identifier: Apache-2.0
/* Which files of the working tree a call would change. */
#ifndef AL_GITOPS_PREVIEW_AFFECTED_FILES_H
#define AL_GITOPS_PREVIEW_AFFECTED_FILES_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** Append the files that a call which stages or restores `paths` (NULL: all) affects: files that
 * differ from the index and, with `untracked`, untracked ones. Absolute paths, sorted, each
 * once. */
int al_git_affected_files(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                          struct al_run_limits *budget, struct al_strv *out, struct al_error *err);

/** The same for a call that overwrites files. Also appends changed files that the index marks as
 * unchanged (see unseen_changes.h). */
int al_git_overwritten_files(const struct al_repo *repo, const struct al_strv *paths,
                             bool untracked, struct al_run_limits *budget, struct al_strv *out,
                             struct al_error *err);

/** Append the files that git writes when it restores `paths` from the index: those whose stat data
 * differ from the index.  Their content may be equal as git compares it, and its line endings still
 * change.  Files that the index marks as unchanged are not among them. */
int al_git_rewritten_files(const struct al_repo *repo, const struct al_strv *paths,
                           struct al_run_limits *budget, struct al_strv *out, struct al_error *err);

/** Append what the files that the index marks as unchanged would lose, as an excerpt for an
 * approval. Appends nothing when there are none. */
int al_git_unseen_changes_excerpt(const struct al_repo *repo, const struct al_strv *paths,
                                  struct al_run_limits *budget, struct al_str *out,
                                  struct al_error *err);

/** Append the names of those `files` that are in the working tree, one a line below `title`, as an
 * excerpt for an approval. Appends nothing when there are none. */
void al_git_files_excerpt(const struct al_repo *repo, const struct al_strv *files,
                          const char *title, const struct al_run_limits *budget,
                          struct al_str *out);

#endif
