// SPDX-License-Identifier: Apache-2.0
/*
 * A series of commits, made in memory: each has a part of what changed, and is made on top of HEAD,
 * or goes into an earlier commit of the branch, on which the later ones are replayed.
 *
 *     r = al_series_make(repo, &series, &made, err);     changes nothing
 *     ... compare with what was shown ...
 *     r = al_series_do(repo, &series, &made, err);
 *
 * Every part is chosen from what changed before the series.  Commit number k of it has the tree of
 * what the parts up to k choose together; one that goes into an earlier commit is melded into that
 * as a fixup is.  The result has the same files at its tip, so the working tree stays as it is.
 */
#ifndef AL_VERBS_REPLAY_SERIES_H
#define AL_VERBS_REPLAY_SERIES_H

#include "verbs/inmemory/inmemory.h"
#include "verbs/porcelain/commit.h"

/** One commit of a series. */
struct al_series_item {
    const char *message;        /**< NULL: the commit that it goes into keeps its own */
    struct al_commit_part part; /**< added to those of the items before it */
    bool changes;               /**< false: only the message is another */
    const char *into;           /**< full id; NULL: it is a commit of its own */
};

/** The commits to make.  Borrowed. */
struct al_series {
    const struct al_series_item *items;
    size_t count;
    const char *head;   /**< the commit of HEAD; "" on an unborn branch */
    const char *author; /**< "Name <address>", of new commits; NULL: the user */
    const char *branch; /**< the full name of the branch to make and be on; NULL: the current one */
    bool allow_empty;
};

/** The commits that were made.  Zero-initialised there is nothing. */
struct al_series_made {
    struct al_inmemory *memory;
    struct al_commit_indexes indexes; /**< of all parts together */
    struct al_strv commits;           /**< for each item the commit that has it */
    char *tip;
    size_t replayed, dropped; /**< earlier commits that were replayed, and that have nothing left */
};

void al_series_made_clear(struct al_series_made *made);

/**
 * Make the commits in memory.  The caller holds the locks of al_git_choose_commit().
 *
 * @return 0; AL_ERR_BAD_ARGS when a hunk is not there or a commit is not of the branch;
 *         AL_ERR_EXECUTION for a conflict, which says with what, a merge in between, and a commit
 *         that would have nothing.
 */
int al_series_make(const struct al_repo *repo, const struct al_series *series,
                   struct al_series_made *made, struct al_error *err);

/** Bring the commits into the repository, and move the branch.  The index is the caller's. */
int al_series_do(struct al_repo *repo, const struct al_series *series, struct al_series_made *made,
                 struct al_error *err);

/** The parts that a commit was split into.  Set up with AL_SPLIT_INIT. */
struct al_split {
    struct al_strv commits;
    char *rest; /**< a commit on the last one with the hunks that no item names; NULL: there
                   are none */
    struct al_strv paths; /**< the files of those */
};

#define AL_SPLIT_INIT ((struct al_split){ .commits = AL_STRV_INIT, .paths = AL_STRV_INIT })

void al_split_clear(struct al_split *split);

/**
 * Split a commit in memory: a chain of commits on its parent, each with the hunks of its own that
 * an item names (`message` and `part`), and its author.
 *
 * @return 0; AL_ERR_BAD_ARGS for a hunk that is not there, that two want, and a part without any.
 */
int al_series_split(struct al_inmemory *memory, const char *commit,
                    const struct al_series_item *items, size_t count, struct al_split *ret_split,
                    struct al_error *err);

/** Fail with what a replay stopped at: the commit, the files, and their hunks as far as they fit.
 *
 * @param what  What is wrong with the commit, as in "cannot be replayed". */
int al_replay_conflict(const struct al_inmemory *memory, const struct al_replayed *replayed,
                       const char *commit, const char *what, const char *remedy,
                       struct al_error *err);

#endif
