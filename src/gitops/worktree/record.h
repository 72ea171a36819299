// SPDX-License-Identifier: Apache-2.0
/*
 * The linked worktrees that airlock has made, one file for each:
 *
 *   <state>/worktrees/<device>-<inode of the common directory>/<name>
 *
 *   path <path>            its top, canonical
 *   from <path>            the working tree in which it was made: a session with that root has it
 *                          as a root, too
 *   agent <name>           who made it; missing: nobody said
 *   tree <inode>.<birth>   which directory it is: one that is made again by hand is another
 *   branch <name> <id>     a branch that was made with it, and where; while it is being made
 *   making                 it is not finished: whoever finds this, with the repository's write lock
 *                          held, removes what is there
 *
 * The files lie outside every root, so no agent can make a root of a directory by them.
 */
#ifndef AL_GITOPS_WORKTREE_RECORD_H
#define AL_GITOPS_WORKTREE_RECORD_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

/** Set up with AL_WORKTREE_RECORD_INIT.  All strings are owned; NULL: not there. */
struct al_worktree_record {
    char *path, *from, *agent, *tree, *branch, *branch_oid;
    bool making;
};

#define AL_WORKTREE_RECORD_INIT ((struct al_worktree_record){ .path = NULL })

void al_worktree_record_clear(struct al_worktree_record *record);

/** Read the record of a name.  AL_ERR_NOT_FOUND when there is none that can be read. */
int al_worktree_record_read(const struct al_git *git, const char *common_dir, const char *name,
                            struct al_worktree_record *ret_record);

/** Write a record; it is on the disk when this returns. */
int al_worktree_record_write(const struct al_repo *repo, const char *name,
                             const struct al_worktree_record *record, struct al_error *err);

/** Remove a record, or give it another name: one that no worktree has, as long as this one is
 * aside. A missing one is fine.
 *
 * @param to  NULL: remove it. */
void al_worktree_record_move(const struct al_repo *repo, const char *name, const char *to);

/** Append the names that have a record, sorted. */
void al_worktree_record_names(const struct al_git *git, const char *common_dir,
                              struct al_strv *ret_names);

/** "<inode>.<birth>" of an open directory.  Caller frees; NULL: unknown. */
char *al_worktree_tree_id(int fd);

#endif
