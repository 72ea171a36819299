// SPDX-License-Identifier: Apache-2.0
/* The part of a vetting that is about other repositories. */
#ifndef AL_GITOPS_VET_VET_REMOTES_H
#define AL_GITOPS_VET_VET_REMOTES_H

#include "gitops/vet/config_list.h"
#include "gitops/vet/vet.h"

/** Keep what an entry says about remotes, rewritten addresses and the proxy. */
void al_vetting_note_remote(struct al_vetting *vetting, const struct al_config_entry *entry);

#endif
