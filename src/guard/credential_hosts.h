// SPDX-License-Identifier: Apache-2.0
/*
 * `[tools.git] credential_hosts`: the servers that receive the user's credentials even if an agent
 * chose the address.
 *
 * A pattern is `[SCHEME://]HOST[:PORT]`.
 * - SCHEME: https if it is missing.
 * - HOST: a glob of fnmatch(3), in which `*` also matches dots.  An IPv6 address is in brackets.
 * - PORT: the protocol's default if it is missing; `*` is every port.
 */
#ifndef AL_GUARD_CREDENTIAL_HOSTS_H
#define AL_GUARD_CREDENTIAL_HOSTS_H

#include <stdbool.h>

#include "guard/url.h"
#include "util/error.h"
#include "util/str.h"

/** Check a pattern.  @return 0, or AL_ERR_BAD_ARGS saying what is wrong. */
int al_credential_hosts_check(const char *pattern, struct al_error *err);

/** Test whether one of the patterns matches the server of an http or https address. */
bool al_credential_hosts_match(const struct al_strv *patterns, const struct al_url *url);

#endif
