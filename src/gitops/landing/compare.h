// SPDX-License-Identifier: Apache-2.0
/*
 * How branches would combine: with the branch that they are to land in, and with each other.
 * Everything is tried in memory, and nothing is touched.
 */
#ifndef AL_GITOPS_LANDING_COMPARE_H
#define AL_GITOPS_LANDING_COMPARE_H

#include "gitops/landing/landing.h"

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
                       struct al_run_limits *budget, struct al_branch_comparison *ret_comparison,
                       struct al_error *err);

/** Append the short names of the branches that working trees have checked out, except `into`; if
 * there are none, those of all branches that `into` does not contain.  At most
 * AL_COMPARE_BRANCHES_MAX.
 *
 * @param[out] ret_more  How many were left out.
 */
int al_landing_candidates(const struct al_repo *repo, const char *into,
                          struct al_run_limits *budget, struct al_strv *ret_names, size_t *ret_more,
                          struct al_error *err);

#endif
