// SPDX-License-Identifier: Apache-2.0
/*
 * Linked worktrees in a checkpoint of another worktree: what git_worktree makes, locks and removes.
 *
 * The checkpoint has a file `state/linked/<name>` for each worktree that the execution is about:
 *
 *   absent NL                there is nothing of this name
 *
 *   worktree NL              there is one
 *   is <id> NL               which one it is, also when it came back: al_worktree_identity()
 *   id <name> NL             its name below worktrees/
 *   work <digest> NL         al_worktree_work(): whether somebody has worked in it since
 *   top <path> NL            its top
 *
 * Whether it is locked is in a file of its own, `state/linked-lock/<name>`: "unlocked NL", also if
 * there is no worktree, or "locked SP <which one it is> NL" and the bytes of the file `locked`: a
 * worktree that is made again under its name was not locked.
 *
 * The worktree itself is in no checkpoint: it is moved aside and back whole (history/worktree.h).
 *
 * Source: gitrepository-layout(5) worktrees/.
 */
#ifndef AL_HISTORY_LINKED_H
#define AL_HISTORY_LINKED_H

#include <stdbool.h>

#include "history/checkpoint.h"
#include "history/gitdir.h"
#include "util/str.h"

/** The directories of these files in `state/`. */
#define AL_LINKED_PREFIX      "linked/"
#define AL_LINKED_LOCK_PREFIX "linked-lock/"

/** The files of the worktrees that a reason names, in its order. */
struct al_linked {
    struct al_str *texts;
    size_t count;
};

void al_linked_clear(struct al_linked *linked);

/** Look at the worktrees that reason->linked names. */
int al_linked_read(struct al_store *store, const struct al_checkpoint_reason *reason,
                   struct al_run_limits *budget, struct al_linked *ret_linked,
                   struct al_error *err);

/** Add the files of the worktrees to those of the git directory. */
void al_linked_add_state(const struct al_linked *linked, const struct al_strv *names,
                         struct al_gitdir_files *files);

/** A worktree as a checkpoint has it.  Owned strings; set up with AL_LINKED_SAVED_INIT. */
struct al_linked_saved {
    bool exists;
    char *is, *id, *top;
};

#define AL_LINKED_SAVED_INIT ((struct al_linked_saved){ .exists = false })

void al_linked_saved_clear(struct al_linked_saved *saved);

/** Parse a file of `state/linked/`.  False: it is not in this form. */
bool al_linked_parse(const struct al_str *text, struct al_linked_saved *ret_saved);

/** A lock as a checkpoint has it.  Borrowed, but for `of`. */
struct al_linked_lock {
    char *of; /**< al_worktree_identity(); owned */
    const char *bytes;
    size_t len;
};

/** Parse a file of `state/linked-lock/`.  False, with nothing to free: it is unlocked. */
bool al_linked_parse_lock(const struct al_str *text, struct al_linked_lock *ret_lock);

#endif
