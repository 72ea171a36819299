// SPDX-License-Identifier: Apache-2.0
/*
 * Merge a commit into the current branch.
 *
 * The repository's configuration chooses neither the merge strategy nor its options.  No hook and
 * no merge driver runs, and no program that the repository names signs or verifies anything.
 *
 * Source: git-merge(1).
 */
#ifndef AL_VERBS_SEQUENCER_MERGE_H
#define AL_VERBS_SEQUENCER_MERGE_H

#include <stdbool.h>

#include "base/str.h"
#include "git/repo/repo.h"

struct al_git_command;

/** Options of a merge. */
struct al_merge_options {
    const char *commit;  /**< revision as git accepts it; also the label of its side in conflicts */
    const char *oid;     /**< the commit that the user was shown; NULL: resolve `commit` now */
    const char *message; /**< message of the merge commit; NULL: git's default */
    bool no_ff;          /**< create a merge commit even if a fast-forward is possible */
    bool squash;         /**< in al_merge_guard_run(): one change without a merge, which is staged,
                              and with `message` committed */
    /** Uncommitted changes go along in al_merge_guard_run(), where it ends without a conflict. */
    bool goes_along;
    /** The files, relative to the top, of al_merge_guard_files(), for al_merge_guard_run(); NULL:
     * not known. */
    const struct al_strv *files;
};

/** Outcome of a merge or a rebase. Set up with AL_MERGE_INIT. */
struct al_merge_outcome {
    struct al_strv conflicts; /**< conflicted paths; empty: there are none */
    bool conflicted;
    bool in_progress;   /**< the operation stopped again and is still in progress */
    bool fast_forward;  /**< the branch was fast-forwarded */
    bool up_to_date;    /**< there was nothing to merge */
    bool truncated;     /**< `text` was cut at its limit */
    struct al_str text; /**< git's output, sanitized */
};

#define AL_MERGE_INIT ((struct al_merge_outcome){ .text = AL_STR_INIT })

void al_merge_outcome_clear(struct al_merge_outcome *outcome);

/** The hooks that git runs for a merge that ended so, between spaces. */
const char *al_merge_hooks(const struct al_merge_outcome *outcome);

/**
 * Check a merge before approval is asked for: no other operation is in progress (AL_CODE_CONFLICT,
 * AL_CODE_OPERATION_FAILED), the commit exists, its content needs no filter and no custom merge
 * driver, and there is an identity if a commit would be created.
 */
int al_git_merge_check(const struct al_repo *repo, const struct al_merge_options *options,
                       struct al_error *err);

/**
 * Append the commits that would come in, and their changes, as excerpts.  The commits are verified
 * against their ids.
 *
 * @param[out] ret_any  Whether any commit would come in.
 */
int al_git_merge_preview(const struct al_repo *repo, const struct al_merge_options *options,
                         struct al_str *out, bool *ret_any, struct al_error *err);

/**
 * Run `git merge`.  Conflicts are a success, see the outcome.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR when local changes would be overwritten;
 *         and what al_git_merge_check() returns.
 */
int al_git_merge(struct al_repo *repo, const struct al_merge_options *options, size_t max_bytes,
                 struct al_merge_outcome *ret_outcome, struct al_error *err);

/** Fail if a path that differs between `from` and one of the commits `to` uses a filter or a custom
 * merge driver, by the attributes of either commit. Every command that merges or replays commits
 * calls it. */
int al_git_check_merge_programs(const struct al_repo *repo, const char *from,
                                const struct al_strv *to, struct al_error *err);

/** Append the parents of a commit. */
int al_git_read_parents(const struct al_repo *repo, const char *commit, struct al_strv *parents,
                        struct al_error *err);

/* --- Merge run --- */

/*
 * Run a git command that merges changes, for merge and rebase.
 *
 * Such a command works in several steps.  It may stop at conflicts, which is not a failure.  The
 * call puts back from its checkpoint what it leaves half done (call/checkpoint.c).
 */

struct al_git_command;

/**
 * Run a command that merges changes, and fill the outcome except `fast_forward` and `up_to_date`.
 *
 * @param outcome  Set up with AL_MERGE_INIT.
 * @return 0, with conflicts too; AL_ERR_EXECUTION when git failed without conflicts or was stopped.
 */
int al_merge_run(struct al_repo *repo, const struct al_git_command *command, size_t max_bytes,
                 struct al_merge_outcome *outcome, struct al_error *err);

/** The command that brings a commit into the current branch. All members are borrowed. */
struct al_merge_input {
    const struct al_git_command *command;
    const char *oid;  /**< id of the commit */
    const char *head; /**< commit of the branch before; "" when it is unborn */
    bool is_merge;    /**< the command is `git merge`; the merged commit must be `oid` */
};

/**
 * Run the command.
 *
 * @param outcome  Set up with AL_MERGE_INIT; to be cleared after a failure, too.
 * @return 0, with conflicts too; AL_ERR_EXECUTION, with AL_CODE_DIRTY_WORKDIR when local changes
 * are in the way, and when git merged another commit.
 */
int al_merge_bring(struct al_repo *repo, const struct al_merge_input *input, size_t max_bytes,
                   struct al_merge_outcome *outcome, struct al_error *err);

#endif
