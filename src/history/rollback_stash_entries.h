// SPDX-License-Identifier: Apache-2.0
/* Stash entries of other worktrees, which share the stash of the repository. */
#ifndef AL_HISTORY_ROLLBACK_STASH_ENTRIES_H
#define AL_HISTORY_ROLLBACK_STASH_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/plumbing/stash_owners.h"
#include "history/checkpoint.h"
#include "util/error.h"

/** Collect the bytes of several objects.  For al_checkpoint_read(); `payload` is an array of struct
 * al_str, one for each object. */
int al_rollback_add_bytes(void *payload, size_t which, const char *data, size_t len, bool last,
                          struct al_error *err);

/* A line of the stash's log is "<old> <new> <who> ...".  <old> changes when the entry before it is
 * removed. */

/** Test whether a log has the entry of another one's line. */
bool al_stash_log_has(const struct al_str *log, const char *line);

/** Test whether the entry belongs to another worktree. */
bool al_stash_line_is_others(const struct al_stash_owners *owners, const char *line);

/** The id of the newest entry; NULL: none.  Caller frees. */
char *al_stash_log_newest(const struct al_str *log);

/**
 * Leave the entries that other worktrees have pushed since: they become the newest entries of the
 * log that comes back, and refs/stash names the newest of them.
 *
 * @param pending  The checkpoint of the present.  The new log is written beside it.
 * @param changes  From the present to the target, in order; they are in order afterwards.
 * @return 0, or as al_checkpoint_read().
 */
int al_rollback_keep_stash_entries(struct al_store *store, struct al_pending_checkpoint *pending,
                                   struct al_differences *changes, struct al_run_limits *budget,
                                   struct al_error *err);

/**
 * Find the entries that going back takes out of the stash although they do not belong to this
 * worktree.  Another program pushed them while an execution ran, whose change they seem to be.
 * Does nothing where there is only one worktree.
 *
 * @param changes  From the present to the checkpoint.
 * @param lost     The entries are appended in words, with whose they are.
 * @return 0, or as al_checkpoint_read().
 */
int al_rollback_find_stash_entries(struct al_store *store, const struct al_differences *changes,
                                   struct al_run_limits *budget, struct al_strv *lost,
                                   struct al_error *err);

#endif
