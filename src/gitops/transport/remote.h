// SPDX-License-Identifier: Apache-2.0
/* `git remote`; names were checked with al_remote_check_name(). */
#ifndef AL_GITOPS_TRANSPORT_REMOTE_H
#define AL_GITOPS_TRANSPORT_REMOTE_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** `git remote add`, after a look at whether the address can be used at all. */
int al_git_remote_add(struct al_repo *repo, const char *name, const char *url,
                      struct al_run_limits *budget, struct al_error *err);
int al_git_remote_remove(struct al_repo *repo, const char *name, struct al_run_limits *budget,
                         struct al_error *err);
int al_git_remote_rename(struct al_repo *repo, const char *from, const char *to,
                         struct al_run_limits *budget, struct al_error *err);

#endif
