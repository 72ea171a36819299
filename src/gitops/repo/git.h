// SPDX-License-Identifier: Apache-2.0
/*
 * The git layer of one session: which git runs, what it is confined to, and what is remembered
 * about repositories between calls.
 *
 * Threads: an al_git is shared by all calls of a session and safe to use from any thread.
 */
#ifndef AL_GITOPS_REPO_GIT_H
#define AL_GITOPS_REPO_GIT_H

#include <stdbool.h>

#include "guard/root.h"
#include "proc/proc.h"
#include "util/error.h"
#include "util/str.h"

struct al_git_options {
    const char *program;          /**< git's canonical path, NULL when there is none */
    const char *ssh;              /**< ssh's, NULL when there is none */
    const char *self;             /**< airlock's own: what git starts as askpass and as ssh */
    const char *ssh_home;         /**< where ssh looks for .ssh, NULL: nowhere */
    const struct al_roots *roots; /**< borrowed; outlives the al_git */
    const struct al_strv *env_allow;
    uint64_t max_fetch_bytes;               /**< of a file that a transfer writes; 0: any */
    const struct al_strv *credential_hosts; /**< see guard/credential_hosts.h; NULL: none */
    char *const *environ_;                  /**< airlock's own environment */
    const char *home;                       /**< the person's home, may be NULL */
    const char *config_home;                /**< $XDG_CONFIG_HOME, may be NULL */
    const char *state_dir;    /**< outside every root; a private directory is made below it */
    bool require_confinement; /**< refuse to run where Landlock is missing */
    bool require_signature;   /**< refuse commits that the user wants signed */
};

struct al_git;

/**
 * Set up the layer.  Starts nothing.
 *
 * @return 0; AL_ERR_EXECUTION when no private directory can be made; AL_ERR_SANDBOX when
 * confinement is required and missing.
 */
int al_git_new(const struct al_git_options *options, struct al_git **ret_git, struct al_error *err);

/** Release everything and remove the private directory. */
void al_git_free(struct al_git *git);

/** Remove the private directory because the process ends at once; NULL is fine. */
void al_git_abandon(struct al_git *git);

/** "landlock7+seccomp", or "none". Borrowed. */
const char *al_git_confinement(const struct al_git *git);

/** The first of `path_list` (colon-separated, as $PATH) that holds an executable git, with links
 * resolved; NULL when none does.  One that lies in a root is passed over: whoever can write there
 * would decide what runs.  `roots` may be NULL.  Caller frees. */
char *al_git_find_program(const char *path_list, const struct al_roots *roots);

/** The same for another program. */
char *al_find_program(const char *path_list, const char *name, const struct al_roots *roots);

#endif
