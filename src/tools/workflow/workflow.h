// SPDX-License-Identifier: Apache-2.0
/*
 * The toolset `workflow`: git with structured results.
 *
 * Each tool has a file of its own, written as docs/ADDING-A-TOOL.md describes.  In addition:
 *
 * Parameters
 *   - Names are camelCase: AL_STRING_AS(T, new_name, "newName", ...).
 *   - `cwd` is the last row of every tool.
 *   - Paths are relative to the top of the repository, where git runs.
 *
 * Results
 *   - A result is an object with an output schema, written with AL_JSON.  The root has type object
 *     and names every member.  An operation with a result of its own lists its required members in
 *     an `anyOf`.
 *   - al_result_set() sets a member of the result.
 *   - Strings are exact bytes; bytes that are not UTF-8 are replaced by U+FFFD.
 *   - What exceeds al_call_max_bytes() is omitted, and result->truncated is set.
 *
 * Approval
 *   - An operation states with AL_ASKS_ALWAYS or AL_ASKS_NEVER whether the user is asked.
 *   - Its effects must still be complete: the write lock, checkpoints, rules and hints need them.
 *
 * Errors
 *   - An error has a code, a message of one line, and a remedy.  Set the code with
 *     al_error_set_code(), and err->remedy if the one that failure.c has for the code does not fit.
 *     failure.c folds git's messages into one line.
 *
 * A new tool needs: its file in src/tools/meson.build, its name below and in the list of
 * toolsets.c, `ninja -C build update-golden`, and cases in tests/e2e/test_workflow_<part>.py, on
 * tests/e2e/workflow.py, which checks every result against its schema.
 */
#ifndef AL_TOOLS_WORKFLOW_WORKFLOW_H
#define AL_TOOLS_WORKFLOW_WORKFLOW_H

#include "call/tool.h"
#include "tools/workflow/results.h"

/** The tools; each has a file of its own. */
extern const struct al_tool al_tool_workflow_status, al_tool_workflow_diff, al_tool_workflow_log,
    al_tool_workflow_commit, al_tool_workflow_branch, al_tool_workflow_checkout,
    al_tool_workflow_merge, al_tool_workflow_conflict_info, al_tool_workflow_resolve_conflict,
    al_tool_workflow_generate_pr, al_tool_workflow_stash, al_tool_workflow_pull,
    al_tool_workflow_push, al_tool_workflow_remote;

/* The fields, the row and the settings of every tool.  `T` is the tool's args struct. */
#define AL_WORKFLOW_FIELDS const char *working_dir
#define AL_WORKFLOW_CWD_ROW(T)                                                                     \
    AL_STRING_AS(T, working_dir, "cwd", NULL, .flags = AL_PARAM_NAME,                              \
                 .max_bytes = AL_PARAM_PATH_MAX_BYTES)
#define AL_WORKFLOW_TOOL(T)                                                                        \
    .args_size = sizeof(T), .working_dir_offset = offsetof(T, working_dir), .runs_at_top = true,   \
    .words = AL_WORDS_WORKFLOW, .complete_error = al_workflow_complete_error

#endif
