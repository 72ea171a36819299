// SPDX-License-Identifier: Apache-2.0
/*
 * Linked worktrees in a checkpoint of another worktree: what git_worktree makes, locks and removes.
 *
 * The checkpoint has a file `state/linked/<name>` for each worktree that the execution is about:
 *
 *   absent NL                       there is nothing of this name
 *
 *   worktree NL                     there is one
 *   from <path> NL                  the worktree that it was made in; missing: by others
 *   agent <name> NL                 who made it; missing: nobody said
 *   born <id> NL                    which one it is, also when it was brought back; missing:
 * unknown owner <id> NL                   what its stash entries are known by top <path> NL its top
 *   id <name> NL                    its name below worktrees/
 *   checkpoint <id, or -> NL        a checkpoint in its own store; "-": its files were not there
 *   file <octal> <size> <path> NL   each file of its administrative directory, and its `.git` file
 *     <bytes> NL                    as "/.git"; the index only where there is no checkpoint
 *
 * Whether it is locked is in a file of its own, `state/linked-lock/<name>`: "unlocked NL", also if
 * there is no worktree, or "locked SP <which one it is> NL" and the bytes of the file `locked`: a
 * worktree that is made again under its name was not locked.  Without the id it may be any.
 *
 * Two such files are equal when nothing changed in the worktree: a checkpoint of it that has no
 * difference to the last one is not kept, and the last one named again.
 *
 * Source: gitrepository-layout(5) worktrees/.
 */
#ifndef AL_CHECKPOINT_LINKED_H
#define AL_CHECKPOINT_LINKED_H

#include <stdbool.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/gitdir.h"
#include "gitops/worktree/beside.h"
#include "gitops/worktree/find.h"
#include "gitops/worktree/submodules.h"
#include "util/str.h"

/** The directory of these files in `state/`. */
#define AL_LINKED_PREFIX      "linked/"

#define AL_LINKED_LOCK_PREFIX "linked-lock/"

/** The path of the `.git` file among those of a worktree. */
#define AL_LINKED_DOT_GIT "/.git"

/** The prefix of a submodule's path among those files.  The bytes of such a file are not
 * of a file, but "dir <git directory, from the administrative one> NL", "head <what HEAD says> NL",
 * and its references as packed-refs has them. */
#define AL_LINKED_SUBMODULE "/modules/"

/** One worktree as it is now. */
struct al_linked_item {
    struct al_str text; /* as described above */
    struct al_worktree_beside beside;
    struct al_store *store;                /* its own; NULL: there is no checkpoint of it */
    struct al_pending_checkpoint *pending; /* NULL: the last one is named again */
    char id[AL_OID_TEXT];                  /* of the pending one */
    char *branch;                          /* what HEAD names, or NULL */
    struct al_strv own_refs;               /* references that go with the worktree */
};

/** Test whether a reference belongs to one worktree, and is not shared (git-worktree(1) REFS). */
bool al_linked_is_own_ref(const char *name);

/** All worktrees of a reason. */
struct al_linked {
    struct al_linked_item *items;
    size_t count;
    struct al_strv left_out; /**< "<name>/<path>" of files that a checkpoint of one does not have */
};

void al_linked_clear(struct al_linked *linked);

/**
 * Look at the worktrees that reason->linked names.  Their stores do not change yet.
 *
 * @param exactly  A checkpoint of a worktree is kept, too, when only the bytes of its index differ.
 */
int al_linked_read(struct al_store *store, const struct al_checkpoint_reason *reason,
                   struct al_run_limits *budget, struct al_linked *ret_linked,
                   struct al_error *err);

/** Keep the checkpoints of the worktrees, with the commits that only their HEAD or branch reach. */
int al_linked_accept(struct al_linked *linked, struct al_run_limits *budget, struct al_error *err);

/** Add the files of the worktrees to those of the git directory. */
void al_linked_add_state(const struct al_linked *linked, const struct al_strv *names,
                         struct al_gitdir_files *files);

/** A worktree as a checkpoint has it.  Set up with AL_LINKED_SAVED_INIT. */
struct al_linked_saved {
    bool exists;
    char *top, *id;
    char *from, *agent, *born, *owner; /**< NULL: unknown */
    char checkpoint[AL_OID_TEXT];      /**< "": there is none */
    struct al_gitdir_files files;      /**< relative to the administrative directory, or "/.git" */
};

#define AL_LINKED_SAVED_INIT ((struct al_linked_saved){ .exists = false })

void al_linked_saved_clear(struct al_linked_saved *saved);

/** Which worktree the one of a name is: one that a rollback has brought back is still the same, and
 * one that was made again under its name is another one.  Caller frees; NULL: there is none. */
char *al_linked_identity(const struct al_repo *repo, const char *name,
                         const struct al_worktree_found *found);

/** A lock as a checkpoint has it.  Borrowed, but for `of`. */
struct al_linked_lock {
    char *of; /**< al_linked_identity(); NULL: unknown; owned */
    const char *bytes;
    size_t len;
};

/** Parse a file of `state/linked-lock/`.  False, with nothing to free: it is unlocked. */
bool al_linked_parse_lock(const struct al_str *text, struct al_linked_lock *ret_lock);

/** Add the submodules of a worktree to its text.  (linked_submodules.c) */
int al_linked_add_submodules(struct al_str *text, const struct al_worktree_half *half,
                             struct al_run_limits *budget, struct al_error *err);

/** Parse such bytes.  False: they are not in this form.  The caller clears *ret_submodule. */
bool al_linked_parse_submodule(const struct al_gitdir_file *file,
                               struct al_worktree_submodule *ret_submodule);

/** Parse a file of `state/linked/`.  False: it is not in this form. */
bool al_linked_parse(const struct al_str *text, struct al_linked_saved *ret_saved);

#endif
