// SPDX-License-Identifier: Apache-2.0
/*
 * Landing: bringing one branch into another without checking anything out.
 *
 *   al_landing_plan()     what the other branch would become, built in memory
 *   al_landing_check()    what has to hold before a user is asked
 *   al_landing_preview()  the text for the approval
 *   al_landing_run()      objects come to the repository, the reference moves if it is where it
 * was, and the working tree that has the branch checked out is brought along
 *
 * The repository is opened in the working tree that has the branch checked out, if there is one in
 * the roots.  Nothing is written before al_landing_run(), and there nothing but objects before the
 * reference moves.
 *
 * Source: git-merge(1), git-rebase(1), git-update-ref(1).
 */
#ifndef AL_VERBS_LANDING_LANDING_H
#define AL_VERBS_LANDING_LANDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"
#include "verbs/inmemory/inmemory.h"

/* --- Branches --- */

/* Branches that are compared and landed, by name and commit. */

#define AL_HEADS "refs/heads/"

/** A branch of the repository. */
struct al_named_branch {
    char *ref; /**< full name */
    char *oid; /**< its commit */
};

void al_named_branch_clear(struct al_named_branch *branch);

/** The name without refs/heads/; borrowed. */
const char *al_named_branch_name(const struct al_named_branch *branch);

/** Check the name of a branch as an argument: the short name, so that a branch has one spelling. */
int al_landing_check_name(const char *param, const char *name, struct al_error *err);

/** Refuse a branch, by its full name, that stands for another one: writing it would move that. */
int al_landing_check_direct(const struct al_repo *repo, const char *ref, struct al_error *err);

/**
 * Find a branch by its short name.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_BRANCH_NOT_FOUND; AL_ERR_EXECUTION also for one that
 *         stands for another branch.
 */
int al_landing_find(const struct al_repo *repo, const char *name,
                    struct al_named_branch *ret_branch, struct al_error *err);

/** The short name of the branch that others land in: main, else origin's default branch, else
 * master.  AL_ERR_EXECUTION when there is none of them.  Caller frees. */
int al_landing_default(const struct al_repo *repo, char **ret_name, struct al_error *err);

/* --- Landing --- */

enum al_landing_strategy {
    AL_LAND_MERGE,  /**< a merge commit, always */
    AL_LAND_SQUASH, /**< one commit with all the changes */
    AL_LAND_REBASE, /**< new commits on top; `branch` stays where it is */
    AL_LAND_FF,     /**< `into` becomes `branch`, which must descend from it */
};

/** The name of a strategy, as the argument has it. */
const char *al_landing_strategy_name(enum al_landing_strategy strategy);

/** The branch to land.  Borrowed. */
struct al_landing_request {
    const char *branch, *into; /**< short names */
    enum al_landing_strategy strategy;
    const char *message; /**< of the commit of a merge or a squash; NULL: made from the branch */
};

/** A planned landing. */
struct al_landing {
    const struct al_repo *repo; /* borrowed */
    struct al_named_branch branch, into;
    enum al_landing_strategy strategy;
    struct al_inmemory *memory;
    char *commit;     /* that `into` becomes; NULL: nothing can or has to be done */
    char *message;    /* of that commit, if one is made here; else NULL */
    char *tree;       /* of that commit */
    size_t commits;   /* that come in */
    bool is_diverged; /* AL_LAND_FF: `branch` does not descend from `into` */
    struct al_merged conflict;
    char *conflict_commit; /* AL_LAND_REBASE: the commit that conflicts */
};

/** Free a landing; NULL is fine. */
void al_landing_free(struct al_landing *landing);

/**
 * Find out what would land.
 *
 * @return 0, with conflicts too; AL_ERR_EXECUTION for a branch that does not exist, and as
 *         al_inmemory_merge() and al_inmemory_commit().
 */
int al_landing_plan(const struct al_repo *repo, const struct al_landing_request *request,
                    struct al_landing **ret_landing, struct al_error *err);

/** Test whether the repository's working tree has a branch (a full name) checked out. */
bool al_landing_is_checked_out(const struct al_repo *repo, const char *ref);

/**
 * Open the working tree that has `into` checked out, if it is another one than that of `repo`.
 *
 * @param      into      A short name.
 * @param[out] ret_repo  NULL: `repo` is the one, or no working tree has it checked out.
 * @return 0; AL_ERR_SANDBOX naming one that is not in the roots.
 */
int al_landing_open_worktree(const struct al_repo *repo, const char *into,
                             struct al_repo **ret_repo, struct al_error *err);

/** Refuse while a working tree rebases or bisects `into`, while another one has it checked out,
 * while an operation is in progress in the one that has, and if the user has changed files there
 * that would change. */
int al_landing_check(const struct al_landing *landing, struct al_error *err);

/** Append the paths that change. */
int al_landing_paths(const struct al_landing *landing, struct al_strv *ret_paths,
                     struct al_error *err);

/** Append the commits, the files with their numbers of lines, and the diff, as excerpts.  All of it
 * is verified against its ids. */
int al_landing_preview(const struct al_landing *landing, struct al_str *out, struct al_error *err);

/** Land.  The caller holds the write lock.
 *
 * @return 0; AL_ERR_EXECUTION when a branch has moved, or a file was changed, since it was planned;
 *         nothing is done then.
 */
int al_landing_run(struct al_landing *landing, struct al_error *err);

/** The most branches that are compared: the merges grow with their square. */
#define AL_COMPARE_BRANCHES_MAX 16

/** One branch. */
struct al_compared {
    struct al_named_branch branch;
    char *base;           /**< the merge base with `into`; NULL: unrelated histories */
    size_t ahead, behind; /**< of `into`, in commits */
    struct al_strv files; /**< that it changed since the base */
    size_t clashes;       /**< others that it conflicts with, `into` included */
};

/** Two branches that conflict. */
struct al_clash {
    size_t one, other;        /**< indexes; `other` is AL_COMPARE_INTO for `into` */
    struct al_strv conflicts; /**< paths; empty: their histories are unrelated */
};

#define AL_COMPARE_INTO SIZE_MAX

struct al_branch_comparison {
    struct al_named_branch into;
    struct al_compared *branches;
    size_t count;
    struct al_clash *clashes;
    size_t nclashes;
    size_t *order; /**< indexes of branches, in the order that is suggested */
};

void al_branch_comparison_clear(struct al_branch_comparison *comparison);

/**
 * Compare branches.
 *
 * @param into   A short name.
 * @param names  Short names, AL_COMPARE_BRANCHES_MAX at most.
 */
int al_landing_compare(const struct al_repo *repo, const char *into, const struct al_strv *names,
                       struct al_branch_comparison *comparison, struct al_error *err);

/** Append the short names of the branches that working trees have checked out, except `into`; if
 * there are none, those of all branches that `into` does not contain.  At most
 * AL_COMPARE_BRANCHES_MAX.
 *
 * @param[out] ret_more  How many were left out.
 */
int al_landing_candidates(const struct al_repo *repo, const char *into, struct al_strv *ret_names,
                          size_t *ret_more, struct al_error *err);

#endif
