// SPDX-License-Identifier: Apache-2.0
/*
 * The toolset `workflow`: git with structured results.
 *
 * Each tool is a file of its own, written like every tool (docs/ADDING-A-TOOL.md), and keeps to
 * what this toolset promises:
 *
 * - Parameters are camelCase: AL_STRING_AS(T, new_name, "newName", …).  `cwd` is the last row of
 *   every tool.  Paths are relative to the top of the repository, where git runs.
 * - Results are objects with an output schema, written with AL_JSON: the root is of type object,
 *   names every member, and an operation with a result of its own has its `required` in an `anyOf`.
 *   al_result_set_structured() makes the text of it.  What may have many parts is written as text
 *   while git runs, and al_result_take_json() takes it.  Strings are data: exact bytes, with U+FFFD
 *   in the place of those that are not UTF-8.  What would not fit into al_call_max_bytes() is left
 *   out and result->truncated is set.
 * - An operation says with AL_ASKS_ALWAYS or AL_ASKS_NEVER whether a person is asked.  Effects
 *   are as honest as everywhere: they decide about turns, checkpoints, rules and hints.
 * - A failure has a code.  Set the one that fits with al_error_set_code(), and err->remedy where
 *   the caller should hear something better than what failure.c says for the code.  Text is one
 *   line of cause and one of remedy; a git's many lines are folded into one.
 *
 * A tool that comes with this toolset needs: its file in src/toolsets/meson.build, its name below
 * and in the list of workflow.c, `ninja -C build update-golden`, and cases in
 * tests/e2e/test_r4_<part>.py on tests/e2e/workflow.py, which holds every result against its
 * schema.
 */
#ifndef AL_TOOLSETS_WORKFLOW_WORKFLOW_H
#define AL_TOOLSETS_WORKFLOW_WORKFLOW_H

#include "tool/tool.h"
#include "toolsets/workflow/failure.h"

/** The toolset, and its tools in the order they are listed. */
extern const struct al_toolset al_toolset_workflow;

/** One file each. */
extern const struct al_tool al_tool_workflow_status;
extern const struct al_tool al_tool_workflow_diff;
extern const struct al_tool al_tool_workflow_log;
extern const struct al_tool al_tool_workflow_commit;
extern const struct al_tool al_tool_workflow_branch;
extern const struct al_tool al_tool_workflow_checkout;
extern const struct al_tool al_tool_workflow_merge;
extern const struct al_tool al_tool_workflow_conflict_info;
extern const struct al_tool al_tool_workflow_resolve_conflict;
extern const struct al_tool al_tool_workflow_generate_pr;
extern const struct al_tool al_tool_workflow_stash;
extern const struct al_tool al_tool_workflow_fetch;
extern const struct al_tool al_tool_workflow_pull;
extern const struct al_tool al_tool_workflow_push;
extern const struct al_tool al_tool_workflow_remote;

/* Caps of what an agent may give; they are enforced and not printed in schemas. */
#define AL_WORKFLOW_PATH_MAX_BYTES 4096
#define AL_WORKFLOW_PATHS_MAX      10000
#define AL_WORKFLOW_REF_MAX_BYTES  1024
#define AL_WORKFLOW_TEXT_MAX_BYTES 65536

/* What every tool has.  `T` is the tool's args struct. */
#define AL_WORKFLOW_FIELDS const char *cwd
#define AL_WORKFLOW_CWD_ROW(T)                                                                     \
    AL_STRING(T, cwd, "Where git runs.", .flags = AL_PARAM_NO_DESCRIPTION | AL_PARAM_NAME,         \
              .max_bytes = AL_WORKFLOW_PATH_MAX_BYTES)
#define AL_WORKFLOW_TOOL(T)                                                                        \
    .args_size = sizeof(T), .working_dir_offset = offsetof(T, cwd), .runs_at_top = true,           \
    .complete_error = al_workflow_complete_error

#endif
