// SPDX-License-Identifier: Apache-2.0
/*
 * The submodules of a linked worktree.
 *
 * Each working tree has repositories of its own for its submodules:
 *
 *   <common>/modules/<name>                 of the main working tree
 *   <common>/worktrees/<id>/modules/<name>  of a linked one
 *
 * Those of a new worktree are made from those of the working tree that it is made from: git copies
 * objects and the references of remotes and tags, and no address is followed.  Names in a `.git`
 * file or `.gitmodules` are only compared with where the repository has to be.
 *
 * They go and come back with their worktree (history/worktree.h).
 *
 * Source: gitsubmodules(7), gitmodules(5), gitrepository-layout(5).
 */
#ifndef AL_VERBS_WORKTREE_SUBMODULES_H
#define AL_VERBS_WORKTREE_SUBMODULES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/repo/repo.h"

/** One submodule.  Owned strings. */
struct al_worktree_submodule {
    char *path; /**< from the top of the worktree */
    char *dir; /**< its git directory, from that of the worktree: "modules/<name>/modules/<name>" */
    char *head; /**< what its HEAD says, without the line end; of a list, the commit of its entry */
    char *url, *update; /**< of a list: what `.gitmodules` says; NULL: nothing */
};

/** Several. */
struct al_worktree_submodules {
    struct al_worktree_submodule *items;
    size_t count;
};

#define AL_WORKTREE_SUBMODULES_INIT ((struct al_worktree_submodules){ .items = NULL })

void al_worktree_submodules_clear(struct al_worktree_submodules *submodules);

/**
 * Append the submodules of a repository that have an entry in its index and a name in its
 * `.gitmodules`.
 *
 * @param path     Of the repository, from the top of the worktree: "" or "<path>/".
 * @param dir      Of its git directory, in the same way.
 * @param words    git's pathspecs, from the working directory; NULL or none: all.
 * @param refused  Gets "'<path>': <reason>" for those with a name that is none.
 */
int al_worktree_list_submodules(const struct al_repo *repo, const char *path, const char *dir,
                                const struct al_strv *words, struct al_worktree_submodules *list,
                                struct al_strv *refused, struct al_error *err);

/** Append what is configured for submodules, or what `.gitmodules` says, as
 * "submodule.NAME.VARIABLE NL VALUE". */
void al_worktree_submodule_settings(const struct al_repo *repo, bool of_modules,
                                    struct al_strv *lines);

/** The value that such lines give a submodule, the last one.  NULL: none.  Borrowed. */
const char *al_worktree_submodule_value(const struct al_strv *lines, const char *name,
                                        const char *variable);

/** A worktree whose submodules are made.  Borrowed. */
struct al_worktree_half {
    const struct al_repo
        *repo;           /**< another working tree of the repository: it was made from this */
    const char *top;     /**< canonical */
    const char *git_dir; /**< canonical */
};

/** The submodules that were made for a worktree. */
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
int al_worktree_make_submodules(const struct al_worktree_half *half,
                                struct al_worktree_submodules_made *made, struct al_error *err);

#endif
