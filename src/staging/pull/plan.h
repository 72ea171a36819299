// SPDX-License-Identifier: Apache-2.0
/*
 * For pull.c: what a pull does with each file.
 *
 *   sandbox    incoming   what happens
 *
 *   as base    changed    the incoming file is taken; one that is gone is removed
 *   changed    as base    the sandbox's file stays
 *   changed    the same   nothing; the file counts as pulled from now on
 *   changed    changed    the lines are merged, or the path is a conflict
 *   changed    gone       a conflict; the sandbox's file stays
 *   gone       changed    a conflict; the incoming file is there again
 */
#ifndef AL_STAGING_PULL_PLAN_H
#define AL_STAGING_PULL_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/sandbox.h"
#include "staging/base.h"
#include "staging/pull/list.h"
#include "util/error.h"
#include "util/str.h"

/** One version of a file.  Its mode is 0 when there is no file. */
struct al_pull_side {
    unsigned mode;
    struct al_oid oid;
};

/** A file of the commit, or one that came from its branch and is there no longer. */
struct al_pull_item {
    const char *path; /**< borrowed from the list or the plan */
    struct al_pull_side theirs, base, ours;
    size_t which; /**< in the list of the commit; SIZE_MAX: it is not there */
    bool chosen;
    const char *skipped;     /**< why it is left alone; NULL: it is not */
    const char *conflict;    /**< what happened; NULL: no conflict */
    bool merges;             /**< lines have to be merged; `mode` of the result is known already */
    bool changes;            /**< the sandbox's file becomes `result` */
    bool is_settled;         /**< `theirs` becomes the base */
    bool is_blocked;         /**< there is no place for it in the sandbox */
    bool has_markers;        /**< `result` has conflict markers */
    bool has_all_separators; /**< and every line `=======` is one */
    struct al_pull_side result;
};

/** The lists that the items are made from.  Borrowed. */
struct al_pull_from {
    const struct al_pull_list *list;
    struct al_base *base, *origin;
    const struct al_sandbox_files *files;
    bool allows_symlinks;
};

/** The items, sorted by path.  Zero-initialised, it is empty. */
struct al_pull_plan {
    struct al_pull_item *items;
    size_t count;
    struct al_strv gone; /**< private: the paths that are not in the commit */
    bool is_begun;       /**< private to apply.c: files may have changed */
};

void al_pull_plan_clear(struct al_pull_plan *plan);

/** Put the four lists side by side.  Nothing is chosen yet. */
void al_pull_plan_make(const struct al_pull_from *from, struct al_pull_plan *ret_plan);

/** Decide about the chosen items, except about lines that have to be merged. */
void al_pull_decide(const struct al_pull_from *from, struct al_pull_plan *plan);

/** A file cannot take the place of a directory of the sandbox, nor lie below a file of it: such
 * changes become conflicts. */
void al_pull_check_places(const struct al_pull_from *from, struct al_pull_plan *plan);

/** Test whether two versions are the same: both are missing, or mode and content are equal. */
bool al_pull_side_equal(const struct al_pull_side *a, const struct al_pull_side *b);

/** The item leaves the sandbox as it is, for this reason. */
void al_pull_keep_ours(struct al_pull_item *item, const char *conflict);

#endif
