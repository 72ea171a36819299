// SPDX-License-Identifier: Apache-2.0
/*
 * Replaying commits on the current branch: in memory first, and for real once it is known to stop.
 *
 *     struct al_replay_work *work = al_replay_work_new();
 *
 *     ... set kind, onto, steps ...
 *     r = al_replay_work_try(repo, work, err);     changes nothing
 *     ... show what would be, ask ...
 *     r = al_replay_work_do(repo, work, max_bytes, &outcome, err);
 *
 * Work that does not conflict is written once: the objects, then the branch, the index and the
 * files. git itself begins again what conflicts, without the uncommitted changes, which wait
 * (verbs/replay/along.h): so the state of a stopped rebase, cherry-pick or revert is git's own, and
 * git can go on with it.
 *
 * Source: git-rebase(1), git-cherry-pick(1), git-revert(1).
 */
#ifndef AL_VERBS_REPLAY_WORK_H
#define AL_VERBS_REPLAY_WORK_H

#include <stdbool.h>

#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"
#include "verbs/inmemory/inmemory.h"
#include "verbs/sequencer/merge.h"

/* --- Commit list --- */

/*
 * The commits that a cherry-pick, a revert or a rebase is about, as full ids.
 *
 * Source: git-rev-list(1), git-rebase(1), "--reapply-cherry-picks".
 */

/** Append the commits that a word names: one, or those of a range "A..B".
 *
 * @param newest_first  The order of a range. */
int al_commit_list_add(const struct al_repo *repo, const char *word, bool newest_first,
                       struct al_strv *out, struct al_error *err);

/** The commits that `git rebase <onto>` replays.  Each list is oldest first. */
struct al_rebase_list {
    struct al_strv commits; /**< those to replay */
    struct al_strv all;     /**< them, and those whose change `onto` has already */
    struct al_strv merges;  /**< they are left out */
};

#define AL_REBASE_LIST_INIT ((struct al_rebase_list){ .commits = AL_STRV_INIT })

void al_rebase_list_clear(struct al_rebase_list *list);

/** List the commits that a tip has and `onto` has not.
 *
 * @param onto  A full id; NULL: all commits of the tip. */
int al_commit_list_rebase(const struct al_repo *repo, const char *onto, const char *tip,
                          struct al_rebase_list *ret_list, struct al_error *err);

/** Find what commits of one line are on.
 *
 * @param[out] ret_oldest  The one that the others build on; a commit that is none of them if they
 *                         are not of one line; NULL: they have no common history.
 * @param[out] ret_onto    The commit below it; NULL: the history begins with it.
 * @return 0; AL_ERR_EXECUTION where the history of a shallow clone begins. */
int al_commit_list_base(const struct al_repo *repo, const struct al_strv *oids, char **ret_oldest,
                        char **ret_onto, struct al_error *err);

/* --- Advance --- */

/*
 * Move the current branch, the index and the working tree to a commit that was made in memory.
 *
 * Uncommitted changes go along (verbs/replay/along.h).  The call puts back from its checkpoint what
 * is left half done.
 *
 * Source: git-read-tree(1) "Two Tree Merge", git-update-ref(1).
 */

struct al_replay_work;

/** The move to make. */
struct al_advance {
    const char *from;   /**< the commit of HEAD */
    const char *to;     /**< the commit to move to */
    const char *reflog; /**< the entry of the reflog: "rebase (finish)" */
    const char *left; /**< the commit that the branch and the index move to: the difference to `to`
                         is left uncommitted.  NULL: `to` */
    const struct al_replay_work *along; /**< its branches move in the same transaction; NULL */
    bool keeps_head; /**< only the index and the working tree move: the change is not committed */
    bool detaches;   /**< HEAD leaves its branch, which stays */
    bool sets_orig_head;
};

/**
 * Move.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR when local changes conflict, when
 * untracked files would be overwritten, and when HEAD is not at `from` any more.
 */
int al_git_advance(struct al_repo *repo, const struct al_advance *advance, struct al_error *err);

/* --- Work --- */

/** The command that the work is. */
enum al_replay_work_kind { AL_WORK_REBASE, AL_WORK_CHERRY_PICK, AL_WORK_REVERT };

