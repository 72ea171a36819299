// SPDX-License-Identifier: Apache-2.0
/*
 * One address of a remote, and a git that talks to it.
 *
 * A repository on this machine is spoken to without any network: git's server for it is started
 * here, confined and with our overrides, so that neither hooks nor configuration of either side run
 * anything.  Everything else gets a git that may connect, use the one protocol of the address, and
 * start what that protocol needs.
 *
 * Credentials for http come from the person's own credential helpers, once a server asks for them;
 * nobody is prompted, ever.
 */
#ifndef AL_GITOPS_TRANSPORT_NETWORK_H
#define AL_GITOPS_TRANSPORT_NETWORK_H

#include <stdbool.h>

#include "gitops/repo/remotes.h"
#include "gitops/run.h"
#include "guard/url.h"

struct al_network;

/**
 * Prepare an exchange with one address.  Nothing is started but, for a repository on this machine,
 * the git that lists its configuration.
 *
 * @param remote   Borrowed until al_network_end().
 * @param address  One of its urls or push_urls.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR for an address that cannot be used;
 *         AL_ERR_SANDBOX when it leads outside the roots.
 */
int al_network_begin(const struct al_repo *repo, const struct al_remote *remote,
                     const char *address, enum al_direction direction, struct al_run_limits *budget,
                     struct al_network **ret_network, struct al_error *err);
void al_network_end(struct al_network *network);

/** Cleanup for `al_auto(al_network_endp)`. */
void al_network_endp(struct al_network **network);

/** The repository on this machine at the other end, NULL when it is elsewhere.  Borrowed. */
const struct al_repo *al_network_other(const struct al_network *network);

/** Which repository on this machine is held open, as device and inode; "" when it is elsewhere.
 * Borrowed. */
const char *al_network_repository_id(const struct al_network *network);

/** The name under which git knows the remote in a command of this exchange.  Borrowed. */
const char *al_network_name(const struct al_network *network);

/** The address as people may see it.  Borrowed. */
const char *al_network_shown(const struct al_network *network);

/**
 * Run a command that names the remote.  Its class, link and starts_children are set here.  The
 * output shows no user information of an address, and the address instead of how git was led there.
 *
 * @param progress  May be NULL.
 * @return as al_git_run(): a non-zero exit code is a success here, and al_network_failed()
 *         makes an error of it; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR where a server asks for
 *         credentials and there are none, or not the right ones.
 */
int al_network_run(struct al_network *network, struct al_git_command *command, size_t max_bytes,
                   const struct al_progress *progress, struct al_run_limits *budget,
                   struct al_git_output *ret_output, struct al_error *err);

#endif
