// SPDX-License-Identifier: Apache-2.0
/*
 * A mirror: a shallow copy of one branch of a repository on GitHub, without the content of its
 * files, for the length of one call.
 *
 *   al_mirror_new()          an empty place for it; no network is used
 *   al_mirror_branches()     what branches there are
 *   al_mirror_fetch()        the newest commit of one branch, and its trees
 *   al_mirror_fetch_blobs()  the content of files, all of them in one exchange
 *   al_mirror_push()         a commit that was written into the mirror
 *
 * The mirror lies in airlock's private directory.  Children that reach over the network may write
 * there and read none of the user's files.  The token for GitHub goes only to a server that asks
 * for it, see github_token.h; redirects are not followed.
 *
 * A process that is killed leaves the private directory, which the next start removes.
 */
#ifndef AL_VERBS_TRANSPORT_MIRROR_H
#define AL_VERBS_TRANSPORT_MIRROR_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/repo/repo.h"

struct al_mirror;
struct al_progress;
struct al_pushed;
struct al_push_options;

/**
 * Make an empty mirror.
 *
 * @param address   https, or http to this machine; see guard/url.h.
 * @param progress  Gets git's progress in every exchange; may be NULL; borrowed.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR for an address that cannot be used.
 */
int al_mirror_new(struct al_git *git, const char *address, const struct al_progress *progress,
                  struct al_run_limits *budget, struct al_mirror **ret_mirror,
                  struct al_error *err);

/** Cleanup for `al_auto(al_mirror_freep)`. */
void al_mirror_freep(struct al_mirror **mirror);

/** Test whether there is a token, before a user is asked about what cannot be done without one.
 * Returns as al_github_token(). */
int al_mirror_check_token(struct al_mirror *mirror, struct al_error *err);

/** Append the names of the branches, without "refs/heads/", sorted by git.  `ret_truncated` is set
 * when there were too many. */
int al_mirror_branches(struct al_mirror *mirror, struct al_strv *ret_names, bool *ret_truncated,
                       struct al_error *err);

/** The commit that a branch has on the server now; "" when there is no such branch.  Caller frees.
 */
int al_mirror_look(struct al_mirror *mirror, const char *branch, char **ret_oid,
                   struct al_error *err);

/**
 * Fetch the newest commit of a branch and its trees.  HEAD of the mirror is that branch, and an
 * empty repository gives a mirror whose HEAD is unborn.
 *
 * @param branch     NULL: the branch of the server's HEAD.
 * @param ret_found  False: there is no such branch, and nothing was fetched.
 * @return as al_network_run(), and AL_ERR_EXECUTION when git fails.
 */
int al_mirror_fetch(struct al_mirror *mirror, const char *branch, bool *ret_found,
                    struct al_error *err);

/**
 * Hand the mirror over to one of its repositories: the fetched one, or, before al_mirror_fetch(),
 * an empty one.  al_repo_free() then removes the mirror too, and al_repo.mirror is the mirror.
 *
 * @param shown  What users see in place of a path: "github:user/name".
 * @return never NULL; the caller frees it.
 */
struct al_repo *al_mirror_to_repo(struct al_mirror *mirror, const char *shown);

/** Fetch those of these blobs that the mirror does not have. */
int al_mirror_fetch_blobs(struct al_mirror *mirror, const struct al_strv *oids,
                          struct al_error *err);

/** Push a commit of the mirror; as al_git_push(). */
int al_mirror_push(struct al_mirror *mirror, const struct al_push_options *options,
                   struct al_pushed *ret_pushed, struct al_error *err);

#endif
