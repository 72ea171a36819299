// SPDX-License-Identifier: Apache-2.0
/*
 * Commit a part of what changed, while whatever else is staged stays staged.
 *
 * Two scratch indexes are made: one with exactly what the commit has, and one that is the index
 * after it.  The repository's index is not touched before the commit is made.
 */
#ifndef AL_GITOPS_PORCELAIN_COMMIT_PART_H
#define AL_GITOPS_PORCELAIN_COMMIT_PART_H

#include "gitops/hunks/hunk_apply.h"
#include "gitops/porcelain/commit.h"

/** The part; exactly one member is set. */
struct al_commit_part {
    const struct al_strv *paths;   /**< as the agent wrote them: their changes on disk, new files
                                      too */
    const struct al_strv *hunks;   /**< ids of unstaged and staged hunks */
    const struct al_strv *without; /**< every change but these new files, relative to the top */
};

/** The scratch indexes.  Zero-initialised there are none. */
struct al_commit_indexes {
    char *commit; /**< what is committed */
    char *after;  /**< the index after the commit */
};

void al_commit_indexes_clear(struct al_commit_indexes *indexes);

/**
 * Make the scratch indexes.  With the write lock held, and also the lock of the index if one of
 * them is to replace it (al_index_lock_take()).
 *
 * @return 0; AL_ERR_BAD_ARGS when a hunk is not there; AL_ERR_EXECUTION when a chosen hunk cannot
 *         be told from a staged one that is not chosen, or git failed.
 */
int al_git_choose_commit(struct al_repo *repo, const struct al_commit_part *part,
                         struct al_run_limits *budget, struct al_commit_indexes *ret_indexes,
                         struct al_error *err);

#endif