/** Another branch that follows: it points at a commit that is replayed.  The strings are owned. */
struct al_follower {
    char *ref, *from; /**< its full name, and the commit that it leaves */
    size_t after;     /**< it moves to what so many steps have made */
};

/** Commits to replay, and what came of it. */
struct al_replay_work {
    enum al_replay_work_kind kind;
    bool no_commit;  /**< of a cherry-pick and a revert: the changes are left in the index */
    bool goes_along; /**< uncommitted changes wait where it stops */
    bool is_root; /**< the history begins anew: `onto` is made by al_replay_work_try(), and stands
                     for nothing */
    char *onto;   /**< full id */
    char *onto_name;              /**< what the reflog says; NULL: the id */
    struct al_replay_step *steps; /**< their strings are owned */
    size_t nsteps;
    size_t rests; /**< so many steps at the end are left uncommitted; such work must not stop */
    bool autosquashes; /**< what is melded goes in front of the branches of what it melds with */
    struct al_follower *followers; /**< al_replay_work_try() leaves those that will move */
    size_t nfollowers;

    /* Set by al_replay_work_try(). */
    char *head; /**< the commit of HEAD */
    struct al_inmemory *memory;
    struct al_replayed replayed;
    char
        *files; /**< the commit that the files move to; NULL: replayed.tip, where the branch does */
};

/** New work without steps. */
struct al_replay_work *al_replay_work_new(void);
void al_replay_work_free(struct al_replay_work *work);

/** Add a step; the strings are copied, and `message` may be NULL. */
void al_replay_work_add(struct al_replay_work *work, enum al_replay_kind kind, const char *commit,
                        const char *message, unsigned mainline);

/** Add the commits of a list, oldest first, as `git rebase --autosquash` orders them. */
int al_replay_autosquash(const struct al_repo *repo, const struct al_strv *list,
                         struct al_replay_work *work, struct al_error *err);

/**
 * Add the other local branches that point at commits to be replayed, as `git rebase --update-refs`
 * places them.  The steps are in the work.
 *
 * @param list      What is replayed, oldest first, in the order that it has.
 * @param ret_held  Those that stay since a working tree uses them, and why: safe text.
 */
int al_replay_add_followers(const struct al_repo *repo, const struct al_strv *list,
                            struct al_replay_work *work, struct al_strv *ret_held,
                            struct al_error *err);

/** Fail if one of them was moved, or is used by a working tree, by now. */
int al_replay_check_followers(const struct al_repo *repo, const struct al_replay_work *work,
                              struct al_error *err);

/** The commit that it moves to, after al_replay_work_try(); NULL: it is not known, since the
 * replay stops before. */
const char *al_follower_to(const struct al_replay_work *work, const struct al_follower *follower);

/** Make new work the rebase of the current branch onto a commit, and try it.
 *
 * @param onto       A full id.
 * @param onto_name  What the reflog says.
 * @param list       What is replayed; the caller clears it. */
int al_replay_work_rebase(const struct al_repo *repo, struct al_replay_work *work, const char *onto,
                          const char *onto_name, struct al_rebase_list *list, struct al_error *err);

/** Replay in memory.  Conflicts are a success: work->replayed.stopped. */
int al_replay_work_try(const struct al_repo *repo, struct al_replay_work *work,
                       struct al_error *err);

/**
 * Do what was tried.  The caller holds the write lock.
 *
 * @return 0, with conflicts too; AL_ERR_EXECUTION as al_git_advance(), and what git fails with.
 */
int al_replay_work_do(struct al_repo *repo, struct al_replay_work *work, size_t max_bytes,
                      struct al_merge_outcome *ret_outcome, struct al_error *err);

/* --- Going on --- */

/*
 * Going on with a rebase, a cherry-pick or a revert: files of the user in the way of what is still
 * to come, which only the merges tell.
 */

/**
 * Fail as al_overwrite_check() does if a commit that is left would write over an untracked file.
 * The commits are merged in memory, up to the first conflict.
 *
 * @param skips  The commit at which it stopped is left out.  Otherwise nothing is in conflict.
 */
int al_going_on_check(const struct al_repo *repo, bool skips, struct al_error *err);

#endif
