// SPDX-License-Identifier: Apache-2.0
/* All toolsets, and their tools. */
#ifndef AL_TOOLS_TOOLSETS_H
#define AL_TOOLS_TOOLSETS_H

#include "call/registry.h"

/** Every toolset there is. */
const struct al_toolset_registry *al_toolsets(void);

/** The tools of `git`. */
extern const struct al_tool al_tool_git_status, al_tool_git_diff, al_tool_git_log, al_tool_git_add,
    al_tool_git_commit, al_tool_git_show, al_tool_git_blame, al_tool_git_restore,
    al_tool_git_branch, al_tool_git_checkout, al_tool_git_stash;

/** Those of `workflow`. */
extern const struct al_tool al_tool_workflow_status, al_tool_workflow_diff, al_tool_workflow_log,
    al_tool_workflow_commit, al_tool_workflow_branch, al_tool_workflow_checkout,
    al_tool_workflow_merge, al_tool_workflow_conflict_info, al_tool_workflow_resolve_conflict,
    al_tool_workflow_generate_pr, al_tool_workflow_stash, al_tool_workflow_fetch,
    al_tool_workflow_pull, al_tool_workflow_push, al_tool_workflow_remote;

/** Those of `everyday`, which has git_worktree as well. */
extern const struct al_tool al_tool_everyday_status, al_tool_everyday_diff, al_tool_everyday_log,
    al_tool_everyday_show, al_tool_everyday_grep, al_tool_everyday_blame, al_tool_everyday_branch,
    al_tool_everyday_tag, al_tool_everyday_pr, al_tool_everyday_add, al_tool_everyday_restore,
    al_tool_everyday_commit, al_tool_everyday_reset, al_tool_everyday_stash,
    al_tool_everyday_switch, al_tool_everyday_undo, al_tool_everyday_merge, al_tool_everyday_rebase,
    al_tool_everyday_cherry_pick, al_tool_everyday_revert, al_tool_everyday_conflicts,
    al_tool_everyday_fetch, al_tool_everyday_pull, al_tool_everyday_push, al_tool_everyday_remote;

/** Those of `parallel` and `readonly`. */
extern const struct al_tool al_tool_git_worktree, al_tool_parallel_compare, al_tool_parallel_land,
    al_tool_readonly_git;

/** Those of `files`. */
extern const struct al_tool al_tool_files_read, al_tool_files_write, al_tool_files_list,
    al_tool_files_delete;

/** Those of `staging`, of the sandbox's changes and staged commits. */
extern const struct al_tool al_tool_staging_status, al_tool_staging_stage, al_tool_staging_diff,
    al_tool_staging_discard;

/** Those with a target. */
extern const struct al_tool al_tool_staging_push, al_tool_staging_pull, al_tool_staging_branches,
    al_tool_staging_merge;

/* --- The content of files in arguments --- */

/** The encoding of a file's content in an argument. */
enum al_encoding { AL_UTF_8, AL_BASE64 };

/** The choices of a row for it. */
extern const struct al_choice al_encodings[];

/** Append the bytes of an argument.  The message names the parameter. */
int al_content_decode(const char *param, const char *given, int encoding, struct al_str *ret_bytes,
                      struct al_error *err);

/* Limits of arguments.  They are enforced but not printed in schemas. */
#define AL_STAGING_PATH_MAX_BYTES 4096
#define AL_STAGING_PATHS_MAX      1000

#endif
