// SPDX-License-Identifier: Apache-2.0
/*
 * Targets on GitHub.  The repository of such a target is a mirror in airlock's private directory
 * (gitops/transport/mirror.h), which push and pull use like a bare repository on this machine.
 *
 *   what is needed                            when it comes
 *
 *   the branch's newest commit, its trees     al_github_open()
 *   files that are pulled                     al_github_bring()
 */
#ifndef AL_STAGING_GITHUB_H
#define AL_STAGING_GITHUB_H

#include <stdbool.h>

#include "gitops/command.h"
#include "util/error.h"
#include "util/str.h"

struct al_git;
struct al_progress;
struct al_repo;
struct al_target;

/** What to open.  Everything is borrowed. */
struct al_github_request {
    const struct al_target *target;     /**< checked by al_target_check() */
    const char *base_url;               /**< `[staging] github_base_url` */
    const struct al_progress *progress; /**< outlives the repository; may be NULL */
    bool only_names;                    /**< nothing is fetched, for al_github_branches() */
};

/**
 * Open the repository of a target.  A branch that does not exist gives a mirror of the server's
 * HEAD branch, where a new branch begins; an empty repository gives an empty one.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR.  Free with al_repo_free().
 */
int al_github_open(struct al_git *git, const struct al_github_request *request,
                   struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err);

/** Append the names of the branches of an opened repository.  `ret_truncated` is set when there
 * were too many. */
int al_github_branches(const struct al_repo *repo, struct al_run_limits *budget,
                       struct al_strv *ret_names, bool *ret_truncated, struct al_error *err);

/** Bring the content of these blobs, in one exchange.  Does nothing for other repositories than
 * those of al_github_open(). */
int al_github_bring(const struct al_repo *repo, const struct al_strv *oids,
                    struct al_run_limits *budget, struct al_error *err);

/** A push to GitHub that came back. */
struct al_github_push {
    const char *branch; /**< without "refs/heads/" */
    const char *commit; /**< in the mirror */
    const char *head;   /**< what the branch has to be at; "" when it has to be new */
    bool is_stale;      /**< out: the branch is elsewhere now; nothing was pushed */
    char *refusal;      /**< out: why the server refused, safe text; NULL: it did not */
    char *head_now;     /**< out: with `is_stale` or `refusal`, where the branch is; "" or NULL:
                           there is none, or it is not known */
    struct al_str from_hook; /**< out: what the server said about a push that it took, safe text */
};

void al_github_push_clear(struct al_github_push *push);

/**
 * Push a commit whose objects are in the mirror.
 *
 * @return 0, also for a push that was refused; AL_ERR_EXECUTION when the server cannot be reached
 *         or does not accept the token.  When the connection broke, the branch is looked at: a push
 *         that arrived is a success.
 */
int al_github_push(const struct al_repo *repo, struct al_github_push *push,
                   struct al_run_limits *budget, struct al_error *err);

#endif
