// SPDX-License-Identifier: Apache-2.0
/*
 * The operation in progress in a repository, and how to abort it.
 *
 * Source: git-merge(1), git-rebase(1), git-cherry-pick(1), "--abort".
 */
#ifndef AL_VERBS_SEQUENCER_OPERATION_STATE_H
#define AL_VERBS_SEQUENCER_OPERATION_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"

enum al_operation_state {
    AL_IN_PROGRESS_NONE,
    AL_IN_PROGRESS_MERGE,
    AL_IN_PROGRESS_REBASE,
    AL_IN_PROGRESS_CHERRY_PICK,
    AL_IN_PROGRESS_REVERT,
    AL_IN_PROGRESS_AM, /**< git am */
};

/** Read the operation in progress from the files in the git directory. A rebase that stopped while
 * picking a commit is a rebase. */
enum al_operation_state al_git_operation_state(const struct al_repo *repo);

/** The name of the git command: "merge", "rebase", "cherry-pick", "revert" or "am"; "" for none. */
const char *al_operation_state_name(enum al_operation_state state);

/** A noun for the operation: the command's name, but "application of patches" for am. */
const char *al_operation_state_noun(enum al_operation_state state);

/** The step of a rebase or of git am, and the number of its steps; false: there is none. */
bool al_git_operation_step(const struct al_repo *repo, unsigned long *ret_step,
                           unsigned long *ret_last);

/** The branch or commit from which a bisection in progress began; NULL: there is none.  It stands
 * in the way of nothing.  Caller frees. */
char *al_git_bisected(const struct al_repo *repo);

#define AL_BISECT_NEXT "a user can continue it with git bisect, and end it with git bisect reset"

/** Append e.g. "A rebase is in progress (2 of 5), 1 conflict"; nothing when there is neither. */
void al_git_operation_line(const struct al_repo *repo, size_t conflicts, struct al_str *out);

/** Return AL_ERR_EXECUTION while an operation is in progress: with AL_CODE_CONFLICT when there are
 * conflicts, else with AL_CODE_OPERATION_FAILED. */
int al_git_check_no_operation(const struct al_repo *repo, struct al_error *err);

/** Check al_git_abort() before approval is asked for. Fails when no operation is in progress
 * (AL_CODE_OPERATION_FAILED), or when content would be written through a configured filter. */
int al_git_abort_check(const struct al_repo *repo, struct al_error *err);

/** Append the files that al_git_abort() would overwrite, as listed by al_git_overwritten_files()
 * and al_git_untracked_overwritten(). */
int al_git_abort_affected_files(const struct al_repo *repo, struct al_strv *out,
                                struct al_error *err);

/** Append the changes that al_git_abort() would lose, as an excerpt for an approval. */
int al_git_abort_preview(const struct al_repo *repo, struct al_str *out, struct al_error *err);

/**
 * Abort the operation in progress, which restores the state before it began.
 * @param[out] ret_done  The operation that was aborted.
 */
int al_git_abort(struct al_repo *repo, enum al_operation_state *ret_done, struct al_error *err);

/* --- Operation sides --- */

/*
 * The meaning of the two sides of a conflict: which branch or commit is "ours", and which "theirs".
 *
 * Source: git-rebase(1), "--merge": in a rebase, ours is the branch that is rebased onto.
 */

/** Names of both sides, raw text for a sentence.  Set up with AL_OPERATION_SIDES_INIT. */
struct al_operation_sides {
    char *ours, *theirs;
};

#define AL_OPERATION_SIDES_INIT ((struct al_operation_sides){ .ours = NULL })

void al_operation_sides_clear(struct al_operation_sides *sides);

/** Name the sides of the operation in progress; without one, those of a stash that was brought
 * back.  One git child. */
int al_git_operation_sides(const struct al_repo *repo, struct al_operation_sides *ret_sides,
                           struct al_error *err);

/** Read a file of the git directory, through no link.  Returns 0 or -errno, and then "". */
int al_operation_file(const struct al_repo *repo, const char *name, struct al_str *ret_text);

/** The file of the git directory that names the commit of uncommitted changes which wait until an
 * operation ends, as git's own MERGE_AUTOSTASH. */
#define AL_WAITING_CHANGES "AIRLOCK_AUTOSTASH"

/** Read the object id in a file of the git directory; NULL: there is none.  Caller frees. */
char *al_operation_oid(const struct al_repo *repo, const char *name);

/** Append the object ids in a file of the git directory such as MERGE_HEAD, one a line. */
void al_operation_heads(const struct al_repo *repo, const char *name, struct al_strv *heads);

/* --- Begun --- */

/*
 * The operations in progress that a session of this process has begun, or has continued to their
 * present stop.
 *
 * One that another session has begun is that agent's, who is at work there.
 *
 * `session` is the number of a session over HTTP, 0 in a process that has one session.
 *
 * Threads: safe.
 */

/** Remember that the operation in progress is this session's.  Nothing when none is. */
void al_operation_note_begun(const struct al_repo *repo, uint64_t session);

/** The beginner of the operation in progress: another program, as far as is known, this session, or
 * another one. */
enum al_begun { AL_BEGUN_OUTSIDE, AL_BEGUN_HERE, AL_BEGUN_ELSEWHERE };
enum al_begun al_operation_begun(const struct al_repo *repo, uint64_t session);

/* --- Operation excerpt --- */

/* The operation that a commit concludes or continues: a merge, a cherry-pick or a revert. */

/** Append an excerpt for an approval: the operation in progress and the commits it brings in.
 * Appends nothing when none of these is in progress. */
int al_git_operation_excerpt(const struct al_repo *repo, struct al_str *out, struct al_error *err);

/* --- Picked message --- */

/* The message of an operation that stopped with a conflict.  Source: git-commit(1), "--cleanup". */

/**
 * The message that git prepared for the commit that concludes what stopped, without the list of
 * conflicts below it.  Its other lines stay, also those that begin with the comment character:
 * they are the author's.
 *
 * @return NULL when there is none; it may be no UTF-8; the caller frees it.
 */
char *al_git_prepared_message(const struct al_repo *repo);

/**
 * Find the message that git prepared, without the list of conflicts below it, if git would lose
 * lines of it when it goes on: it takes lines that begin as that list does for comments.
 *
 * @return NULL when git keeps it whole, or it cannot be told; the caller frees it.
 */
char *al_git_picked_message(const struct al_repo *repo);

#endif
