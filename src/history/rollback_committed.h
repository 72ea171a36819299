// SPDX-License-Identifier: Apache-2.0
/*
 * What was staged, and committed since by somebody else.
 *
 * The index holds changes of HEAD's commit.  Where HEAD has another commit by now, the entries
 * that an index had then may be another change: the removal of a file that was committed since, or
 * its old content.
 */
#ifndef AL_HISTORY_ROLLBACK_COMMITTED_H
#define AL_HISTORY_ROLLBACK_COMMITTED_H

#include "history/rollback_restore.h"
#include "history/rollback_way_back.h"

/**
 * Find the files whose entries the way back changes, and which HEAD's commit of the target has in
 * another form than HEAD's commit had when they were staged.
 *
 * @param restore       The present, the target and the changes.
 * @param ret_committed  The files, appended.  "the index (what is staged)" if a commit is gone.
 * @return 0; AL_ERR_EXECUTION, AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 */
int al_committed_since(struct al_store *store, const struct al_repo *repo,
                       const struct al_way_back *way, const struct al_restore *restore,
                       struct al_strv *ret_committed, struct al_error *err);

/** Refuse a rollback for these files: 0 when there are none; AL_ERR_APPROVAL_REQUIRED. */
int al_committed_check(const struct al_strv *committed, struct al_error *err);

#endif
