// SPDX-License-Identifier: Apache-2.0
/*
 * The other repository is on this machine: git's server for it runs beside the client, confined and
 * with our overrides, and the two talk over a socket.  Neither a shell nor a hook is started.
 */
#ifndef AL_GITOPS_TRANSPORT_LOCAL_SERVER_H
#define AL_GITOPS_TRANSPORT_LOCAL_SERVER_H

#include "gitops/transport/exchange.h"

/** Run a job whose exchange is with a repository on this machine.  Returns as al_network_run(). */
int al_network_run_local(const struct al_network_job *job, struct al_git_output *ret_output,
                         struct al_error *err);

#endif
