// SPDX-License-Identifier: Apache-2.0
/*
 * Targets: the repositories that staged commits are pushed to and that files are pulled from.
 *
 *   type        names                                        opened by
 *
 *   local       a repository with a working tree, inside     al_target_open()
 *               the roots
 *   local-bare  a bare repository inside the roots           al_target_open()
 *   github      user/name at the configured base URL         al_target_open_github(), as a mirror
 *                                                             (verbs/transport/mirror.h)
 *
 * A target's words come from an agent or from the user's worker file; nothing in them is trusted.
 */
#ifndef AL_STAGING_TARGET_H
#define AL_STAGING_TARGET_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"

struct al_git;
struct al_progress;
struct al_repo;
struct al_run_limits;

/** The kinds of targets. */
enum al_target_type {
    AL_TARGET_LOCAL,
    AL_TARGET_LOCAL_BARE,
    AL_TARGET_GITHUB,
};

/** A target, of a call's arguments or of a worker file.  Zero-initialised, none is given. */
struct al_target {
    bool given;         /**< false: the default target is meant, if there is one */
    int type;           /**< enum al_target_type */
    const char *path;   /**< local and local-bare: as given, relative to the first root */
    const char *repo;   /**< github: "user/name" */
    const char *branch; /**< NULL: the branch of the target's HEAD */
};

/** Free what a target of a worker file owns. */
void al_target_clear(struct al_target *target);

/** "local", "local-bare" or "github", of an enum al_target_type. */
const char *al_target_type_name(int type);

/**
 * Check that a target has what its type needs and nothing else, and that its branch is the name of
 * a branch.
 *
 * @param param  The parameter, for messages: "target", "source".
 * @return 0; AL_ERR_BAD_ARGS "target.path is required …".
 */
int al_target_check(const struct al_target *target, const char *param, struct al_error *err);

/** The name that users see: "local:proj", "github:user/name".  Safe text.  Caller frees. */
char *al_target_shown(const struct al_target *target);

/**
 * The name under which heads are remembered: "local:/abs/path", "github:user/name".  Two words for
 * one repository give one key.
 *
 * @param repo  The repository of al_target_open(); NULL for github.
 * @return Caller frees.
 */
char *al_target_key(const struct al_target *target, const struct al_repo *repo);

/**
 * Open the repository of a target of type local or local-bare, vetted and inside the roots.
 *
 * @param base  The first root, for a relative path.
 * @return as al_repo_open(); AL_ERR_EXECUTION when a target `local` is bare or one `local-bare` is
 *         not.
 */
int al_target_open(struct al_git *git, const char *base, const struct al_target *target,
                   struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err);

/** The repository to open.  Everything is borrowed. */
struct al_github_request {
    const struct al_target *target;     /**< checked by al_target_check() */
    const char *base_url;               /**< `[staging] github_base_url` */
    const struct al_progress *progress; /**< outlives the repository; may be NULL */
    bool only_names;                    /**< nothing is fetched, for al_mirror_branches() */
};

/**
 * Open the repository of a target.  A branch that does not exist gives a mirror of the server's
 * HEAD branch, where a new branch begins; an empty repository gives an empty one.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR.  Free with al_repo_free().
 */
int al_target_open_github(struct al_git *git, const struct al_github_request *request,
                          struct al_run_limits *budget, struct al_repo **ret_repo,
                          struct al_error *err);

/** Bring the content of these blobs, in one exchange.  Does nothing for other repositories than
 * those of al_target_open_github(). */
int al_target_bring(const struct al_repo *repo, const struct al_strv *oids, struct al_error *err);

/**
 * The full name of the target's branch: "refs/heads/main".  It need not exist.
 *
 * @return 0; AL_ERR_EXECUTION when no branch is given and HEAD is detached, and for a branch that
 *         is a symbolic reference, since writing it would move another one.
 */
int al_target_branch(const struct al_target *target, const struct al_repo *repo, char **ret_ref,
                     struct al_error *err);

/** Go on with the working tree that has the target's branch checked out, if it is another one of
 * the same repository inside the roots, and no further one uses the branch.  Its files then follow
 * a push.
 *
 * @param[in,out] repo  The repository of the target.
 */
int al_target_go_to_branch(const struct al_target *target, struct al_repo **repo,
                           struct al_error *err);

#endif
