// SPDX-License-Identifier: Apache-2.0
/* How an upstream server is started: program, environment, and what it may reach. */
#ifndef AL_UPSTREAM_PROFILE_H
#define AL_UPSTREAM_PROFILE_H

#include "proc/proc.h"
#include "upstream/upstream.h"

/** Made anew for each start, so that files which were replaced meanwhile are found. */
struct al_upstream_profile {
    char *program; /**< absolute; links are not resolved, since some programs look at their path */
    struct al_strv env;
    struct al_ruleset *ruleset; /**< NULL: not confined */
    struct al_confinement sandbox;
};

#define AL_UPSTREAM_PROFILE_INIT ((struct al_upstream_profile){ .program = NULL })

/**
 * Find the program, make the scratch directory, and build the confinement:
 *
 *   read     programs and libraries of the system, the roots, the scratch directory, `read`
 *   write    the roots, the scratch directory, `write`
 *   execute  programs of the system, the server's own directory of programs, `exec`
 *   network  none, or with `network` TCP connections and UDP, but no UNIX socket
 *
 * @return 0; AL_ERR_EXECUTION when there is no such program; AL_ERR_SANDBOX when it cannot be
 *         confined.
 */
int al_upstream_profile_make(const struct al_upstream_settings *settings,
                             struct al_upstream_profile *ret_profile, struct al_error *err);
void al_upstream_profile_clear(struct al_upstream_profile *profile);

/** airlock's PATH without the directories where an agent can put programs.  Caller frees. */
char *al_upstream_safe_path(const struct al_upstream_settings *settings);

/** The complete environment: a few variables of airlock's own, and the user's. */
void al_upstream_make_env(const struct al_upstream_settings *settings, struct al_strv *ret_env);

#endif
