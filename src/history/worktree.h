// SPDX-License-Identifier: Apache-2.0
/*
 * Linked worktrees that are moved aside whole, and come back whole: the directory with all that is
 * in it, ignored files too, and the administrative directory with HEAD, index, own references,
 * logs, submodules and the state of an operation.
 *
 * git could collect meanwhile what only the worktree reached.  So its entry has a pack of that
 * (`kept-<hash>.pack`) beside the two directories, and the branch that it had checked out is noted:
 *
 *   is <id>               which worktree it is, see al_worktree_identity()
 *   branch <full name>    missing: HEAD was detached
 *   at <id>               where the branch was; missing: it was unborn
 *
 * Source: git-worktree(1), gitrepository-layout(5) worktrees/, git-pack-objects(1) --revs.
 */
#ifndef AL_HISTORY_WORKTREE_H
#define AL_HISTORY_WORKTREE_H

#include <stdbool.h>

#include "base/error.h"
#include "git/plumbing/gitdir.h"
#include "git/repo/repo.h"
#include "verbs/worktree/find.h"

/** The identity of a worktree: the same after it came back, and another one if it was made again
 * under its name.  Caller frees; NULL: there is none. */
char *al_worktree_identity(const struct al_worktree_found *found);

/* --- In a checkpoint of another working tree --- */

/*
 * A checkpoint has a file `state/linked<top>` for each linked worktree that its execution may make
 * or remove, and `state/linked-lock<top>` for each that it may lock or unlock; one after a program
 * has run the first kind for those that were not there before.  The first line says which one is
 * there, or locked: al_worktree_identity(), also when it came back, so that one which is made again
 * in its place is another; "-": none.  The rest is
 *
 *   linked        a digest of the work in it: whether somebody has worked there since.  HEAD, what
 *                 is staged, changed and untracked, an operation in progress, submodules; what git
 *                 ignores does not count
 *   linked-lock   the reason
 */
#define AL_LINKED_PREFIX      "linked/"
#define AL_LINKED_LOCK_PREFIX "linked-lock/"
/** One that a program moved out of the working tree, or into it: where it was, or is, inside. */
#define AL_LINKED_MOVED_PREFIX "linked-moved/"

/**
 * Add those that git_worktree has not made as "linked<top>", but for the known ones, and of these
 * those that were moved.  A checkpoint that has one as a whole has no files of it.
 *
 * @param known  What was added without any; NULL: add what tells those that there are from others.
 */
int al_linked_add(const struct al_repo *repo, const struct al_strv *known, struct al_strv *linked,
                  struct al_error *err);

/** Find a worktree by its top. */
int al_linked_find(const struct al_repo *repo, const char *top, struct al_worktree_place *ret_place,
                   struct al_worktree_found *ret_found, struct al_error *err);

/** Clear up as al_worktree_tidy() does where these are, which may be outside of the roots: it is a
 * checkpoint that names them, and not only the repository. */
void al_linked_tidy(const struct al_repo *repo, const struct al_strv *linked);

/** Add these files to those of the git directory.
 * @param names  As al_checkpoint_reason.linked. */
int al_linked_read(const struct al_repo *repo, const struct al_strv *names,
                   struct al_gitdir_files *files, struct al_error *err);

/** The worktree that such a file is about.  Caller frees; NULL: none. */
char *al_linked_is(const struct al_str *text);

/** Test whether this is the id of such a file that is about none; NULL is. */
bool al_linked_is_none(const char *oid, bool sha256);

/* --- Aside --- */

/**
 * Move a worktree aside.  The caller holds the repository's write lock.
 *
 * @param keeps  It may come back; false: then it is removed for good.
 * @return 0; an error, and everything is where it was.
 */
int al_worktree_put_aside(const struct al_repo *repo, const struct al_worktree_place *place,
                          const struct al_worktree_found *found, const char *name, bool keeps,
                          struct al_error *err);

/**
 * Check that a worktree could come back: it is aside, and nothing else has its place, or its branch
 * checked out.
 *
 * @param found  What has its name now.  A worktree there goes first.
 * @param id     Its identity.
 */
int al_worktree_check_return(const struct al_repo *repo, const struct al_worktree_place *place,
                             const struct al_worktree_found *found, const char *name,
                             const char *id, struct al_error *err);

/**
 * Move a worktree back, with its branch if that is gone.  The caller holds the write lock.
 *
 * @return 0; AL_ERR_NOT_FOUND; an error that names what is in the way, and it is still aside.
 */
int al_worktree_bring_back(const struct al_repo *repo, const struct al_worktree_place *place,
                           const char *name, const char *id, struct al_error *err);

/** Clear up what processes left that were killed, see al_aside_tidy(): when it is another
 * repository than the last time in this process, or `again`.  `ret_kept` may be NULL. */
void al_worktree_tidy(const struct al_repo *repo, bool again, struct al_strv *ret_kept);

#endif
