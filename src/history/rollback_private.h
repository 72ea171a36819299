// SPDX-License-Identifier: Apache-2.0
/*
 * The parts that the files of the rollback share.
 *
 *   rollback.c            one rollback from its locks to its line in the journal
 *   rollback_executions.c which executions, and `airlock diff`, which shows them
 *   rollback_plan.c       what they changed together, what is there now, and the way back
 *   rollback_obstacles.c  whether each file, index entry, reference and worktree may be put back
 *   rollback_restore.c    puts back
 *
 * A value of a file is its blob and mode, that of HEAD and of a reference its text, that of the
 * index a digest of its entries; see struct al_difference.  An entry of the index is a change of
 * AL_PART_INDEX as well: its name is "/" and the path, its value a line "<tag> <mode> <oid>
 * <stage>" for each stage.
 */
#ifndef AL_HISTORY_ROLLBACK_PRIVATE_H
#define AL_HISTORY_ROLLBACK_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "git/git_lock.h"
#include "git/plumbing/stash_owners.h"
#include "history/journal.h"
#include "history/rollback.h"
#include "history/store.h"
#include "history/worktree.h"
#include "verbs/worktree/find.h"

/* --- Executions (rollback_executions.c) --- */

/** An execution of the journal that has a checkpoint before it. */
struct al_execution {
    uint64_t seq;
    char *tool;
    char *session; /**< the id of the session that made the call */
    char *agent;   /**< the name of the agent; NULL when it has none */
    char *summary; /**< NULL when there is none */
    char before[AL_OID_TEXT];
    bool pushes, fetches;       /**< what is known of a remote then stays */
    int64_t began_ms, ended_ms; /**< since 1970; -1: it was killed */
    bool held_no_lock;          /**< every change meanwhile, by whomever, is among `changes` */
    json_t *overlaps;           /**< owned; numbers of those that ended while it ran; may be NULL */
    bool interrupted;           /**< a rollback that was killed, or that stopped half way */
    bool redo;                  /**< a rollback that undid another rollback */
    json_t *input;              /**< owned; NULL unless the execution was a rollback */
    bool undone;                /**< it did not end, and a user has rolled it back */
    char *file; /**< the only one that it writes, below the top: a client's own; NULL: any */
    struct al_strv others; /**< for each that ran meanwhile and has another file: its `before` and
                                that file */
    struct al_execution *inside; /**< owned: see al_executions_absorb() */
    size_t ninside;

    bool is_read;                  /**< the rest is known */
    bool has_after;                /**< it ended, and `after` is its checkpoint */
    char after[AL_OID_TEXT];       /**< "": none */
    struct al_differences changes; /**< none if it did not end */
    struct al_differences entries; /**< of the index; read when they are needed */
};

/** Executions, oldest first. */
struct al_executions {
    struct al_execution *items;
    size_t count;
};

/**
 * Read the executions of one working tree from all files of a journal.
 *
 * @param file  The journal; it need not exist.
 * @param top   The top of the working tree, as in struct al_location.
 */
int al_executions_read(const char *file, const char *top, struct al_executions *ret_executions,
                       struct al_error *err);
void al_executions_clear(struct al_executions *executions);

/** Forget the executions of other agents, or of other sessions; NULL: any.  Their changes then
 * count like any other change. */
void al_executions_keep(struct al_executions *executions, const char *agent, const char *session);

/** Note which of them users have rolled back, for a session, which forgets what others do. */
void al_executions_mark_undone(struct al_executions *executions);

/** Make each execution of `airlock git` or `airlock run` that ran inside of another one of its
 * session a part of that one, whose checkpoints have what it changed. */
void al_executions_absorb(struct al_executions *executions);

/** Test whether the last execution is a rollback that was interrupted. */
bool al_executions_unfinished(const struct al_executions *executions);

/** Read what an execution changed, once. */
int al_execution_read(struct al_store *store, struct al_execution *execution, struct al_error *err);

/** Test whether a change only says what is known of a remote: where its branches are, after a push
 * which of them a branch follows, after a fetch which tags it has.  The remote stays as it is when
 * a call is undone. */
bool al_execution_tells_of_remote(const struct al_execution *execution,
                                  const struct al_difference *change);

/* --- Which of them --- */

struct al_plan {
    size_t oldest, end; /**< these executions, from one to before the other */
    size_t count;       /**< without those that are no step */
    bool has_command;   /**< one that held no lock; not of one that is continued */
    bool resumes;       /**< it continues a rollback that was interrupted, the one at `end` */
};

/* --- The way back (rollback_plan.c) --- */

/** A change of a linked worktree, or of its lock. */
struct al_linked_change {
    const char *top, *name; /* borrowed from the change */
    bool is_lock;
    char *from, *to;    /* which one is there or locked, and will be: see history/worktree.h */
    bool goes, returns; /* a worktree */
    struct al_str text; /* the rest, of `to` */
    struct al_worktree_place place;
    struct al_worktree_found found; /* as it is now */
};

/** Everything that one rollback, or putting back, is about. */
struct al_way {
    struct al_store *store;
    struct al_repo *repo;
    struct al_rollback *report;
    const char *journal_file;
    bool is_agents; /* a session takes back what is its own */
    int top_fd, git_fd, common_fd;
    char token[AL_LOCK_TOKEN];

    struct al_executions executions;
    struct al_plan plan;
    unsigned without;      /* the parts that its checkpoints do not have */
    struct al_strv linked; /* names of worktrees that the executions touched */

