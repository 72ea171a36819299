// SPDX-License-Identifier: Apache-2.0
/* The plan of a rebase: what becomes of each commit, in the order that they are to have. */
#ifndef AL_TOOLSETS_EVERYDAY_REBASE_PLAN_H
#define AL_TOOLSETS_EVERYDAY_REBASE_PLAN_H

#include "gitops/replay/work.h"
#include "tool/call.h"
#include "tool/tool.h"

/** The members of a step, for AL_OBJECTS(). */
extern const struct al_object al_rebase_plan_row;

/** Check the steps by themselves: which of them take a message. */
int al_rebase_plan_check(const struct al_objects *plan, struct al_error *err);

/** Resolve the commits of the steps to full ids, in order. */
int al_rebase_plan_resolve(struct al_call *call, const struct al_objects *plan,
                           struct al_strv *ret_oids, struct al_error *err);

/** The commit below the oldest commit of a plan, which is what it is replayed on when nothing else
 * is said; NULL: the plan begins with the first commit of the history.  Caller frees. */
int al_rebase_plan_base(struct al_call *call, const struct al_strv *oids, char **ret_onto,
                        struct al_error *err);

/** Add the steps to the work.  AL_ERR_BAD_ARGS unless they name every commit of `list`, and only
 * commits of `all`, each once. */
int al_rebase_plan_add(const struct al_objects *plan, const struct al_strv *oids,
                       const struct al_strv *list, const struct al_strv *all,
                       struct al_replay_work *work, struct al_error *err);

/** Add the commits of `list` as `git rebase --autosquash` orders them. */
int al_rebase_autosquash(struct al_call *call, const struct al_strv *list,
                         struct al_replay_work *work, struct al_error *err);

#endif
