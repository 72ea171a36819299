// SPDX-License-Identifier: Apache-2.0
/* Exchanges over http, with credentials where the server asks for them. */
#ifndef AL_GITOPS_TRANSPORT_HTTP_AUTH_H
#define AL_GITOPS_TRANSPORT_HTTP_AUTH_H

#include "gitops/transport/exchange.h"

/** Run a job over http: once without credentials unless the address has some, and once more when
 * the server asks for them.  Returns as al_network_run(). */
int al_network_run_http(const struct al_network_job *job, struct al_git_output *ret_output,
                        struct al_error *err);

#endif
