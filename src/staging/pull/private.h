// SPDX-License-Identifier: Apache-2.0
/* The steps of a pull, for pull/ only. */
#ifndef AL_STAGING_PULL_PRIVATE_H
#define AL_STAGING_PULL_PRIVATE_H

#include "git/command.h"
#include "staging/base.h"
#include "staging/pull/pull.h"
#include "staging/sandbox/sandbox.h"

/* --- What happens with each file --- */

/*
 *   sandbox    incoming   what happens
 *
 *   as base    changed    the incoming file is taken; one that is gone is removed
 *   changed    as base    the sandbox's file stays
 *   changed    the same   nothing; the file counts as pulled from now on
 *   changed    changed    the lines are merged, or the path is a conflict
 *   changed    gone       a conflict; the sandbox's file stays
 *   gone       changed    a conflict; the incoming file is there again
 */

/** A file of the commit, or one that came from its branch and is there no longer. */
struct al_pull_item {
    char *path;
    struct al_sandbox_version theirs, base, ours;
    bool is_lfs; /**< its content is a pointer of git-lfs(1) */
    bool chosen;
    const char *skipped;  /**< why it is left alone; NULL: it is not */
    const char *conflict; /**< what happened; NULL: no conflict */
    bool merges;          /**< lines have to be merged; `mode` of the result is known already */
    bool changes;         /**< the sandbox's file becomes `result` */
    bool is_settled;      /**< `theirs` becomes the base */
    bool is_blocked;      /**< there is no place for it in the sandbox */
    bool has_texts;       /**< these are set: the store may not have what the agent wrote, nor
                               what was merged from it */
    struct al_str ours_text, result_text;
    bool has_markers;        /**< `result` has conflict markers */
    bool has_all_separators; /**< and every line `=======` is one */
    struct al_sandbox_version result;
};

/** A pull that runs. */
struct al_pull {
    struct al_staging *staging;
    const struct al_pull_request *request;
    const char *origin_name;
    struct al_run_limits *budget;
    struct al_tree commit; /**< its files are what comes */
    struct al_base base, origin;
    struct al_sandbox_files files; /**< of the sandbox */
    struct al_pull_item *items;    /**< sorted by path */
    size_t count;
    bool is_begun; /**< files may have changed */
    struct al_error *err;
};

void al_pull_clear(struct al_pull *pull);

/** Put the four lists of files side by side.  Nothing is chosen yet. */
void al_pull_list(struct al_pull *pull);

/** Decide about the chosen items, except about lines that have to be merged. */
void al_pull_decide(struct al_pull *pull);

/** A file cannot take the place of a directory of the sandbox, nor lie below a file of it: such
 * changes become conflicts. */
void al_pull_check_places(struct al_pull *pull);

/** The item leaves the sandbox as it is, for this reason. */
void al_pull_keep_ours(struct al_pull_item *item, const char *conflict);

#endif
