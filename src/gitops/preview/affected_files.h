// SPDX-License-Identifier: Apache-2.0
/* What of the working tree a call with paths is about. */
#ifndef AL_GITOPS_PREVIEW_AFFECTED_FILES_H
#define AL_GITOPS_PREVIEW_AFFECTED_FILES_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/**
 * The files a call that stages or restores `paths` (NULL: all) is about: those that differ from the
 * index and, with `untracked`, new ones.  Absolute paths in order, each once, appended to `out`.
 */
int al_git_affected_files(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                          struct al_run_limits *budget, struct al_strv *out, struct al_error *err);

/** The same for a call that overwrites them: with the files that git takes for unchanged by what
 * the index says about them. */
int al_git_overwritten_files(const struct al_repo *repo, const struct al_strv *paths,
                             bool untracked, struct al_run_limits *budget, struct al_strv *out,
                             struct al_error *err);

/** What such files would lose, as an excerpt for an approval; nothing where there are none. */
int al_git_unseen_changes_excerpt(const struct al_repo *repo, const struct al_strv *paths,
                                  struct al_run_limits *budget, struct al_str *out,
                                  struct al_error *err);

/** The names of those of `files` that are in the working tree as an excerpt for an approval, one a
 * line, below `title`; nothing when there are none. */
void al_git_files_excerpt(const struct al_repo *repo, const struct al_strv *files,
                          const char *title, const struct al_run_limits *budget,
                          struct al_str *out);

#endif
