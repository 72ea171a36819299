// SPDX-License-Identifier: Apache-2.0
/* The preview of a stash command for an approval. */
#ifndef AL_GITOPS_PORCELAIN_STASH_PREVIEW_H
#define AL_GITOPS_PORCELAIN_STASH_PREVIEW_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/porcelain/stash.h"
#include "gitops/repo/repo.h"

/**
 * Append what a stash command would change: for a push the files it takes away (`files`, listed by
 * al_git_overwritten_files()), else the content of the entries that would be restored or dropped.
 *
 * @param[out] ret_any  Whether the command would do anything: there is a change to stash, or the
 *                      entry exists.
 */
int al_git_stash_preview(const struct al_repo *repo, const struct al_stash_options *options,
                         const struct al_strv *files, struct al_run_limits *budget,
                         struct al_str *out, bool *ret_any, struct al_error *err);

#endif
