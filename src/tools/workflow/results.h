// SPDX-License-Identifier: Apache-2.0
/* Parts that several results of this toolset have. */
#ifndef AL_TOOLS_WORKFLOW_RESULTS_H
#define AL_TOOLS_WORKFLOW_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

struct al_call;
struct al_result;

/** Bytes that JSON adds to a name in a list, and to an object of a few members. */
#define AL_WORKFLOW_NAME_COSTS   3
#define AL_WORKFLOW_OBJECT_COSTS 96

/** Subtract `bytes` from the room that a list has yet; false: they do not fit. */
bool al_workflow_fits(size_t *room, size_t bytes);

/** An array of strings.  The caller owns the reference. */
json_t *al_workflow_strings(const struct al_strv *items);

/** Append names to an array, as many as there is room for; none once it was `truncated`. */
void al_workflow_add_names(const struct al_strv *names, json_t *array, size_t *room,
                           bool *truncated);

/** The branch that HEAD is on, "HEAD" when it is detached.  Caller frees. */
char *al_workflow_current_branch(struct al_call *call);

/** Add a note that names those of `hooks` (NULL-terminated) that are installed and were not run,
 * and one when a commit was made without the signature that the configuration asks for. */
void al_workflow_skipped(struct al_call *call, const char *const *hooks, bool commits,
                         struct al_result *result);

/**
 * Check a path before approval: inside the repository, and not in a `.git` directory.  The file
 * need not exist.
 *
 * @param param  Name of the parameter, for the message.
 * @return 0; AL_ERR_SANDBOX, with AL_CODE_PROTECTED_PATH for `.git`; AL_ERR_BAD_ARGS.
 */
int al_workflow_check_path(struct al_call *call, const char *param, const char *given,
                           struct al_error *err);

/** Check each path of a list. */
int al_workflow_check_paths(struct al_call *call, const char *param, const struct al_strv *given,
                            struct al_error *err);

/** Give an error its code, fold its message into one line and add a remedy.  For `complete_error`
 * of struct al_tool. */
void al_workflow_complete_error(struct al_call *call, struct al_error *err);

#endif
