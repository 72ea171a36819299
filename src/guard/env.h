// SPDX-License-Identifier: Apache-2.0
/*
 * A child's environment, built from nothing.
 *
 * What a child gets is what is set here; of airlock's own environment only names that the person
 * allowed in `[tools.environment] allow` pass, and never one that could change what git runs or
 * that looks like a secret.
 */
#ifndef AL_GUARD_ENV_H
#define AL_GUARD_ENV_H

#include <stdbool.h>

#include "util/error.h"
#include "util/str.h"

/** The denylist: *_KEY *_TOKEN *_SECRET *_PASSWORD AWS_* ANTHROPIC_* OPENAI_*, in any case. */
bool al_env_is_secret(const char *name);

/**
 * Whether a name may stand in `[tools.environment] allow`: a POSIX name that is not GIT_*, LD_*,
 * SSH_ASKPASS*, PATH, HOME, a variable airlock sets itself, one that makes a child load code, start
 * a program or read another configuration (EDITOR, GCONV_PATH, OPENSSL_*, …), or on the denylist;
 * all in any case.
 * @return 0 or AL_ERR_BAD_ARGS saying why not.
 */
int al_env_check_allowed(const char *name, struct al_error *err);

/** Append "NAME=value" for each allowed name that is set in `environ` (the caller's array).  A name
 * that al_env_check_allowed() refuses, or that `env` has already, is left out. */
void al_env_add_allowed(struct al_strv *env, const struct al_strv *allow, char *const *environ_);

/** Append what a child that uses the network needs of `environ`: the agent of ssh, proxies, and
 * certificates. */
void al_env_add_network(struct al_strv *env, char *const *environ_);

/** The value of a name in a list of "NAME=value", NULL when it is not there.  Borrowed. */
const char *al_env_get(const struct al_strv *env, const char *name);

/** Append "NAME=value". */
void al_env_add(struct al_strv *env, const char *name, const char *value);

#endif
