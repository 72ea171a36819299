// SPDX-License-Identifier: Apache-2.0
/* The repository as it is now, from a checkpoint. */
#ifndef AL_HISTORY_ROLLBACK_PRESENT_H
#define AL_HISTORY_ROLLBACK_PRESENT_H

#include "gitops/plumbing/stash_owners.h"
#include "history/checkpoint.h"

/** A checkpoint that was read. */
struct al_present {
    struct al_saved_files files;
    struct al_saved_state state;
};

#define AL_PRESENT_INIT ((struct al_present){ .state = { .index = AL_STR_INIT } })

/** Read a checkpoint of the present.  Release with al_present_clear(). */
int al_present_read(struct al_store *store, const char *id, struct al_run_limits *budget,
                    struct al_present *ret_present, struct al_error *err);
void al_present_clear(struct al_present *present);

/** The value that the subject of a difference has now, borrowed; NULL where it is absent.
 * @param[out] ret_mode  For a file. */
const char *al_present_value(const struct al_present *present, const struct al_difference *of,
                             unsigned *ret_mode);

/**
 * Add the files that are in the way of the changes: a file where a directory is to be, and files
 * below a path that is to be a file.  They are removed.
 *
 * @param changes   In order; they are in order afterwards.
 * @param ret_lost  Their names are appended; NULL: not.
 */
void al_present_add_obstacles(const struct al_present *present, struct al_differences *changes,
                              struct al_strv *ret_lost);

/**
 * Test whether going back loses an entry of the stash's reflog.  Entries can leave it without a
 * change by a user (`git reflog expire`); only one that the target does not have would be lost, and
 * not one of another worktree, which stays.
 *
 * @param left  The log as the executions left it, whose entries are theirs; NULL: not known.
 */
int al_stash_log_loses(struct al_store *store, const struct al_stash_owners *owners,
                       const struct al_difference *change, const char *left,
                       struct al_run_limits *budget, bool *ret_loses, struct al_error *err);

/**
 * Let refs/stash come back with its reflog: it names the newest entry of the log that comes back.
 * The executions may have changed the log alone, when they dropped an older entry, and the present
 * reference may name another entry by now, or be gone.
 *
 * @param changes  In order; they are in order afterwards.
 */
int al_present_add_stash_ref(struct al_store *store, const struct al_present *present,
                             struct al_differences *changes, struct al_run_limits *budget,
                             struct al_error *err);

#endif
