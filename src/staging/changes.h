// SPDX-License-Identifier: Apache-2.0
/* What changed in the sandbox since it was last pulled, pushed or staged. */
#ifndef AL_STAGING_CHANGES_H
#define AL_STAGING_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "gitops/oid.h"
#include "sandbox/sandbox.h"
#include "staging/base.h"
#include "staging/staged.h"
#include "util/error.h"

struct al_run_limits;
struct al_staging;

/** A file that differs. */
struct al_sandbox_change {
    char *path;
    enum al_staged_operation operation;
    unsigned mode;     /**< in the sandbox; 0: deleted */
    uint64_t size;     /**< in the sandbox; 0: deleted */
    struct al_oid oid; /**< in the sandbox; zeros: deleted */
};

/** Sorted by path.  Zero-initialised, it is empty. */
struct al_changes {
    struct al_sandbox_change *items;
    size_t count;
};

/** The changes with what they were found in. */
struct al_comparison {
    struct al_staged_list staged;  /**< all staged commits of the store */
    struct al_base base;           /**< with the staged commits applied, oldest first */
    struct al_sandbox_files files; /**< everything in the sandbox */
    struct al_changes changes;
};

void al_comparison_clear(struct al_comparison *comparison);

/** Compare the sandbox with its base and the staged commits that were made from it, and keep both
 * sides.  The staging has a sandbox. */
int al_comparison_make(struct al_staging *staging, struct al_run_limits *budget,
                       struct al_comparison *ret_comparison, struct al_error *err);

/** The status of a change in GitStatus: "new", "modified" or "deleted". */
const char *al_change_status(const struct al_sandbox_change *change);

#endif
