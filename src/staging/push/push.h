// SPDX-License-Identifier: Apache-2.0
/*
 * Pushing a staged commit to a target.
 *
 *   al_push_plan()     what would be pushed where; asked again as often as the pipeline likes
 *   al_push_preview()  the commit is built in the store, and the text for the approval from it
 *   al_push_run()      its objects go to the target, then the branch moves from the commit that was
 *                      shown to the new one, or does not move at all
 *
 * Nothing is written outside the store before al_push_run(), and there only new objects before the
 * branch moves.  So a process that is killed loses nothing: either the branch moved or the commit
 * is still staged.
 */
#ifndef AL_STAGING_PUSH_PUSH_H
#define AL_STAGING_PUSH_PUSH_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/plumbing/bare.h"
#include "staging/sandbox/sandbox.h"
#include "staging/staged.h"
#include "staging/target.h"

struct al_repo;
struct al_staging;

/** A directory of the store that one push works in. */
struct al_push_dir {
    struct al_location bare; /* the store, borrowing from the target */
    char *path;              /* absolute; NULL: not made */
    char *index;             /* absolute path of the private index */
};

/** A planned push.  From al_push_plan(); the last members are set when the commit is built. */
struct al_push {
    struct al_staging *staging; /**< borrowed */
    struct al_repo *repo;       /**< of the target, borrowed */
    struct al_error *err;
    struct al_push_dir dir;
    struct al_staged staged;
    char *shown, *key;        /**< the target for users, and for heads */
    char *ref;                /**< full name of the branch */
    char *head;               /**< its commit; "" when the branch is new */
    char *parent;             /**< of the new commit; "" for a root commit */
    char *parent_ref;         /**< the branch that `parent` is on; NULL: none */
    char *author;             /**< "Name <mail>" */
    char commit[AL_OID_TEXT]; /**< the staged commit, in the store */
    char *refusal;            /**< of the target's configuration, safe text; NULL: none */
    char *conflict;           /**< why it cannot be pushed: safe text; NULL: it can */
    bool is_other;            /**< the conflict is not that the branch moved */
    bool is_checked_out;      /**< the target's working tree is on this branch */
    bool parent_moved; /**< a new branch begins at a commit that the files are not based on */
    struct al_sandbox_version
        *theirs;          /**< the branch's versions of the staged files, in their order */
    bool *is_pointer;     /**< which of them have a pointer of git-lfs; in their order */
    struct al_strv lfs;   /**< files that the target keeps with git-lfs, except pointers; sorted */
    struct al_strv other; /**< files that were changed from another version than the branch has, for
                             example since they were pulled from another branch: the push may undo
                             something; sorted */
};

/** The outcome of a push. */
struct al_push_result {
    bool is_conflict;         /**< nothing was pushed */
    bool is_other;            /**< a conflict with the reason "other", not "non-fast-forward" */
    char *message;            /**< of a conflict: safe text */
    char *target_head;        /**< of a conflict: the commit of the branch; NULL: none */
    char commit[AL_OID_TEXT]; /**< of a success: the new commit */
    struct al_strv notes; /**< safe lines: what the branch was, and files that were not changed */
};

/** Free what a result owns. */
void al_push_result_clear(struct al_push_result *result);

/**
 * Find out what would be pushed where.  Changes nothing.
 *
 * @param id    A staged commit, or a unique beginning of its id.
 * @param repo  The repository of the target, borrowed.
 * @return 0, also when the target's branch has moved, see al_push_conflict(); AL_ERR_EXECUTION for
 *         an unknown staged commit, one with an earlier one that has to go first, a target of
 *         another object format, and a branch that al_target_branch() refuses.
 */
int al_push_plan(struct al_staging *staging, const char *id, const struct al_target *target,
                 struct al_repo *repo, struct al_push **ret_push, struct al_error *err);

/** Free a planned push; NULL is fine. */
void al_push_free(struct al_push *push);

/** Test whether the push cannot be made, and fill the result if so. */
bool al_push_conflict(const struct al_push *push, struct al_push_result *ret_result);

/** Append the line that begins the approval: `Push staged commit abc12345 "message" to local:proj
 * (branch: main, new branch)`.  A long title is cut, and has ' for ".  Unsafe text. */
void al_push_summary(const struct al_push *push, struct al_str *out);

/**
 * Append the text of the approval: target, commit and files, then the diff of the target's branch.
 * Every object it shows is verified against its id, and those of the target are added to
 * the stable_read of its budget.
 *
 * @param[out] ret_framed  The bytes of this text without the diff.
 * @param[out] ret_commit  The commit that was shown, for al_push_run().  Caller frees.
 */
int al_push_preview(struct al_push *push, struct al_str *out, size_t *ret_framed, char **ret_commit,
                    struct al_error *err);

/**
 * Push.  The caller holds the target's write lock.
 *
 * @param commit  From al_push_preview(); NULL: nobody was shown one, and it is built now.
 * @return 0, also for a conflict.
 */
int al_push_run(struct al_push *push, const char *commit, struct al_push_result *ret_result,
                struct al_error *err);

#endif
