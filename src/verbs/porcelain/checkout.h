// SPDX-License-Identifier: Apache-2.0
/* Run `git checkout`. */
#ifndef AL_VERBS_PORCELAIN_CHECKOUT_H
#define AL_VERBS_PORCELAIN_CHECKOUT_H

#include <stdbool.h>

#include "git/command.h"
#include "git/repo/repo.h"
#include "git/run.h"

/** Options of a checkout: the first of the three targets that is set counts. */
struct al_checkout_options {
    const char *create, *branch, *commit;
    const char *from; /**< with `create`: where the branch begins, whose files are written; NULL: at
                         HEAD */
    bool force;       /**< discard local changes */
};

/** Run `git checkout`. A non-zero exit code is an error. */
int al_git_checkout(struct al_repo *repo, const struct al_checkout_options *options,
                    size_t max_bytes, struct al_git_output *ret_output, struct al_error *err);

/** The target of `git checkout <word>`. */
struct al_checkout_target {
    char *branch; /**< full reference of the local branch; NULL: HEAD would be detached */
    char *oid;    /**< commit of the branch or of the detached HEAD; NULL: the word names neither */
    char *guess;  /**< if `oid` is NULL: remote-tracking branches that git may create a branch from;
                     "" for none */
};

void al_checkout_target_clear(struct al_checkout_target *target);

/** Resolve the word as `git checkout <word>` does. A word that names nothing is no error. */
int al_git_resolve_checkout(const struct al_repo *repo, const char *word,
                            struct al_checkout_target *ret_target, struct al_error *err);

/* --- Checkout from --- */

/* Run `git checkout <commit> -- paths`. */

/** Paths to restore from a commit, in the index and the working tree. */
struct al_checkout_from {
    const char *target;
    const struct al_strv *paths;
    bool force; /**< restore conflicted files too */
};

/** Fail if the target does not exist (AL_CODE_BRANCH_NOT_FOUND), or if content would be written
 * through a configured filter driver. */
int al_git_checkout_from_check(const struct al_repo *repo, const struct al_checkout_from *from,
                               struct al_error *err);

/** Run `git checkout <target> -- paths`. `ret_files` gets the files that had to be written, each
 * followed by a NUL; the caller sets its limit and clears it. */
int al_git_checkout_from(struct al_repo *repo, const struct al_checkout_from *from,
                         struct al_strv *ret_files, struct al_error *err);

/** Options of `git restore`. At least one of `staged` and `worktree` is set. */
struct al_restore_options {
    const struct al_strv *paths;
    bool staged, worktree;
    const char *source; /**< the commit to restore from; NULL: the index, or HEAD with `staged` */
};

/** Fail if content would be written through a configured filter driver. */
int al_git_restore_check(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_error *err);

/** Run `git restore`. A non-zero exit code is an error. */
int al_git_restore(struct al_repo *repo, const struct al_restore_options *options, size_t max_bytes,
                   struct al_git_output *ret_output, struct al_error *err);

/** Test whether any of these paths has staged changes. */
int al_git_has_staged(const struct al_repo *repo, const struct al_strv *paths, bool *ret_staged,
                      struct al_error *err);

/* --- Reset --- */

/* Run `git reset`. */

/** The parts that go to the commit besides: see git-reset(1). */
enum al_reset_mode {
    AL_RESET_MIXED, /**< the index */
    AL_RESET_SOFT,  /**< nothing */
    AL_RESET_KEEP, /**< the index and the files, but for local changes, which must not be in the way
                    */
    AL_RESET_HARD, /**< the index and the files */
};

/** Fail if content would be written through a configured filter driver, or is missing. */
int al_git_reset_check(const struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                       struct al_error *err);

/** Move the branch of HEAD to a commit, a full id. */
int al_git_reset(struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                 struct al_error *err);

#endif
