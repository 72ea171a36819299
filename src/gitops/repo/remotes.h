// SPDX-License-Identifier: Apache-2.0
/*
 * Remotes as a repository configures them, and what of that git is given.
 *
 * git never sees the repository's own remote.* keys at work: a command gets a remote made for it
 * alone, under a name nobody can know beforehand, with what is copied here.  So a key that says
 * which program to start, which proxy to use or where else to push has no effect, not even one that
 * is written while git runs.
 *
 * Source: git-config(1) "remote.<name>.*", "branch.<name>.*", "url.<base>.insteadOf".
 */
#ifndef AL_GITOPS_REPO_REMOTES_H
#define AL_GITOPS_REPO_REMOTES_H

#include "gitops/repo/repo.h"
#include "gitops/vet.h"
#include "util/error.h"
#include "util/str.h"

/** What an exchange is for. */
enum al_direction { AL_FETCHES, AL_PUSHES };

/** More addresses of one remote than this are refused. */
#define AL_REMOTE_URLS_MAX 8

struct al_remote {
    char *name;
    struct al_strv urls;      /**< to fetch from, after the person's own url.*.insteadOf */
    struct al_strv push_urls; /**< to push to; the same as `urls` where nothing else is said */
    struct al_strv refspecs;  /**< of fetch; all of them write below refs/remotes/ or refs/tags/ */
    const char *tag_option;   /**< "--tags", "--no-tags" or NULL */
};

#define AL_REMOTE_INIT ((struct al_remote){ .name = NULL })

void al_remote_clear(struct al_remote *remote);

/** A name for a remote: what a branch may be called; AL_ERR_BAD_ARGS names the parameter. */
int al_remote_check_name(const char *param, const char *name, struct al_error *err);

/**
 * A remote by its name.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR where there is none of that name or without
 *         an address, and for what airlock does not follow: a helper (remote.*.vcs), addresses
 *         rewritten by the repository (url.*.insteadOf), settings of http of its own, refspecs that
 *         write to local branches.
 */
int al_remote_find(const struct al_repo *repo, const char *name, struct al_remote *ret_remote,
                   struct al_error *err);

/** The names of all remotes that have an address, in the order they are configured. */
void al_remote_names(const struct al_repo *repo, struct al_strv *ret_names);

/** The addresses of a remote, with nothing refused: for showing.  False when there is none. */
bool al_remote_addresses(const struct al_repo *repo, const char *name, struct al_strv *ret_urls,
                         struct al_strv *ret_push_urls);

/** The reference here that follows a branch there ("refs/remotes/origin/main"), NULL when none
 * does.  Caller frees. */
char *al_remote_tracking(const struct al_remote *remote, const char *branch);

/** The branch there that a branch here follows, when it follows one of this remote; NULL else.
 * Caller frees. */
char *al_remote_upstream(const struct al_repo *repo, const struct al_remote *remote,
                         const char *branch);

/** Set `err` to a failure of a remote: AL_CODE_REMOTE_ERROR, and what to do about it. */
int al_remote_error(struct al_error *err, const char *remedy, const char *fmt, ...) al_printf(3, 4);

#endif
