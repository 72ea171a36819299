// SPDX-License-Identifier: Apache-2.0
/* The common part of git_rebase, git_cherry_pick and git_revert: work that is tried in memory while
 * the call is authorized, and done when it is executed. */
#ifndef AL_TOOLSETS_EVERYDAY_REPLAY_H
#define AL_TOOLSETS_EVERYDAY_REPLAY_H

#include "gitops/replay/work.h"
#include "tool/call.h"
#include "tool/tool.h"

/** Builds the work from the arguments: kind, onto, steps.  `lines` gets what the result says
 * besides, whole lines. */
typedef int (*al_replay_build)(struct al_call *call, const void *args, struct al_replay_work *work,
                               struct al_str *lines, struct al_error *err);

/** The work of a call, kept from `authorize` on. */
struct al_replay_try {
    struct al_replay_work *work;
    struct al_str lines;
    bool published; /**< commits that a remote-tracking branch has would leave the branch */
};

/**
 * For `authorize`: check that nothing is in progress and nothing stands in the way, build the work,
 * and try it.
 *
 * @param clean_tree  Files must have no local changes either; else only the index.
 */
int al_replay_authorize(struct al_call *call, const void *args, al_replay_build build,
                        bool clean_tree, struct al_error *err);

/** The work of this call, as authorized. */
struct al_replay_try *al_replay_of(struct al_call *call);

/** For a `stricter` form: whether published commits are rewritten. */
bool al_replay_is_published(struct al_call *call, const void *args);

/** This condition in words. */
#define AL_REPLAY_CONDITION "for commits that a remote-tracking branch has"

/** For `preview`: the commits that leave the branch, and those that come. */
int al_replay_preview(struct al_call *call, const void *args, struct al_str *out,
                      struct al_error *err);

/** For `changed_files`: what differs between HEAD and the result.  Not known for what will stop:
 * git then replays step by step. */
int al_replay_changed_files(struct al_call *call, const void *args, bool *ret_known,
                            struct al_strv *out, struct al_error *err);

/** For `execute`: do the work as it was tried.  Fails if HEAD has moved since. */
int al_replay_execute(struct al_call *call, struct al_merge_outcome *ret_outcome,
                      struct al_error *err);

/** Append "a1b2c3d4 subject" lines of the new commits, at most 20. */
int al_replay_add_commits(struct al_call *call, struct al_str *text, struct al_error *err);

/** Fail while an operation is in progress or there are conflicts, naming git_conflicts. */
int al_everyday_check_idle(struct al_call *call, struct al_error *err);

#endif
