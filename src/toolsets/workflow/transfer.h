// SPDX-License-Identifier: Apache-2.0
/* What git_fetch, git_pull and git_push share: from a remote's name to a git that talks to it. */
#ifndef AL_TOOLSETS_WORKFLOW_TRANSFER_H
#define AL_TOOLSETS_WORKFLOW_TRANSFER_H

#include "gitops/repo/remotes.h"
#include "gitops/transport/fetch.h"
#include "gitops/transport/network.h"
#include "tool/call.h"
#include "tool/resolved.h"

/** The remote that is meant when none is named. */
#define AL_DEFAULT_REMOTE "origin"

/** What these tools have in common. */
#define AL_TRANSFER_ROW_REMOTE(T)                                                                  \
    AL_STRING(T, remote, "Remote.", .flags = AL_PARAM_HAS_DEFAULT | AL_PARAM_NO_DESCRIPTION,       \
              .default_str = AL_DEFAULT_REMOTE, .max_bytes = AL_WORKFLOW_REF_MAX_BYTES)

/** Refuse words that can be neither a remote nor a branch; `branch` may be NULL. */
int al_transfer_check(const char *remote, const char *branch, struct al_error *err);

/** Stage 4: the remote exists and its addresses can be used. */
int al_transfer_authorize(struct al_call *call, const char *remote, struct al_error *err);

/** Add the addresses a remote is fetched from to what a call's words mean, as "address".  A remote
 * that cannot be found has none, which the call will say. */
void al_transfer_resolve(struct al_call *call, const char *remote, struct al_resolved *out);

/** What an "always" for a transfer that fetches is for. */
extern const char *const al_transfer_always_by[];

/** Whether an exchange with a remote would be the first one with an address that was added or
 * changed in this conversation.  Fetching from this machine never is. */
bool al_transfer_is_new(struct al_call *call, const char *remote, enum al_direction direction);

/** The row's condition in words, see struct al_operation. */
#define AL_TRANSFER_CONDITION "for an address that was added or changed in this conversation"

/** Stage 5: where an exchange goes, one line for each address: "To https://…". */
void al_transfer_preview(struct al_call *call, const struct al_remote *remote,
                         enum al_direction direction, struct al_str *out);

/** Begin of the execution: where a person was asked about it, the address is no longer new. */
void al_transfer_accept(struct al_call *call, const struct al_remote *remote,
                        enum al_direction direction);

/** al_network_begin(), for a repository the session's grant covers. */
int al_transfer_begin(struct al_call *call, const struct al_remote *remote, const char *address,
                      enum al_direction direction, struct al_network **ret_network,
                      struct al_error *err);

/** Fetch from the first address of a remote; *ret_text as al_git_fetch(). */
int al_transfer_fetch(struct al_call *call, const struct al_remote *remote,
                      const struct al_fetch_options *options, struct al_str *ret_text,
                      struct al_error *err);

/** The branch that HEAD is on.  AL_CODE_OPERATION_FAILED where it is on none.  Caller frees. */
int al_transfer_current_branch(struct al_call *call, char **ret_branch, struct al_error *err);

/** The members that the results of fetch, pull and push have in common.  The caller adds the rest
 * and owns the reference. */
json_t *al_transfer_result(bool success, const char *remote, const char *message);

#endif
