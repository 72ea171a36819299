// SPDX-License-Identifier: Apache-2.0
/*
 * The token for GitHub: GITHUB_TOKEN of airlock's own environment, else what the user's gh prints.
 *
 * It is looked up for each use and kept nowhere.  gh runs like the user's credential helpers: in no
 * repository, outside the confinement, and without a terminal.
 *
 * Source: gh-auth-token(1).
 */
#ifndef AL_GITOPS_TRANSPORT_GITHUB_TOKEN_H
#define AL_GITOPS_TRANSPORT_GITHUB_TOKEN_H

#include "gitops/transport/credential.h"
#include "guard/url.h"
#include "util/error.h"

/**
 * Find the token for the server of an address.
 *
 * @param ret_credential  User and password.  The caller wipes it with al_credential_clear().
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR "GitHub authentication required. …" when
 *         there is none; AL_ERR_CANCELLED; AL_ERR_TIMEOUT when the call has no time left.
 */
int al_github_token(struct al_git *git, const struct al_url *url, struct al_run_limits *budget,
                    struct al_credential *ret_credential, struct al_error *err);

#endif
