// SPDX-License-Identifier: Apache-2.0
/* `git remote`.  The caller has checked names with al_arg_check_branch(). */
#ifndef AL_GITOPS_TRANSPORT_REMOTE_H
#define AL_GITOPS_TRANSPORT_REMOTE_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** `git remote add`, `remove` and `rename`.  Adding refuses an address that could never be used.
 * AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR when a name does not exist or is taken. */
int al_git_remote_add(struct al_repo *repo, const char *name, const char *url,
                      struct al_run_limits *budget, struct al_error *err);
int al_git_remote_remove(struct al_repo *repo, const char *name, struct al_run_limits *budget,
                         struct al_error *err);
int al_git_remote_rename(struct al_repo *repo, const char *from, const char *to,
                         struct al_run_limits *budget, struct al_error *err);

#endif
