// SPDX-License-Identifier: Apache-2.0
/* The parts of git_checkout and git_switch that toolsets share. */
#ifndef AL_TOOLS_CHECKOUT_H
#define AL_TOOLS_CHECKOUT_H

#include "call/call.h"
#include "call/resolved.h"
#include "verbs/porcelain/checkout.h"
#include "verbs/sequencer/operation_state.h"

/** For a tool's `resolve`: add the id of the commit that a revision names (NULL: HEAD) as
 * AL_RESOLVED_COMMIT. */
int al_resolve_commit(struct al_call *call, const char *rev, struct al_resolved *out,
                      struct al_error *err);

/** For a tool's `resolve`: add the branch or the commit that git would switch to. */
int al_resolve_checkout(struct al_call *call, const char *word, struct al_resolved *out,
                        struct al_error *err);

/** Set the target of a switch from what was resolved: a branch by name, a commit by id.  If nothing
 * was resolved, git gets the word itself, to guess a remote branch or to report the error. */
void al_resolved_checkout(const struct al_call *call, const char *word,
                          struct al_checkout_options *options);

/** Append the remote-tracking branches that git may make the branch from: "origin/x, other/x".
 * Gives their number. */
size_t al_switch_guesses(const struct al_call *call, struct al_str *out);

/** For a tool's `changed_files`: the files of a switch to what was resolved. */
int al_switch_changed_files(struct al_call *call, bool *ret_known, struct al_strv *out,
                            struct al_error *err);

/** Fail if a switch to what was resolved would write content through a configured filter driver. */
int al_switch_check_filters(struct al_call *call, struct al_error *err);

/** For a preview: fail if git would refuse to switch, since the word names nothing, or a branch
 * that another working tree has checked out.  After al_resolve_checkout(), or a commit was
 * resolved. */
int al_switch_check(struct al_call *call, const char *word, struct al_error *err);

/** The commit that HEAD was at, "1a2b3c4 subject", if a switch left it on no branch and no tag;
 * else NULL.  Caller frees. */
char *al_switch_left_commit(const struct al_git_output *output);

#endif
