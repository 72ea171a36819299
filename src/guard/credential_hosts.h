// SPDX-License-Identifier: Apache-2.0
/*
 * `[tools.git] credential_hosts`: the servers that get the user's credentials whoever names them.
 *
 * A pattern is `[SCHEME://]HOST[:PORT]`.  Without a scheme it is for https.  HOST is a glob of
 * fnmatch(3), in which `*` also matches dots; an IPv6 address stands in brackets.  Without a port
 * it is the protocol's own; `*` is every port.
 */
#ifndef AL_GUARD_CREDENTIAL_HOSTS_H
#define AL_GUARD_CREDENTIAL_HOSTS_H

#include <stdbool.h>

#include "guard/url.h"
#include "util/error.h"
#include "util/str.h"

/** Whether a text is such a pattern; AL_ERR_BAD_ARGS says why not. */
int al_credential_hosts_check(const char *pattern, struct al_error *err);

/** Whether one of the patterns is for the server of an address of http. */
bool al_credential_hosts_match(const struct al_strv *patterns, const struct al_url *url);

#endif
