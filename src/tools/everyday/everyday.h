// SPDX-License-Identifier: Apache-2.0
/*
 * The toolset `everyday`: an agent's whole day with git, in few calls and few bytes.
 *
 * Each tool has a file of its own, written as docs/ADDING-A-TOOL.md describes.  In addition:
 *
 * Parameters
 *   - Names are snake_case.  `working_dir` is the last row of every tool.  A description is written
 *     only where the name does not say it: else it is NULL.
 *   - Paths are relative to working_dir, where git runs; "../x" too (AL_PARAM_PATH).
 *   - No argument is ignored: `check` refuses two that cannot both hold.
 *
 * Results
 *   - Text, from call/answer.h.  The first line says what happened or what this is.  Paths and
 *     names go through call/place.h.
 *   - A tool that reads has AL_PAGE_ROWS and AL_EVERYDAY_PAGES; it is cut between units and goes on
 *     with a cursor.
 *   - A tool that changes something writes to the text of its result; al_answer_done() adds the
 * line of where one is.
 *
 * Approval
 *   - An operation whose loss a checkpoint can bring back is AL_ASKS_NEVER, the others
 *     AL_ASKS_ALWAYS, or a `stricter` form when only the repository tells.
 *
 * Errors
 *   - al_failure_bad_args() and al_failure_set() (call/failure.h) say the next step, naming tools
 * of this toolset.  What has no remedy gets one by its code or words.
 *
 * A new tool needs: its file in src/tools/meson.build, its name below and in the list of
 * toolsets.c, and cases in tests/e2e/test_everyday_<part>.py.
 */
#ifndef AL_TOOLS_EVERYDAY_EVERYDAY_H
#define AL_TOOLS_EVERYDAY_EVERYDAY_H

#include "call/answer.h"
#include "call/failure.h"
#include "call/tool.h"

/* The tools; each has a file of its own. */

/** Reading. */
extern const struct al_tool al_tool_everyday_status, al_tool_everyday_diff, al_tool_everyday_log,
    al_tool_everyday_show, al_tool_everyday_grep, al_tool_everyday_blame, al_tool_everyday_branch,
    al_tool_everyday_tag, al_tool_everyday_pr;

/** Changes: add to undo. */
extern const struct al_tool al_tool_everyday_add, al_tool_everyday_restore, al_tool_everyday_commit,
    al_tool_everyday_reset, al_tool_everyday_stash, al_tool_everyday_switch, al_tool_everyday_undo;

/** History, branches, remotes. */
extern const struct al_tool al_tool_everyday_merge, al_tool_everyday_rebase,
    al_tool_everyday_cherry_pick, al_tool_everyday_revert, al_tool_everyday_conflicts,
    al_tool_everyday_remote;

/** al_failure_complete(); where the id of a hunk is not there, with those of the new files if the
 * tool takes them. */
void al_everyday_complete_error(struct al_call *call, struct al_error *err);

/* The last field, the last row and the settings of every tool.  `T` is the tool's args struct. */
#define AL_EVERYDAY_FIELDS const char *working_dir
#define AL_EVERYDAY_WORKING_DIR_ROW(T)                                                             \
    AL_STRING(T, working_dir, NULL, .flags = AL_PARAM_NAME, .max_bytes = AL_PARAM_PATH_MAX_BYTES)
#define AL_EVERYDAY_TOOL(T)                                                                        \
    .args_size = sizeof(T), .working_dir_offset = offsetof(T, working_dir), .is_terse = true,      \
    .takes_parent_paths = true, .saves_writes = true, .finish = al_answer_done,                    \
    .words = AL_WORDS_EVERYDAY, .complete_error = al_everyday_complete_error

/* The same for a tool whose answer has pages: a member `struct al_page page` in the args struct,
 * AL_PAGE_ROWS(T) before the row of working_dir, and this beside AL_EVERYDAY_TOOL. */
#define AL_EVERYDAY_PAGES .expand = al_cursor_expand

/* Rows that several tools have. */
#define AL_EVERYDAY_PATHS_ROW(T, ...)                                                              \
    AL_STRINGS(T, paths, NULL, .flags = AL_PARAM_PATH, __VA_ARGS__)

#endif
