// SPDX-License-Identifier: Apache-2.0
/* One submodule that is scanned for changes, and the bounds of that. */
#ifndef AL_GITOPS_SUBMODULE_SCAN_H
#define AL_GITOPS_SUBMODULE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** The rest of what one call may scan, in all submodules together. */
struct al_scan_bounds {
    size_t entries;      /**< entries of indexes */
    size_t listed;       /**< entries of directories */
    uint64_t bytes;      /**< of files that are hashed */
    int64_t deadline_ms; /**< by al_clock_ms() */
    bool no_untracked;   /**< untracked files are not searched for */
};

/** One working tree that is scanned.  The caller owns the descriptors and strings. */
struct al_submodule_scan {
    const struct al_repo *repo; /**< the repository around the submodule */
    struct al_scan_bounds *bounds;
    const char *path;       /**< of the submodule, from the top of `repo` */
    int top;                /**< top of the submodule's working tree, O_PATH */
    int common;             /**< the submodule's common git directory, O_PATH */
    struct al_strv names;   /**< the names in the submodule's index, in its order */
    struct al_strv *nested; /**< gets the paths of submodules inside, from the top of `repo` */
    unsigned content;       /**< enum al_submodule_content, as far as is known */
    const char *unseen;     /**< why the scan is incomplete; NULL: it is complete */
};

/** Reasons for an incomplete scan: a bound was reached. */
extern const char al_scan_too_many[], al_scan_too_long[];

/** Test whether there is time left; if not, scan->unseen says so. */
bool al_scan_has_time(struct al_submodule_scan *scan);

#endif
