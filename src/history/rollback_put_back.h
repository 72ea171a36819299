// SPDX-License-Identifier: Apache-2.0
/* Putting back what an operation that failed in the middle of its work has changed. */
#ifndef AL_HISTORY_ROLLBACK_PUT_BACK_H
#define AL_HISTORY_ROLLBACK_PUT_BACK_H

#include "history/checkpoint.h"

/**
 * Restore what an operation, which has ended, has changed between its two checkpoints: files,
 * index, references and the state of operations.  With the repository's write lock held.  The
 * objects of both checkpoints stay in the store.
 *
 * @param before, after  The checkpoints before and after the operation.
 * @param files          The files, relative to the top and sorted, that it has written; NULL: all
 *                       that it can write.
 * @return 0; AL_ERR_EXECUTION when something is in the way that no checkpoint has, or another git
 *         holds index.lock: nothing is changed then.
 */
int al_rollback_put_back(struct al_repo *repo, struct al_store *store, const char *before,
                         const char *after, const struct al_strv *files,
                         struct al_run_limits *budget, struct al_error *err);

#endif
