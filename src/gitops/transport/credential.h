// SPDX-License-Identifier: Apache-2.0
/*
 * The person's credentials for a server, from the credential helpers of their own configuration.
 *
 * Helpers need a shell, their configuration and sometimes a desktop, so `git credential` is the one
 * git that runs outside the confinement: in no repository, with nothing an agent can write in its
 * environment, and without a terminal or a program that could prompt.
 *
 * Source: git-credential(1), gitcredentials(7).
 */
#ifndef AL_GITOPS_TRANSPORT_CREDENTIAL_H
#define AL_GITOPS_TRANSPORT_CREDENTIAL_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "guard/url.h"

struct al_credential {
    char *user, *password;
    struct al_str answer; /**< what the helpers said, to be told whether it was right */
};

#define AL_CREDENTIAL_INIT ((struct al_credential){ .answer = AL_STR_INIT })

/** Release it, and overwrite what was secret. */
void al_credential_clear(struct al_credential *credential);

/** Ask the helpers for what belongs to an address of http.  False where they have nothing; errors
 * are AL_ERR_TIMEOUT and AL_ERR_CANCELLED. */
int al_credential_fill(struct al_git *git, const struct al_url *url, struct al_run_limits *budget,
                       struct al_credential *ret_credential, bool *ret_found, struct al_error *err);

/** Tell the helpers that a server took it (they may keep it), or did not (they forget it). */
void al_credential_report(struct al_git *git, const struct al_credential *credential,
                          bool was_right, struct al_run_limits *budget);

/**
 * A file in memory with the answers to the prompts git has for this address, for our askpass: it
 * answers no other prompt.  Close-on-exec; -1 when it cannot be made.
 */
int al_credential_answers(const struct al_url *url, const char *user, const char *password);

#endif
