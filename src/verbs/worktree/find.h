// SPDX-License-Identifier: Apache-2.0
/*
 * A linked worktree below airlock's directory, found by its name.
 *
 * The two halves have to name each other, as git/location.h says:
 *
 *   <dir>/<name>/.git               gitdir: <common>/worktrees/<id>
 *   <common>/worktrees/<id>/gitdir  <dir>/<name>/.git
 *
 * A pair that does not was moved, half removed or forged by hand.  Nothing is then believed of the
 * half in the working tree, which an agent can write.
 *
 * Source: gitrepository-layout(5), git-worktree(1).
 */
#ifndef AL_VERBS_WORKTREE_FIND_H
#define AL_VERBS_WORKTREE_FIND_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/repo/repo.h"

/* --- Record --- */

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

/** Test whether airlock has made the worktree with this top, wherever a tool runs: one can remove
 * it. */
bool al_worktree_is_recorded(const struct al_repo *repo, const char *top);

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

/* --- Place --- */

/*
 * The directory in which airlock makes linked worktrees: `[worktrees] dir` of the configuration.
 *
 *   absolute    as it is; no component may be a link
 *   relative    below the main working tree; of a bare repository below the directory whose `.git`
 *               file leads to it, else below its own
 *
 * The main working tree need not be a root of the session.  It is found from the common directory,
 * which belongs to the session since it began, and nothing that an agent writes is followed.
 *
 * Source: git-worktree(1), gitrepository-layout(5).
 */

/** Set up with AL_WORKTREE_PLACE_INIT. */
struct al_worktree_place {
    char *main; /**< what a relative `dir` is below; canonical */
    char *dir;  /**< canonical, where worktrees are or will be */
    int fd;     /**< `dir`, open for reading; -1: it does not exist */
    bool made;  /**< it was made just now */
};

#define AL_WORKTREE_PLACE_INIT ((struct al_worktree_place){ .fd = -1 })

void al_worktree_place_clear(struct al_worktree_place *place);

/**
 * Find the directory.
 *
 * @param make  Make it if it is missing, with a `.gitignore` of its own: git never lists it.
 * @return 0; AL_ERR_EXECUTION when a link or a file is in the way, or it cannot be made.
 */
int al_worktree_place_find(const struct al_repo *repo, bool make,
                           struct al_worktree_place *ret_place, struct al_error *err);

/** Check the name of a worktree: one component of [A-Za-z0-9._-], 64 at most, no leading '-', not
 * ".", ".." or ".git".  AL_ERR_BAD_ARGS names the parameter. */
int al_worktree_check_name(const char *param, const char *name, struct al_error *err);

/* --- Find --- */

/** Set up with AL_WORKTREE_FOUND_INIT. */
struct al_worktree_found {
    char *top;     /**< `<dir>/<name>` */
    char *id;      /**< its name below worktrees/; NULL: no administrative directory names it */
    char *git_dir; /**< `<common>/worktrees/<id>`; NULL as well */
    bool has_top;  /**< there is something at `top` */
    bool is_whole; /**< both halves are there and name each other */
    char *locked;  /**< the reason that it is locked, "" without one; NULL: it is not */
};

#define AL_WORKTREE_FOUND_INIT ((struct al_worktree_found){ .top = NULL })

void al_worktree_found_clear(struct al_worktree_found *found);

/** Look for a worktree.  A name that nothing has is no error: neither `id` nor `has_top` is set. */
int al_worktree_find(const struct al_repo *repo, const struct al_worktree_place *place,
                     const char *name, struct al_worktree_found *ret_found, struct al_error *err);

/** The number of worktrees below the directory. */
int al_worktree_count(const struct al_repo *repo, const struct al_worktree_place *place,
                      size_t *ret_count, struct al_error *err);

#endif
