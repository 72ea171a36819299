// SPDX-License-Identifier: Apache-2.0
/*
 * Linked worktrees that executions made, removed or locked: what a rollback does about them.
 *
 *   the checkpoint has        and now                 a rollback
 *
 *   no worktree               there is one            moves it aside
 *   one                       there is none           moves it back
 *   one                       there is another one    moves that aside, and it back
 *   one                       the same                leaves it alone
 */
#ifndef AL_HISTORY_ROLLBACK_LINKED_H
#define AL_HISTORY_ROLLBACK_LINKED_H

#include "history/linked.h"
#include "history/rollback_restore.h"
#include "history/rollback_touched.h"
#include "util/error.h"

/** A change of one worktree. */
struct al_linked_change {
    char *name;
    bool is_lock; /**< only of its lock */
    struct al_str from_text, to_text;
    struct al_linked_saved from, to;
};

/** The changes of all worktrees that a rollback is about. */
struct al_linked_changes {
    struct al_linked_change *items;
    size_t count;
};

void al_linked_changes_clear(struct al_linked_changes *linked);

/** Append what a checkpoint of the present has to be about, as in struct al_checkpoint_reason. */
int al_linked_touched(struct al_store *store, const struct al_touched *touched,
                      struct al_run_limits *budget, struct al_strv *ret_names,
                      struct al_error *err);

/** Read the changes of worktrees among these. */
int al_linked_changes_read(struct al_store *store, const struct al_differences *changes,
                           struct al_run_limits *budget, struct al_linked_changes *ret_linked,
                           struct al_error *err);

/** Test whether a worktree will be removed, by its name below worktrees/. */
bool al_linked_will_go(const struct al_linked_changes *linked, const char *id);

/**
 * Refuse before anything changes: a call runs in a worktree that would be removed, or something is
 * in the way of one that comes back.
 *
 * @param ret_lost  Locks in words whose worktree is gone, appended; NULL: they are left out.
 */
int al_linked_check(const struct al_linked_changes *linked, struct al_repo *repo,
                    const char *journal_file, struct al_run_limits *budget,
                    struct al_strv *ret_lost, struct al_error *err);

/** Move the worktrees aside that the target does not have. */
int al_linked_remove(const struct al_restore *restore, const struct al_linked_changes *linked,
                     struct al_error *err);

/** Move the worktrees back that the target has, and lock or unlock them. */
int al_linked_restore(const struct al_restore *restore, const struct al_linked_changes *linked,
                      struct al_error *err);

#endif
