// SPDX-License-Identifier: Apache-2.0
/*
 * A child's environment, built from nothing.
 *
 * A child receives only what is added here.  A variable of airlock's own environment is passed on
 * only if the user allows it in `[tools.environment] allow`, and never if it could change what git
 * runs or looks like a secret.
 */
#ifndef AL_GUARD_ENV_H
#define AL_GUARD_ENV_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/** Test whether a name is on the denylist, in any case: *_KEY *_TOKEN *_SECRET *_PASSWORD AWS_*
 * ANTHROPIC_* OPENAI_*. */
bool al_env_is_secret(const char *name);

/** Test whether it is the name of a variable: letters, digits and '_', no digit first. */
bool al_env_is_name(const char *name);

/**
 * Check a name for `[tools.environment] allow`.  Refused, in any case:
 * - names that are not POSIX variable names
 * - GIT_*, LD_*, SSH_ASKPASS*
 * - PATH, HOME and the other variables airlock sets itself
 * - variables that make a child load code, start a program or read another configuration (EDITOR,
 *   GCONV_PATH, OPENSSL_*, …)
 * - names on the denylist
 *
 * @return 0, or AL_ERR_BAD_ARGS saying why not.
 */
int al_env_check_allowed(const char *name, struct al_error *err);

/** Append "NAME=value" for each allowed name that is set in `environ_`.  Names that `env` already
 * has are skipped, and so are names that al_env_check_allowed() refuses. */
void al_env_add_allowed(struct al_strv *env, const struct al_strv *allow, char *const *environ_);

/** Append the variables that a child needs to use the network: ssh's agent, proxies, certificates.
 */
void al_env_add_network(struct al_strv *env, char *const *environ_);

/** The value of a variable in a list of "NAME=value"; NULL when it is not there.  Borrowed. */
const char *al_env_get(const struct al_strv *env, const char *name);

/** Append "NAME=value". */
void al_env_add(struct al_strv *env, const char *name, const char *value);

#endif
