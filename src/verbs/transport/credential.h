// SPDX-License-Identifier: Apache-2.0
/*
 * Credentials for a server, from the credential helpers of the user's own configuration.
 *
 * Helpers need a shell, their own configuration and sometimes a desktop.  So `git credential` is
 * the one git child outside the confinement.  It runs in no repository, with an environment that
 * holds nothing an agent can write, and without a terminal or a program that could prompt.
 *
 * Source: git-credential(1), gitcredentials(7).
 */
#ifndef AL_VERBS_TRANSPORT_CREDENTIAL_H
#define AL_VERBS_TRANSPORT_CREDENTIAL_H

#include <stdbool.h>

#include "base/error.h"
#include "git/repo/repo.h"
#include "guard/url.h"

struct al_credential {
    char *user, *password;
    struct al_str answer; /**< what the helpers printed, for al_credential_report() */
};

#define AL_CREDENTIAL_INIT ((struct al_credential){ .answer = AL_STR_INIT })

/** Overwrite the secrets and free them. */
void al_credential_clear(struct al_credential *credential);

/**
 * Ask the helpers for the credentials of an http address.  *ret_found is false when they have none.
 *
 * @return 0, AL_ERR_TIMEOUT or AL_ERR_CANCELLED.
 */
int al_credential_fill(struct al_git *git, const struct al_url *url, struct al_run_limits *budget,
                       struct al_credential *ret_credential, bool *ret_found, struct al_error *err);

/** Tell the helpers whether the server accepted the credentials: they may then store them, or have
 * to erase them. */
void al_credential_report(struct al_git *git, const struct al_credential *credential,
                          bool was_right, struct al_run_limits *budget);

/** A file in memory with the answers to git's prompts for this address, for our askpass, which
 * answers no other prompt.  Close-on-exec; -1 when it cannot be created. */
int al_credential_answers(const struct al_url *url, const char *user, const char *password);

/* --- Github token --- */

/*
 * The token for GitHub: GITHUB_TOKEN of airlock's own environment, else what the user's gh prints.
 *
 * It is looked up for each use and kept nowhere.  gh runs like the user's credential helpers: in no
 * repository, outside the confinement, and without a terminal.
 *
 * Source: gh-auth-token(1).
 */

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
