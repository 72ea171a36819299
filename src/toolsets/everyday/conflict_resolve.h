// SPDX-License-Identifier: Apache-2.0
/* git_conflicts with action resolve: one file, by a side, by its content, or hunk by hunk. */
#ifndef AL_TOOLSETS_EVERYDAY_CONFLICT_RESOLVE_H
#define AL_TOOLSETS_EVERYDAY_CONFLICT_RESOLVE_H

#include "gitops/sequencer/conflict.h"
#include "gitops/sequencer/resolve.h"
#include "toolsets/everyday/everyday.h"

/** What git_conflicts does. */
enum al_conflicts_action {
    AL_CONFLICTS_SHOW,
    AL_CONFLICTS_RESOLVE,
    AL_CONFLICTS_CONTINUE,
    AL_CONFLICTS_ABORT,
    AL_CONFLICTS_SKIP,
};

/** Its arguments. */
struct al_conflicts_args {
    int action;
    const char *path, *take, *content;
    struct al_objects hunks;
    AL_EVERYDAY_FIELDS;
};

/** Look at the file and the arguments, and keep what follows from them as the call's tool data. */
int al_conflicts_authorize_resolve(struct al_call *call, const struct al_conflicts_args *args,
                                   struct al_error *err);

/** The options that were found out by it.  They borrow from the call. */
struct al_resolve_options al_conflicts_resolve_options(struct al_call *call,
                                                       const struct al_conflicts_args *args);

/** Resolve it: the operation's function. */
int al_conflicts_resolve(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err);

/** Fail since the file is not in conflict. */
int al_conflicts_not_in_conflict(const struct al_repo *repo, const char *path,
                                 const struct al_conflicts *conflicts, struct al_error *err);

#endif
