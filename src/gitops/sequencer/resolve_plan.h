// SPDX-License-Identifier: Apache-2.0
/*
 * The checks before a conflict is resolved, and what they found.
 *
 * resolve.c makes a plan for the check, for the preview and for the resolution itself.
 */
#ifndef AL_GITOPS_SEQUENCER_RESOLVE_PLAN_H
#define AL_GITOPS_SEQUENCER_RESOLVE_PLAN_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/sequencer/conflict.h"
#include "gitops/sequencer/resolve.h"

/** A checked resolution.  Set up with AL_RESOLVE_PLAN_INIT. */
struct al_resolve_plan {
    struct al_conflicts conflicts;
    const struct al_conflict *conflict; /**< one of `conflicts` */
    const struct al_side *side; /**< the chosen side; NULL: the given content, or the disk */
    size_t nested_size;  /**< length of the markers in that side whose conflicts it resolves too */
    bool keeps_disk;     /**< the file is not written */
    bool keeps_conflict; /**< the index is not written */
    bool marks_executable; /**< set the executable bit in the index */
};

#define AL_RESOLVE_PLAN_INIT ((struct al_resolve_plan){ .conflicts = AL_CONFLICTS_INIT })

void al_resolve_plan_clear(struct al_resolve_plan *plan);

/**
 * Check the options, and set every member of the plan except `marks_executable`.
 * @return as al_git_resolve_check().
 */
int al_git_plan_resolve(const struct al_repo *repo, const struct al_resolve_options *options,
                        struct al_run_limits *budget, struct al_resolve_plan *plan,
                        struct al_error *err);

/** The path relative to the top, as git has it; borrowed from `given`. */
const char *al_resolve_top_path(const struct al_repo *repo, const char *given);

/** Set the error "'<path>' <why>" with AL_CODE_OPERATION_FAILED.  Returns AL_ERR_EXECUTION. */
int al_resolve_refuse(const char *path, const char *why, struct al_error *err);

#endif
