// SPDX-License-Identifier: Apache-2.0
/*
 * The remotes and addresses that a repository had when the session began.
 *
 * An agent can add a remote, or write another address into the configuration.  The addresses that a
 * repository has when it is first seen count as the user's, unless its configuration changed since
 * the session began.  All other addresses are new: the user is asked before the first exchange, and
 * no credentials are sent without that answer.
 *
 * | state of an address | when                                                    |
 * |---------------------|---------------------------------------------------------|
 * | known               | the repository is first seen, with an old configuration |
 * | accepted            | the user agreed to an exchange with it                  |
 * | new                 | otherwise; again when the remote is added or renamed    |
 *
 * Threads: safe.
 */
#ifndef AL_GIT_REPO_KNOWN_REMOTES_H
#define AL_GIT_REPO_KNOWN_REMOTES_H

#include <stdbool.h>

#include "git/repo/remotes.h"
#include "git/vet/vet.h"

/** The most repositories that are remembered; addresses of further ones are all new. */
#define AL_KNOWN_REPOSITORIES_MAX 1024

struct al_known_remotes;

struct al_known_remotes *al_known_remotes_new(void);
void al_known_remotes_free(struct al_known_remotes *known);

/** Call it when a repository is opened: the first time, its configured addresses are remembered. */
void al_known_remotes_note(const struct al_repo *repo);

/** Test whether an address of a remote is neither known nor accepted for this direction.  One that
 * was accepted for a push may also be fetched from, but not the other way round. */
bool al_remote_address_is_new(const struct al_repo *repo, const char *name, const char *address,
                              enum al_direction direction);

/** The user agreed to exchanges with all addresses of a remote. */
void al_remote_accept(const struct al_repo *repo, const struct al_remote *remote,
                      enum al_direction direction);

/** A remote of this name is added or renamed: from now on all its addresses are new. */
void al_remote_forget(const struct al_repo *repo, const char *name);

/** Remember tips of remote-tracking branches (ids, in any order) for as long as the session lasts:
 * others have what these reach, also when the branches here are gone. */
void al_remote_tips_note(const struct al_repo *repo, struct al_strv *tips);

/** Append the tips that are remembered. */
void al_remote_tips_add(const struct al_repo *repo, struct al_strv *out);

#endif
