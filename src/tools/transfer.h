// SPDX-License-Identifier: Apache-2.0
/* The common part of git_fetch, git_pull and git_push. */
#ifndef AL_TOOLS_TRANSFER_H
#define AL_TOOLS_TRANSFER_H

#include "git/repo/remotes.h"
#include "tools/dialects.h"
#include "verbs/transport/network.h"
#include "verbs/transport/push.h"
#include "verbs/transport/remote.h"

/** The parameter row of the remote.  `T` is the tool's args struct. */
#define AL_TRANSFER_ROW_REMOTE(T, ...)                                                             \
    AL_STRING(T, remote, NULL, .flags = AL_PARAM_HAS_DEFAULT, .default_str = AL_DEFAULT_REMOTE,    \
              .max_bytes = AL_PARAM_NAME_MAX_BYTES, .check = al_transfer_check_remote,             \
              __VA_ARGS__)

/** The same for one without a default. */
#define AL_TRANSFER_ROW_ANY_REMOTE(T)                                                              \
    AL_STRING(T, remote, NULL, .flags = AL_PARAM_NAME, .max_bytes = AL_PARAM_NAME_MAX_BYTES,       \
              .check = al_transfer_check_remote)

/** Check the name of a remote.  An address is none, which the message says. */
int al_transfer_check_remote(const char *param, const char *name, struct al_error *err);

/** Find the remote that was resolved. */
int al_transfer_find(const struct al_call *call, struct al_remote *remote, struct al_error *err);

/** For `authorize`: check that the remote exists and that its addresses are allowed. */
int al_transfer_authorize(struct al_call *call, const char *remote, struct al_error *err);

/** For `resolve`: add an address of a remote, and whether it is new. */
void al_transfer_resolve_address(struct al_call *call, const struct al_remote *remote,
                                 const char *address, enum al_direction direction,
                                 struct al_resolved *out);

/** For `resolve`: add a remote as "remote" and its fetch addresses as "address".  An unknown remote
 * is ignored; the call itself reports it. */
void al_transfer_resolve(struct al_call *call, const char *remote, struct al_resolved *out);

/** For `always_by` of fetch and pull: the answer "always" covers the same address. */
extern const char *const al_transfer_always_by[];

/** Test whether the remote has an address that was added or changed in this session and not yet
 * approved.  False for fetching from a path on this machine. */
bool al_transfer_is_new(struct al_call *call, const char *remote, enum al_direction direction);

/** This condition in words, for struct al_stricter. */
#define AL_TRANSFER_CONDITION "for an address that was added or changed in this session"

/** For `preview`: append a line "To https://…" or "From https://…" for each address. */
void al_transfer_preview(struct al_call *call, const struct al_remote *remote,
                         enum al_direction direction, struct al_str *out);

/** At the beginning of the execution: if the user was asked, mark the addresses as approved. */
void al_transfer_accept(struct al_call *call, const struct al_remote *remote,
                        enum al_direction direction);

/** al_network_begin(), and check that the grant covers a repository on this machine. */
int al_transfer_begin(struct al_call *call, const struct al_repo *repo,
                      const struct al_remote *remote, const char *address,
                      enum al_direction direction, struct al_network **ret_network,
                      struct al_error *err);

/** Fetch from the first address of a remote.  *ret_text as for al_git_fetch(). */
int al_transfer_fetch(struct al_call *call, const struct al_remote *remote,
                      const struct al_fetch_options *options, struct al_str *ret_text,
                      struct al_error *err);

/** What git_fetch does with arguments of its own, with the words and the output of git in a shell.
 *
 * @param args           Of the tool git_fetch of `workflow` or `everyday`.
 * @param[out] ret_code  As git exits. */
int al_fetch_in_shell(struct al_call *call, const void *args, struct al_fetch_words *words,
                      int *ret_code, struct al_error *err);

/** The same for git_push of `everyday`.
 *
 * @param words  Options that git gets besides.
 * @param name   What the output calls what is pushed. */
int al_push_in_shell(struct al_call *call, const void *args, const struct al_strv *words,
                     const char *name, int *ret_code, struct al_error *err);

/** Test whether the call is answered with text for an agent to read, by the toolset everyday; else
 * its result is structured, by the toolset workflow. */
bool al_transfer_in_text(const struct al_call *call);

/** Check that no operation is in progress and no conflict unresolved. */
int al_transfer_check_idle(struct al_call *call, struct al_error *err);

/** The branch that HEAD is on; a failure that says what to do when it is on none.  Caller frees. */
int al_transfer_current_branch(struct al_call *call, char **ret_branch, struct al_error *err);

/** Set the members that the results of fetch, pull and push have in common. */
void al_transfer_result(struct al_result *result, bool success, const char *remote,
                        const char *message);

#endif
