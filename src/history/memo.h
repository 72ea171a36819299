// SPDX-License-Identifier: Apache-2.0
/*
 * What was read of checkpoints while a store is open.  A rollback looks at the same few checkpoints
 * several times, and reading one takes two gits.
 *
 * A checkpoint never changes, so what is remembered is never stale.
 */
#ifndef AL_HISTORY_MEMO_H
#define AL_HISTORY_MEMO_H

#include "history/checkpoint.h"

struct al_memo;

/** Release it.  NULL is allowed. */
void al_memo_free(struct al_memo *memo);

/** read.c: read a whole checkpoint with two gits. */
int al_read_checkpoint(struct al_store *store, const char *id, struct al_run_limits *budget,
                       struct al_saved_state *ret_state, struct al_saved_files *ret_files,
                       struct al_error *err);

#endif
