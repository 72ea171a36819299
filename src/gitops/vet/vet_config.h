// SPDX-License-Identifier: Apache-2.0
/* The vetting of a repository from its configuration: one `git config --list`. */
#ifndef AL_GITOPS_VET_VET_CONFIG_H
#define AL_GITOPS_VET_VET_CONFIG_H

#include "gitops/vet/vet.h"

/** List the configuration and fill `vetting` from it. */
int al_vetting_read_config(const struct al_location *at, struct al_run_limits *budget,
                           struct al_vetting *vetting, struct al_error *err);

#endif
