// SPDX-License-Identifier: Apache-2.0
/* git's configuration about the other end, in place of the repository's own. */
#ifndef AL_GITOPS_TRANSPORT_NETWORK_CONFIG_H
#define AL_GITOPS_TRANSPORT_NETWORK_CONFIG_H

#include "gitops/transport/network.h"
#include "util/str.h"

/** Append the remote of this exchange at `address`, and the keys that no repository may decide:
 * key, value, key, ... */
void al_network_add_config(struct al_strv *config, const struct al_network *network,
                           const char *address);

/** Append the environment entries that the protocol needs. */
void al_network_add_env(struct al_strv *env, const struct al_network *network);

#endif
