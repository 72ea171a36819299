// SPDX-License-Identifier: Apache-2.0
/*
 * Which remotes and addresses a repository had when the session began.
 *
 * An agent can add a remote, or write another address into the configuration.  What a repository
 * was first seen with counts as the user's, unless its configuration changed since the session
 * began.  Everything else is new: the first exchange with it is asked about, and no credentials go
 * there without a question.
 *
 * | state of a remote's address | becomes it when                                       |
 * |-----------------------------|-------------------------------------------------------|
 * | known                       | the repository is first seen, with an old configuration |
 * | accepted                    | a person agreed to an exchange with it                |
 * | new                         | otherwise; again when the remote is added or renamed  |
 *
 * Threads: safe.
 */
#ifndef AL_GITOPS_REPO_KNOWN_REMOTES_H
#define AL_GITOPS_REPO_KNOWN_REMOTES_H

#include <stdbool.h>

#include "gitops/repo/remotes.h"
#include "gitops/vet.h"

/** The addresses of more repositories than this are all new. */
#define AL_KNOWN_REPOSITORIES_MAX 1024

struct al_known_remotes;

struct al_known_remotes *al_known_remotes_new(void);
void al_known_remotes_free(struct al_known_remotes *known);

/** The repository is opened: when it is for the first time, remember what it is configured with. */
void al_known_remotes_note(const struct al_repo *repo);

/** Whether a remote has an address that is neither known nor was accepted for this direction.  What
 * was accepted to push to may be fetched from, and not the other way round. */
bool al_remote_is_new(const struct al_repo *repo, const struct al_remote *remote,
                      enum al_direction direction);
bool al_remote_address_is_new(const struct al_repo *repo, const char *name, const char *address,
                              enum al_direction direction);

/** A person agreed to exchanges with all addresses of a remote. */
void al_remote_accept(const struct al_repo *repo, const struct al_remote *remote,
                      enum al_direction direction);

/** A remote of this name is added or renamed: all its addresses are new. */
void al_remote_forget(const struct al_repo *repo, const char *name);

#endif
