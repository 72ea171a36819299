// SPDX-License-Identifier: Apache-2.0
/* The failure of a git that talked to another repository, as an error with a cause and a remedy. */
#ifndef AL_GITOPS_TRANSPORT_NETWORK_FAILURE_H
#define AL_GITOPS_TRANSPORT_NETWORK_FAILURE_H

#include "gitops/transport/network.h"

/** Turn a failed output into an error: AL_CODE_REMOTE_ERROR, a cause and a remedy. */
int al_network_failed(const struct al_network *network, const struct al_git_output *output,
                      struct al_error *err);

/** Test whether a clone failed for want of the branch that was asked for. */
bool al_network_lacks_branch(const struct al_git_output *output);

#endif
