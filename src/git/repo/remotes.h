// SPDX-License-Identifier: Apache-2.0
/*
 * Remotes as a repository configures them, and the part of that which git gets.
 *
 * git never uses the repository's own remote.* keys.  Each command gets a remote made for it alone,
 * under an unpredictable name, with the values copied here.  A key that names a program to start, a
 * proxy or another address has no effect, even if it is written while git runs.
 *
 * Source: git-config(1) "remote.<name>.*", "branch.<name>.*", "url.<base>.insteadOf".
 */
#ifndef AL_GIT_REPO_REMOTES_H
#define AL_GIT_REPO_REMOTES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/repo/repo.h"
#include "git/vet/vet.h"

/** The direction of an exchange. */
enum al_direction { AL_FETCHES, AL_PUSHES };

/** git's name for the remote that a clone was made from. */
#define AL_DEFAULT_REMOTE "origin"

/** The most addresses of one remote; more are refused. */
#define AL_REMOTE_URLS_MAX 8

struct al_remote {
    char *name;
    struct al_strv urls; /**< addresses to fetch from, after the user's own url.*.insteadOf */
    struct al_strv
        push_urls; /**< addresses to push to; equal to `urls` unless configured otherwise */
    struct al_strv refspecs; /**< refspecs of fetch; all write below refs/remotes/ or refs/tags/ */
    const char *tag_option;  /**< "--tags", "--no-tags" or NULL */
};

#define AL_REMOTE_INIT ((struct al_remote){ .name = NULL })

void al_remote_clear(struct al_remote *remote);

/**
 * Find a remote by its name.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR when there is no such remote or it has no
 *         address, and for settings that airlock does not follow: a helper (remote.*.vcs),
 *         addresses rewritten by the repository (url.*.insteadOf), http settings of the repository,
 *         refspecs that write to local branches.
 */
int al_remote_find(const struct al_repo *repo, const char *name, struct al_remote *remote,
                   struct al_error *err);

/** Append the names of all remotes that have an address, in the order of the configuration. */
void al_remote_names(const struct al_repo *repo, struct al_strv *ret_names);

/** The remote that a branch is pushed to when none is named: branch.<name>.pushRemote, else
 * remote.pushDefault.  NULL: neither is set.  Caller frees. */
char *al_remote_push_default(const struct al_repo *repo, const char *branch);

/** The remote to use when none is given: that of the branch's upstream, else "origin", else the
 * only one.  Caller frees. */
char *al_remote_default(const struct al_repo *repo, const char *branch);

/** The address that the user's own url.<base>.insteadOf, or pushInsteadOf (`variable`, in small
 * letters), makes of another: the longest prefix that matches is replaced.  A copy of `otherwise`
 * when none matches.  Caller frees. */
char *al_remote_rewritten(const struct al_vetting *vetting, const char *url, const char *variable,
                          const char *otherwise);

/** The addresses of a remote for display: no setting is refused.  False when there are none. */
bool al_remote_addresses(const struct al_repo *repo, const char *name, struct al_strv *ret_urls,
                         struct al_strv *ret_push_urls);

/** The local reference that tracks a branch of the remote ("refs/remotes/origin/main"); NULL when
 * none does.  Caller frees. */
char *al_remote_tracking(const struct al_remote *remote, const char *branch);

/** The upstream of a local branch, if it is a branch of this remote; else NULL.  Caller frees. */
char *al_remote_upstream(const struct al_repo *repo, const struct al_remote *remote,
                         const char *branch);

/** Test whether a local branch has an upstream, of any remote or none, there or not. */
bool al_remote_follows(const struct al_repo *repo, const char *branch);

/** Set `err` to AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR and a remedy. */
int al_remote_error(struct al_error *err, const char *remedy, const char *fmt, ...) al_printf(3, 4);

/* A git that talked to another repository and failed. */

struct al_git_output;

/** The remedy where the address may be wrong. */
extern const char al_remote_check_address[];

/** Turn its output into an error: AL_CODE_REMOTE_ERROR, a cause and a remedy.
 *
 * @param where  The address for messages, in quotes. */
int al_remote_failed(const struct al_git_output *output, const char *where, struct al_error *err);

/** Test whether a server asked for a user and a password, or did not take those that it got. */
bool al_remote_asked_credentials(const struct al_git_output *output);

/** Test whether a clone failed for want of the branch that was asked for. */
bool al_remote_lacks_branch(const struct al_git_output *output);

/* --- Known remotes --- */

/*
 * The remotes and addresses that a repository had when the session began.
 *
 * An agent can add a remote, or write another address into the configuration.  The addresses that a
 * repository has when it is first seen count as the user's, unless its configuration changed since
 * the session began.  All other addresses are new: the user is asked before the first exchange, and
 * no credentials are sent without that answer.
 *
 * | state of an address | when                                                    |
 * |---------------------|---------------------------------------------------------|
 * | known               | the repository is first seen, with an old configuration |
 * | accepted            | the user agreed to an exchange with it                  |
 * | new                 | otherwise; again when the remote is added or renamed    |
 *
 * Threads: safe.
 */

/** The most repositories that are remembered; addresses of further ones are all new. */
#define AL_KNOWN_REPOSITORIES_MAX 1024

struct al_known_remotes;

struct al_known_remotes *al_known_remotes_new(void);
void al_known_remotes_free(struct al_known_remotes *known);

/** Call it when a repository is opened: the first time, its configured addresses are remembered. */
void al_known_remotes_note(const struct al_repo *repo);

/** Test whether an address of a remote is neither known nor accepted for this direction.  One that
 * was accepted for a push may also be fetched from, but not the other way round. */
bool al_remote_address_is_new(const struct al_repo *repo, const char *name, const char *address,
                              enum al_direction direction);

/** The user agreed to exchanges with all addresses of a remote. */
void al_remote_accept(const struct al_repo *repo, const struct al_remote *remote,
                      enum al_direction direction);

/** A remote of this name is added or renamed: from now on all its addresses are new. */
void al_remote_forget(const struct al_repo *repo, const char *name);

/** Remember tips of remote-tracking branches (ids, in any order) for as long as the session lasts:
 * others have what these reach, also when the branches here are gone. */
void al_remote_tips_note(const struct al_repo *repo, struct al_strv *tips);

/** Append the tips that are remembered. */
void al_remote_tips_add(const struct al_repo *repo, struct al_strv *out);

#endif
