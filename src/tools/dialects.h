// SPDX-License-Identifier: Apache-2.0
/*
 * The dialects: toolsets in which the same verbs of git are offered.  A verb has one file, with a
 * request that all its dialects make and the rows and texts of each, written as
 * docs/ADDING-A-TOOL.md describes.
 *
 * `git`: git's commands with plain text results.
 *
 * `workflow`: git with structured results.
 *   - Parameters: names are camelCase: AL_STRING_AS(T, new_name, "newName", ...).  `cwd` is the
 *     last row.  Paths are relative to the top of the repository, where git runs.
 *   - Results: an object with an output schema, written with AL_JSON.  The root has type object and
 *     names every member.  An operation with a result of its own lists its required members in an
 *     `anyOf`.  al_result_set() sets a member.  Strings are exact bytes; bytes that are not UTF-8
 *     are replaced by U+FFFD.  What exceeds al_call_max_bytes() is omitted, and result->truncated
 *     is set.
 *   - Approval: an operation states with AL_ASKS_ALWAYS or AL_ASKS_NEVER whether the user is asked.
 *     Its effects must still be complete: the write lock, checkpoints, rules and hints need them.
 *   - Errors: a code, a message of one line, and a remedy.  Set the code with al_error_set_code(),
 *     and err->remedy if the one that failure.c has for the code does not fit.  failure.c folds
 *     git's messages into one line.
 *
 * `everyday`: an agent's whole day with git, in few calls and few bytes.
 *   - Parameters: names are snake_case.  `working_dir` is the last row.  A description is written
 *     only where the name does not say it: else it is NULL.  Paths are relative to working_dir,
 *     where git runs; "../x" too (AL_PARAM_PATH).  No argument is ignored: `check` refuses two that
 *     cannot both hold.
 *   - Results: text, from call/answer.h.  The first line says what happened or what this is.  Paths
 *     and names go through call/place.h.  A tool that reads has AL_PAGE_ROWS and AL_EVERYDAY_PAGES;
 *     it is cut between units and goes on with a cursor.  A tool that changes something writes to
 *     the text of its result; al_answer_done() adds the line of where one is.
 *   - Approval: an operation whose loss a checkpoint can bring back is AL_ASKS_NEVER, the others
 *     AL_ASKS_ALWAYS, or a `stricter` form when only the repository tells.
 *   - Errors: al_failure_bad_args() and al_failure_set() (call/failure.h) say the next step, naming
 *     tools of this toolset.  What has no remedy gets one by its code or words.
 *
 * `parallel`: several agents in one repository, each in a linked worktree; text.
 *
 * `readonly`: one tool, which only reads repositories.
 *
 * A new tool needs: its file in src/tools/meson.build, its name below and in the list of
 * toolsets.c, `ninja -C build update-golden`, and cases in tests/e2e/test_<toolset>_<part>.py;
 * those of `workflow` are on tests/e2e/workflow.py, which checks every result against its schema.
 */
#ifndef AL_TOOLS_DIALECTS_H
#define AL_TOOLS_DIALECTS_H

#include "call/answer.h"
#include "call/failure.h"
#include "call/place.h"
#include "call/resolved.h"
#include "guard/arg.h"

struct al_restore_options;

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

/* Rows of several tools, and settings of all tools of a dialect.  `T` is the tool's args struct;
 * each has a member `const char *working_dir`. */

/** The last row in `everyday` and `parallel`. */
#define AL_WORKING_DIR_ROW(T)                                                                      \
    AL_STRING(T, working_dir, NULL, .flags = AL_PARAM_NAME, .max_bytes = AL_PARAM_PATH_MAX_BYTES)
/** A row of a field of the options that the verb takes, which are the member `of`. */
#define AL_BOOL_IN(T, of, field, ...)   AL_BOOL_AS(T, of.field, #field, __VA_ARGS__)
#define AL_STRING_IN(T, of, field, ...) AL_STRING_AS(T, of.field, #field, __VA_ARGS__)
#define AL_PATHS_ROW(T, ...)            AL_STRINGS(T, paths, NULL, .flags = AL_PARAM_PATH, __VA_ARGS__)
#define AL_DIALECT_TOOL(T)              .args_size = sizeof(T), .working_dir_offset = offsetof(T, working_dir)

/* Of `git`, where the args struct has a member `struct al_opt_int timeout_ms`. */
#define AL_GIT_COMMON_ROWS(T)                                                                      \
    AL_INT(T, timeout_ms, "Timeout.", .flags = AL_PARAM_TIMEOUT, .min = 100, .max = 600000),       \
        AL_STRING(T, working_dir, "Where git runs.", .flags = AL_PARAM_NAME,                       \
                  .max_bytes = AL_PARAM_PATH_MAX_BYTES)
#define AL_GIT_MAX_BYTES_ROW(T, ...)                                                               \
    AL_INT(T, max_bytes, "Cap of the output.", .flags = AL_PARAM_MAX_BYTES, .min = 1,              \
           .max = 5000000, __VA_ARGS__)

/* Of `workflow`. */
#define AL_WORKFLOW_CWD_ROW(T)                                                                     \
    AL_STRING_AS(T, working_dir, "cwd", NULL, .flags = AL_PARAM_NAME,                              \
                 .max_bytes = AL_PARAM_PATH_MAX_BYTES)
#define AL_WORKFLOW_TOOL(T)                                                                        \
    AL_DIALECT_TOOL(T), .runs_at_top = true, .words = AL_WORDS_WORKFLOW,                           \
                        .complete_error = al_workflow_complete_error

/* Of `parallel`, and of `everyday`; AL_EVERYDAY_PAGES beside it for a tool whose answer has pages:
 * with a member `struct al_page page` and AL_PAGE_ROWS(T) before the last row. */
#define AL_PARALLEL_TOOL(T)                                                                        \
    AL_DIALECT_TOOL(T), .words = AL_WORDS_EVERYDAY, .complete_error = al_failure_complete
#define AL_EVERYDAY_TOOL(T)                                                                        \
    AL_DIALECT_TOOL(T), .is_terse = true, .takes_parent_paths = true, .saves_writes = true,        \
                        .words = AL_WORDS_EVERYDAY, .complete_error = al_everyday_complete_error
#define AL_EVERYDAY_PAGES .expand = al_cursor_expand

/** For git_restore and git_checkout of `git`: restore the paths, and set the result: how many there
 * were.
 *
 * @param unstaged  Whether staged changes are discarded as well. */
int al_git_restore_named(struct al_call *call, const struct al_restore_options *options,
                         bool unstaged, struct al_result *result, struct al_error *err);

/** Subtract `bytes` from the room that a list has yet; false: they do not fit. */
bool al_workflow_fits(size_t *room, size_t bytes);

/** Append an item to a list, taking it over, if there is room for it; else let it go: false. */
bool al_workflow_append(json_t *array, json_t *item, size_t *room);

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

/** For `complete_error` of `everyday`: al_failure_complete(); where the id of a hunk is not there,
 * with those of the new files if the tool takes them. */
void al_everyday_complete_error(struct al_call *call, struct al_error *err);

#endif
