// SPDX-License-Identifier: Apache-2.0
/* What a stash command would change, for a question. */
#ifndef AL_GITOPS_PORCELAIN_STASH_PREVIEW_H
#define AL_GITOPS_PORCELAIN_STASH_PREVIEW_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/porcelain/stash.h"
#include "gitops/repo/repo.h"

/**
 * What a person should see: the files a push takes away (`files`, as
 * al_git_overwritten_files() lists them), or all that is in the entries that would come back or go.
 *
 * @param[out] ret_any  Something would come of it: there is a change to put aside, or the entry.
 */
int al_git_stash_preview(const struct al_repo *repo, const struct al_stash_options *options,
                         const struct al_strv *files, struct al_run_limits *budget,
                         struct al_str *out, bool *ret_any, struct al_error *err);

#endif
