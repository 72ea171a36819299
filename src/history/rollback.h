// SPDX-License-Identifier: Apache-2.0
/*
 * Going back to before some executions.
 *
 * The present is checkpointed first, so that a rollback can be undone like any other execution.
 * The rollback stops if other changes since then would be lost, unless it is forced.  A dry run, or
 * a rollback that is refused, leaves no checkpoint.  docs/ROLLBACK.md has the details.
 */
#ifndef AL_HISTORY_ROLLBACK_H
#define AL_HISTORY_ROLLBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/checkpoint.h"

struct al_journal;

/** The executions to roll back, and the means.  Borrowed. */
struct al_rollback_options {
    struct al_journal *journal; /**< the open journal; NULL for a dry run */
    const char *journal_file;   /**< without `journal` */
    const struct al_checkpoint_settings *settings;
    const char *confinement; /**< for the record in the journal */
    uint32_t lock_wait_ms;   /**< how long to wait while another git holds index.lock */
    size_t count;            /**< executions to undo; 0 when the user gave no number */
    uint64_t execution;      /**< go back to before this one, instead of `count`; 0: none */
    uint64_t newest;         /**< with `execution`: refuse if a later one than this came; 0: any */
    const char *agent;       /**< undo only executions of this agent; NULL: of anybody */
    /** Undo only what this session, that of `journal`, has done.  `count` then counts its calls
     * that are not undone already, so a second rollback goes further back. */
    bool own_session;
    uint64_t session; /**< with `own_session`: its number, as for al_journal_conversation() */
    bool force, dry_run;
    bool redo;  /**< undo the last rollback; `count` is 0 then */
    bool lines; /**< of al_difference_read(): patches with lines; else only how much changed */
};

/** The result, its lists in words of one line each.  Set up with AL_ROLLBACK_INIT. */
struct al_rollback {
    size_t count; /**< executions that are undone */
    size_t files; /**< that were written or removed */
    /** The count for a rollback that goes one execution further back.  0: there is none, or this
     * was a dry run or an agent's. */
    size_t further;
    uint64_t interrupted; /**< number of an execution of them that was interrupted; 0: none was */
    bool resumed;         /**< it continued a rollback that was interrupted */
    /** Changes that no execution made and that would be lost. */
    struct al_strv lost;
    /** Files whose staged change was committed since, so going back would stage the opposite. */
    struct al_strv committed;
    struct al_strv unsaved; /**< files in the way that no checkpoint has */
    struct al_strv kept; /**< files that stay although the checkpoint does not have them: ignored */
    /** Files that were there before, and whose content no checkpoint has. */
    struct al_strv lacking;
    /** Settings that `own_session` leaves to a user: how git works, where a program changed it. */
    struct al_strv settings;
    /** Changes that somebody made meanwhile: they stay, and the rest is rolled back. */
    struct al_strv left;
    struct al_differences changes; /**< from the present to the checkpoint */
    struct al_strv calls; /**< the executions that are undone, newest first, as "git_add: Stage
                             a.c"; none for a redo or a rollback that is continued */
    /** Executions that go although they were not meant: they ran while a command of `airlock run`
     * did that is undone.  Each is like "execution 8, git_commit by anna". */
    struct al_strv meanwhile;
    struct al_strv pushes; /**< of this session, among them, in the same way: an undo leaves what
                              was pushed, and what is known of the remote */
    struct al_str stat;    /**< of the working tree, as safe text; only for a dry run */
};

#define AL_ROLLBACK_INIT ((struct al_rollback){ .stat = AL_STR_INIT })

void al_rollback_clear(struct al_rollback *rollback);

/**
 * Roll back, or say what a rollback would do.  The journal records every run except a dry run.
 *
 * @param rollback  Filled in as far as possible, on failure too.
 * @return 0; AL_ERR_NOT_FOUND when there are not so many executions; AL_ERR_APPROVAL_REQUIRED when
 *         `lost`, `committed`, `meanwhile`, or an execution that was interrupted, needs --force;
 * AL_ERR_EXECUTION otherwise, with AL_CODE_LOCK_TIMEOUT when another git holds a lock;
 * AL_ERR_TIMEOUT, AL_ERR_CANCELLED, both without any change to the repository.
 */
int al_rollback_run(struct al_repo *repo, const struct al_rollback_options *options,
                    struct al_rollback *rollback, struct al_error *err);

/**
 * Restore what an operation, which failed in the middle of its work and has ended, has changed
 * between its two checkpoints: files, index, references and the state of operations.  The caller
 * holds the repository's write lock.  The objects of both checkpoints stay in the store.
 *
 * @param before, after  The checkpoints before and after the operation.
 * @param files          The files, relative to the top and sorted, that it has written; NULL: all
 *                       that it can write.
 * @param ret_left       What somebody changed meanwhile, in words, which stays as it is; appended.
 * @return 0; AL_ERR_EXECUTION when something is in the way that no checkpoint has, or another git
 *         holds index.lock: nothing is changed then.
 */
int al_rollback_put_back(struct al_repo *repo, struct al_store *store, const char *before,
                         const char *after, const struct al_strv *files, struct al_str *ret_left,
                         struct al_error *err);

/** Describe a change in words, for users.  Caller frees. */
char *al_difference_words(const struct al_difference *change);

/** Describe changes, as "12 files changed, 3 added, HEAD, references, hooks/x in the git
 * directory". Caller frees; NULL: there are none. */
char *al_differences_words(const struct al_differences *changes);

/** Whether git has only noted something, which it does also where there is nothing to do. */
bool al_difference_is_note(const struct al_difference *change);

/* --- What executions changed, to look at --- */

/** A longer patch is cut. */
#define AL_DIFFERENCE_MAX_BYTES (16u << 20)

/** The three places of a repository in which a file can be changed. */
enum al_patch_of {
    AL_PATCH_WORKTREE,
    AL_PATCH_INDEX,
    AL_PATCH_HEAD, /**< from the commit that HEAD was at to the one it is at now */
    AL_PATCH_COUNT,
};

/** The changes of one execution.  Borrowed. */
struct al_execution_changes {
    uint64_t seq;
    const char *tool, *summary; /**< as the journal has them; `summary` may be NULL */
    /** False: the execution was interrupted, so other programs may have made some of the changes.
     */
    bool ended;
    struct al_differences changes;
    /** Safe text.  "" when no patch can be shown, as for an index with conflicts. */
    struct al_str patches[AL_PATCH_COUNT];
};

/** Receives the executions, oldest first. */
typedef void (*al_difference_fn)(void *payload, const struct al_execution_changes *changes);

/**
 * Compare the checkpoints before and after each of the last executions that changed something.  An
 * execution that was interrupted is compared with the checkpoint before the next one, or with the
 * present.
 *
 * @param options  Only `settings`, `journal_file`, `agent`, `lines`, and `count` or `execution`,
 *                 which then is the only one.
 * @return 0; AL_ERR_NOT_FOUND when there are not so many; AL_ERR_EXECUTION, AL_ERR_TIMEOUT,
 *         AL_ERR_CANCELLED.
 */
int al_difference_read(struct al_repo *repo, const struct al_rollback_options *options,
                       al_difference_fn take, void *payload, struct al_error *err);

#endif
