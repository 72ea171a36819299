// SPDX-License-Identifier: Apache-2.0
/*
 * The submodules of a linked worktree.
 *
 * Each working tree has repositories of its own for its submodules:
 *
 *   <common>/modules/<name>                 of the main working tree
 *   <common>/worktrees/<id>/modules/<name>  of a linked one
 *
 * Those of a new worktree are made from those of the working tree that it is made from: objects are
 * linked, references of remotes and tags are copied, and no address is followed.  What a `.git`
 * file or `.gitmodules` names is only compared with where the repository has to be.
 *
 * They go and come back with their worktree (history/worktree.h).
 *
 * Source: gitsubmodules(7), gitmodules(5), gitrepository-layout(5).
 */
#ifndef AL_GITOPS_WORKTREE_SUBMODULES_H
#define AL_GITOPS_WORKTREE_SUBMODULES_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

/** The bounds of one call: submodules, files of their object stores, bytes that are copied where
 * files cannot be linked, references of each. */
#define AL_WORKTREE_SUBMODULES_MAX      64
#define AL_WORKTREE_SUBMODULE_FILES_MAX 100000
#define AL_WORKTREE_SUBMODULE_BYTES_MAX (1u << 30)
#define AL_WORKTREE_SUBMODULE_REFS_MAX  10000

/** One submodule.  Owned strings. */
struct al_worktree_submodule {
    char *path; /**< from the top of the worktree */
    char *dir; /**< its git directory, from that of the worktree: "modules/<name>/modules/<name>" */
    char *head; /**< what its HEAD says, without the line end */
};

void al_worktree_submodule_clear(struct al_worktree_submodule *submodule);

/** A list.  Set up with AL_WORKTREE_SUBMODULES_INIT. */
struct al_worktree_submodules {
    struct al_worktree_submodule *items;
    size_t count;
};

#define AL_WORKTREE_SUBMODULES_INIT ((struct al_worktree_submodules){ .items = NULL })

void al_worktree_submodules_clear(struct al_worktree_submodules *submodules);

/** A worktree whose submodules are made.  Borrowed. */
struct al_worktree_half {
    const struct al_repo
        *repo;           /**< another working tree of the repository: it was made from this */
    const char *top;     /**< canonical */
    const char *git_dir; /**< canonical */
};

/**
 * Append the submodules of a repository that have an entry in its index and a name in its
 * `.gitmodules`; `head` is the commit of the entry.
 *
 * @param path     Of the repository, from the top of the worktree: "" or "<path>/".
 * @param dir      Of its git directory, in the same way.
 * @param refused  Gets "'<path>': <reason>" for those with a name that is none.
 */
int al_worktree_list_submodules(const struct al_repo *repo, const char *path, const char *dir,
                                struct al_run_limits *budget, struct al_worktree_submodules *list,
                                struct al_strv *refused, struct al_error *err);

/** What was made of the submodules of a worktree. */
struct al_worktree_submodules_made {
    size_t count;
    struct al_strv missing; /**< "'<path>': <reason>", safe text */
};

/**
 * Make the submodules of a new worktree, and theirs, as far as they are initialised in the working
 * tree that it was made from.
 *
 * @return 0, also if one could not be made: it is in `missing`, and nothing is left of it.
 */
int al_worktree_make_submodules(const struct al_worktree_half *half, struct al_run_limits *budget,
                                struct al_worktree_submodules_made *made, struct al_error *err);

/** Make one submodule of a worktree; on failure nothing of it is left.  (submodule_make.c)
 * @param files_left  Of AL_WORKTREE_SUBMODULE_FILES_MAX; reduced. */
int al_worktree_make_submodule(const struct al_worktree_half *half,
                               const struct al_worktree_submodule *submodule, size_t *files_left,
                               struct al_run_limits *budget, struct al_error *err);

/** The git directory that a submodule is made from; NULL: there is none.  Caller frees. */
char *al_worktree_submodule_source(const struct al_repo *repo, const char *dir);

/** Open a submodule that was made. */
struct al_worktree_beside;
int al_worktree_open_made(const struct al_worktree_half *half,
                          const struct al_worktree_submodule *submodule,
                          struct al_run_limits *budget, struct al_worktree_beside *ret_beside,
                          struct al_error *err);

/** Link, or copy, the files of an object store into another one.  (submodule_objects.c)
 * @return 0; AL_ERR_EXECUTION when it borrows objects, is too large, or changes meanwhile. */
int al_worktree_link_objects(int from_fd, int to_fd, size_t *files_left,
                             struct al_run_limits *budget, struct al_error *err);

#endif