    char present[AL_OID_TEXT];
    struct al_pending_checkpoint
        *pending;                /* the checkpoint `present`; NULL when it is no new one */
    const struct al_saved *from; /* it, as it was read */
    struct al_stash_owners owners;

    struct al_differences changes; /* from the present to the target, in order; no entries */
    /** The checkpoint before the first execution that changed what is staged, or before an earlier
     * one that moved HEAD and is undone with it; "": none, or it is so already. */
    char staged_of[AL_OID_TEXT];
    const struct al_saved *index;  /* its index comes back, byte for byte; NULL: none */
    struct al_differences entries; /* otherwise: those that come back, one by one */
    struct al_linked_change *worktrees;
    size_t nworktrees;
};

/**
 * Plan which of the way's executions are undone.  One that only changed what is known of a remote
 * is no step: that stays.
 *
 * @return 0; AL_ERR_NOT_FOUND when there are not so many: way->plan.count says how many.
 */
int al_plan_make(struct al_way *way, const struct al_rollback_options *options,
                 struct al_error *err);

/** Name in the report the executions, of anybody, that are not in the plan and go with it: they
 * changed the same things while one of the plan ran that held no lock. */
int al_plan_meanwhile(struct al_way *way, struct al_error *err);

/** The count for a rollback one execution further back than the plan, once it is carried out.  The
 * rollback is an execution, too.  0: there is nothing further back. */
size_t al_plan_further(struct al_way *way);

/** Read what an execution changed, with `has_after` or without: then up to the checkpoint before a
 * later one of those before `end`, or to the present, which is taken if there is none. */
int al_execution_read_end(struct al_way *way, size_t which, size_t end, struct al_error *err);

/** Set up with AL_WAY_INIT; al_location_open_all() opens the directories. */
void al_way_clear(struct al_way *way);

#define AL_WAY_INIT .top_fd = -1, .git_fd = -1, .common_fd = -1

/** Read what the executions of the plan changed: which parts a checkpoint of the present has to
 * have. */
int al_way_read_executions(struct al_way *way, struct al_error *err);

/** Find the way back from way->present, and what it would lose. */
int al_way_find(struct al_way *way, struct al_error *err);

/** The way from the checkpoint way->present, which is one after an execution, to the one before.
 * @param files  The only ones that go back, sorted; NULL: all. */
int al_way_to(struct al_way *way, const char *before, const struct al_strv *files,
              struct al_error *err);

/* --- Values --- */

/** Insert a copy of a change where it belongs. */
void al_change_add(struct al_differences *changes, const struct al_difference *change);
bool al_change_is_same(const char *a, unsigned a_mode, const char *b, unsigned b_mode);

/** Test whether a change is of a file of the working tree.  The git directory at the top is no part
 * of that, whatever a checkpoint says. */
bool al_change_is_file(const struct al_difference *change);

/** Test whether a change is of the part of a split index that the index names. */
bool al_change_is_shared_index(const struct al_difference *change);

/** Test whether it gives or finds something that cannot be where another one needs a directory: a
 * file, or an entry of the index.  The sides of a conflict can, and NULL. */
bool al_change_has_place(const struct al_difference *change);

/** Read a blob of the store; NULL is an empty one. */
int al_way_read_blob(const struct al_way *way, const char *oid, struct al_str *ret_text,
                     struct al_error *err);

/* --- Obstacles (rollback_obstacles.c) --- */

/** Somebody else gave a thing the value `now`, after an execution left it as change->from and
 * before it becomes change->to.  The report names what is lost. */
int al_obstacles_others(struct al_way *way, const struct al_difference *change, const char *now,
                        unsigned now_mode, struct al_error *err);

/** Leave the stash entries that other worktrees have pushed since, and name those that go although
 * they are not this worktree's.  refs/stash comes along with its log. */
int al_obstacles_stash(struct al_way *way, struct al_error *err);

/** Remove also the files, or entries of the index, that are `now` in the way of others that come
 * back, and name them as lost. */
void al_obstacles_in_the_way(struct al_way *way, const struct al_differences *now,
                             struct al_differences *changes);

/** Find what is in the way of the files and is in no checkpoint. */
void al_obstacles_unsaved(struct al_way *way);

/** Check the way: refuse what cannot be, and name in the report what needs to be allowed. */
int al_obstacles_check(struct al_way *way, struct al_error *err);

/** The commit that HEAD leads to in a state, after changes (NULL: none); AL_COMMIT_NONE; "": it is
 * not known. */
void al_state_commit(const struct al_saved *state, const struct al_differences *changes,
                     char ret_commit[AL_OID_TEXT]);
/** The same as something to compare: the empty tree in place of no commit. */
const char *al_commit_treeish(const struct al_store *store, const char *commit);

/* --- Restoring (rollback_restore.c) --- */

/** Give the repository back the objects that references and index of the target need and it has
 * lost; refuse where the store does not have them either. */
int al_restore_objects(const struct al_way *way, struct al_error *err);

/**
 * Restore the target.  The caller holds `index.lock`.
 *
 *   1. the new index, beside its place
 *   2. references, all or none; HEAD
 *   3. the working tree; the state of operations and the configuration
 *   4. the index
 *
 * It can be completed from the same checkpoints when it was interrupted anywhere.  Files that no
 * checkpoint has are never overwritten or removed: ignored files and files that were too large stay
 * (report->kept), and what somebody saves meanwhile (report->left).
 */
int al_restore_apply(struct al_way *way, struct al_error *err);

/** Remove the locks and temporary files that a killed rollback with this token left. */
void al_restore_tidy(const struct al_way *way, const char *token);

#endif
