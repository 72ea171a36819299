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
 *     are replaced by U+FFFD.  Output beyond al_call_max_bytes() is omitted, and result->truncated
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
 *     and names go through al_place_add().  A tool that reads has AL_PAGE_ROWS and
 * AL_EVERYDAY_PAGES; it is cut between units and goes on with a cursor.  A tool that changes
 * something writes to the text of its result; al_answer_done() adds the line of where one is.
 *   - Approval: an operation whose loss a checkpoint can bring back is AL_ASKS_NEVER, the others
 *     AL_ASKS_ALWAYS, or a `stricter` form when only the repository tells.
 *   - Errors: al_failure_bad_args() and al_failure_set() (call/failure.h) say the next step, naming
 *     tools of this toolset.  An error without a remedy gets one by its code or words.
 *
 * `parallel`: several agents in one repository, each in a linked worktree; text.
 *
 * `readonly`: one tool, which only reads repositories.
 *
 * A new tool needs: its file in src/tools/meson.build, its name in toolsets.h and in the list of
 * toolsets.c, `ninja -C build update-golden`, and cases in tests/e2e/test_<toolset>_<part>.py;
 * those of `workflow` are on tests/e2e/workflow.py, which checks every result against its schema.
 */
#ifndef AL_TOOLS_PRIVATE_H
#define AL_TOOLS_PRIVATE_H

#include "call/answer.h"
#include "call/call.h"
#include "call/failure.h"
#include "git/diff/diff.h"
#include "git/hunks/hunk_list.h"
#include "git/repo/remotes.h"
#include "git/repo/repo.h"
#include "guard/arg.h"
#include "tools/toolsets.h"
#include "verbs/porcelain/checkout.h"
#include "verbs/sequencer/conflict.h"
#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"
#include "verbs/transport/network.h"
#include "verbs/transport/push.h"
#include "verbs/transport/remote.h"

struct al_restore_options;

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
#define AL_WORKFLOW_TOOL(T) AL_DIALECT_TOOL(T), .runs_at_top = true, .words = AL_WORDS_WORKFLOW

/* Of `parallel`, and of `everyday`; AL_EVERYDAY_PAGES beside it for a tool whose answer has pages:
 * with a member `struct al_page page` and AL_PAGE_ROWS(T) before the last row. */
#define AL_PARALLEL_TOOL(T) AL_DIALECT_TOOL(T), .words = AL_WORDS_EVERYDAY
#define AL_EVERYDAY_TOOL(T) AL_DIALECT_TOOL(T), .is_everyday = true, .words = AL_WORDS_EVERYDAY
#define AL_EVERYDAY_PAGES   .expand = al_cursor_expand

/** Restore the paths, for git_restore and git_checkout of `git`, and set the result: how many there
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

/** Add a note that names those of `hooks` (NULL-terminated) that are installed and were not run,
 * and one when a commit was made without the signature that the configuration asks for. */
void al_workflow_skipped(struct al_call *call, const char *hooks, bool commits,
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

/** The `complete_error` of a tool that takes the hunks of new files: name those that there are
 * where the id of a hunk is not there. */
void al_everyday_complete_error(struct al_call *call, struct al_error *err);

/** Add the id of the commit that a revision names (NULL: HEAD) as AL_RESOLVED_COMMIT, in a tool's
 * `resolve`. */
int al_resolve_commit(struct al_call *call, const char *rev, struct al_error *err);

/** The words of a resolved value; none if there is none. */
void al_resolved_words(const struct al_call *call, const char *name, struct al_strv *ret_words);

/* --- Branches and tags as `everyday` lists them --- */

struct al_refs_query;

/** The result of listing tags, or branches: with upstream, ahead and behind, last commit, whether
 * they are merged into the default branch, and which working tree has them. */
int al_show_refs(struct al_call *call, const struct al_refs_query *query, struct al_result *result,
                 struct al_error *err);

/* --- The common part of git_fetch, git_pull and git_push --- */

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

/** Check, in `authorize`, that the remote that was resolved exists and that its addresses are
 * allowed. */
int al_transfer_authorize(struct al_call *call, struct al_error *err);

/** Add an address of a remote, and whether it is new, in `resolve`. */
void al_transfer_resolve_address(struct al_call *call, const struct al_remote *remote,
                                 const char *address, enum al_direction direction);

/** Add a remote as "remote" and its fetch addresses as "address", in `resolve`.  An unknown remote
 * is ignored; the call itself reports it. */
void al_transfer_resolve(struct al_call *call, const char *remote);

/** The `always_by` of fetch and pull: the answer "always" covers the same address. */
extern const char *const al_transfer_always_by[];

/** Test, for struct al_stricter, whether an address that was resolved was added or changed in this
 * session and not yet approved.  Fetching from a path on this machine is no such case. */
bool al_transfer_is_new(struct al_call *call);

/** This condition in words, for struct al_stricter. */
#define AL_TRANSFER_CONDITION "for an address that was added or changed in this session"

/** Append, in `preview`, a line "To https://…" or "From https://…" for each address. */
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

/** Accept the addresses of a remote, and fetch from the first one.  *ret_text as for
 * al_git_fetch(). */
int al_transfer_fetch(struct al_call *call, const struct al_remote *remote,
                      const struct al_fetch_options *options, struct al_str *ret_text,
                      struct al_error *err);

/** Do as git_fetch with arguments of its own, with the words and the output of git in a shell.
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

/** Whether there is a reference of this name below "refs/heads/", "refs/tags/" or "" (a full name).
 */
bool al_has_ref(const struct al_call *call, const char *below, const char *name);

/** The branch that HEAD is on; NULL: none.  Caller frees. */
char *al_current_branch(const struct al_repo *repo);

/** The same, or a failure that says what to do when it is on none. */
int al_transfer_current_branch(struct al_call *call, char **ret_branch, struct al_error *err);

/** Set the members that the results of fetch, pull and push have in common. */
void al_transfer_result(struct al_result *result, bool success, const char *remote,
                        const char *message);

/* --- The results of what merges and replays commits: done, or stopped at conflicts --- */

/** Fail while an operation is in progress or there are conflicts, naming git_conflicts. */
int al_everyday_check_idle(struct al_call *call, struct al_error *err);

/** The condition of rewriting published commits, in words. */
#define AL_REPLAY_CONDITION "for commits that a remote-tracking branch has"

/** The result of showing conflicts: what is in progress, then each file, or those at `paths` (from
 * the top; NULL: all).  Files that do not fit are named. */
int al_outcome_show(struct al_call *call, const struct al_conflicts *conflicts,
                    const struct al_strv *paths, struct al_result *result, struct al_error *err);

/** Append "src/a.c (2 hunks), b.png (binary)" for files in conflict, at most 20 of them. */
int al_outcome_add_conflicts(struct al_call *call, const struct al_conflicts *conflicts,
                             struct al_str *out, struct al_error *err);

/** The result of an operation that this call has begun and that stopped at conflicts, after a line
 * of what happened: the conflicts, as al_outcome_show() shows them.  Remembers that it is this
 * session's. */
int al_outcome_stopped(struct al_call *call, struct al_result *result, struct al_error *err);

/** Append the hooks that were not run and the signature that was not made, a line each. */
void al_outcome_add_skipped(struct al_call *call, const char *hooks, bool commits,
                            struct al_str *text);

/** Append the files of a list, relative to the top, as al_answer_add_items(). */
void al_outcome_add_places(const struct al_repo *repo, const struct al_strv *files,
                           size_t max_bytes, struct al_str *out);

/** Append a line with the items of a list, if there are any, as al_answer_add_items(). */
void al_outcome_add_list(const char *title, const struct al_strv *items, size_t max_bytes,
                         struct al_str *out);

/** Append, in a preview, the message of what is made. */
void al_outcome_add_message(struct al_call *call, const char *message, struct al_str *out);

/** Append "a1b2c3d4 subject" of a commit, with what stands before and after it. */
int al_outcome_add_commit(struct al_call *call, const char *before, const char *rev,
                          const char *after, struct al_str *out, struct al_error *err);

/**
 * The result of a merge.
 *
 * @param name   What was merged, as the agent names it.
 */
int al_merged_answer(struct al_call *call, const char *name, const struct al_merge_outcome *outcome,
                     struct al_result *result, struct al_error *err);

/** Name those of these files, which had changes, that have none any more. */
void al_outcome_add_gone(struct al_call *call, const struct al_strv *files, const char *title,
                         struct al_str *text);

/* --- The new files that a commit of every change leaves out --- */

/**
 * Find the untracked files to leave out: files that look like secrets, core dumps and large files,
 * and repositories and worktrees inside of this one, of which git stages the commit alone.
 *
 * @param except     Absolute paths of files that are not left out; NULL: none.
 * @param ret_names  Their names, relative to the top of the working tree.
 * @param ret_line   One line that names them with the reasons; "" when there are none.
 */
int al_leave_out(struct al_call *call, const struct al_strv *except, struct al_strv *ret_names,
                 struct al_str *ret_line, struct al_error *err);

/** Add the affected files that go through a filter, beside which git would stage no other, to those
 * that are left out already; NULL: none are named.  It fails where there are no others. */
int al_leave_filtered(struct al_call *call, struct al_strv *ret_names, struct al_error *err);

/** Whether the working tree is a sparse checkout (git-sparse-checkout(1)). */
bool al_is_sparse(const struct al_repo *repo);

/** Append, if there are files that git has passed over, "`what`, as a user can widen the sparse
 * checkout first: a, b", or the like for files with a mark in the index (git-update-index(1)). */
void al_left_out_add_passed_over(const struct al_call *call, const char *what,
                                 const struct al_strv *files, struct al_str *out);

/* --- What git_worktree and git's own command line say before a worktree is removed --- */

/** Append a line each for changed, staged, untracked and ignored files of the worktree with this
 * top; nothing if there are none. */
int al_worktree_add_loss(struct al_call *call, const char *top, struct al_str *out,
                         struct al_error *err);

/* --- Hunks that a call names by their ids --- */

#define AL_CHOSEN_IDS_MAX 1000

/** The row of the ids.  `T` is the tool's args struct. */
#define AL_CHOSEN_ROW(T)                                                                           \
    AL_STRINGS(T, hunks, "Ids that git_diff shows with hunks.", .max = AL_CHOSEN_IDS_MAX,          \
               .max_bytes = AL_HUNK_ID_TEXT, .flags = AL_PARAM_EVERY_PATH)

/** Chosen hunks and the lists that they are of.  Set up with AL_CHOSEN_INIT; not to be moved. */
struct al_chosen {
    struct al_hunk_sides sides;
    struct al_hunk_choice choice;
};

#define AL_CHOSEN_INIT ((struct al_chosen){ .sides = AL_HUNK_SIDES_INIT })

void al_chosen_clear(struct al_chosen *chosen);

/**
 * Read the hunks, and choose those of a side with the ids.
 *
 * @param ret_new  Gets the untracked files with such an id, as absolute paths; NULL: they cannot be
 *                 chosen.
 * @return 0; AL_ERR_BAD_ARGS when one is not there, or is on the other side, which the remedy says.
 */
int al_chosen_read(struct al_call *call, enum al_hunk_side side, const struct al_strv *ids,
                   struct al_strv *ret_new, struct al_chosen *ret_chosen, struct al_error *err);

/** An untracked file, which is chosen as a hunk is, and as a whole. */
struct al_untracked_file {
    char id[AL_HUNK_ID_TEXT]; /**< a hash of its path, its mode and its content */
    char *path;               /**< relative to the top */
    uint64_t lines;
    bool is_binary;
};

/** The untracked files that have an id. */
struct al_untracked {
    struct al_untracked_file *items;
    size_t count;
    size_t nameless; /**< others: too many, larger than 5 MB, or no files */
};

void al_untracked_clear(struct al_untracked *files);

/**
 * Read the untracked files that are not ignored, at most 1,000.  One git child.
 *
 * @param paths  NULL: all.
 * @param ids    Only those with such an id, which may be any of all there are; NULL: the first
 * ones.
 */
int al_untracked_read(struct al_call *call, const struct al_strv *paths, const struct al_strv *ids,
                      struct al_untracked *ret_files, struct al_error *err);

/** The hunks of tracked files that a call names, and the whole files, those with the ids of
 * untracked ones among them.  Zero-initialised there is nothing. */
struct al_named {
    struct al_strv hunks, paths;
};

void al_named_clear(struct al_named *named);

/** Sort what the arguments name.  An id that no untracked file has is taken for that of a hunk.
 *
 * @param sides  The hunks, if they were read: what has the id of one needs no look at the untracked
 *               files.  NULL: they were not. */
int al_named_sort(struct al_call *call, const struct al_hunk_sides *sides,
                  const struct al_strv *hunks, const struct al_strv *paths,
                  struct al_named *ret_named, struct al_error *err);

/** Append the files of the chosen hunks as absolute paths. */
void al_chosen_files(const struct al_call *call, const struct al_chosen *chosen,
                     struct al_strv *out);

/** Stage, unstage or discard the chosen hunks, and append a line of what was `done`: "Staged 2
 * hunks of a.c (+3 -1), 1 hunk of b.c (+1)". */
int al_chosen_apply(struct al_call *call, const struct al_chosen *chosen, enum al_hunk_apply how,
                    const char *done, struct al_str *text, struct al_error *err);

/** Append, in a preview, the hunks with these ids, of either side.  An id that is not there is left
 * out, and reported later. */
int al_chosen_show(struct al_call *call, const struct al_strv *ids, struct al_str *out,
                   struct al_error *err);

/** Append a list of files, "a.c, b.c": at most 20 names, then "and 1,204 more".
 *
 * @param files  Absolute paths, or relative to the top. */
void al_chosen_add_names(const struct al_call *call, const struct al_strv *files,
                         struct al_str *out);

/* --- Changed files and their patch, as git_diff and git_show answer them --- */

/** Numbers of lines, counted from 1. */
struct al_lines {
    uint64_t first, last; /**< `last` is UINT64_MAX for an open end */
    bool is_numbered;     /**< they are given, and shown with their numbers */
};

/** The files of a change; set up with the first three members. */
struct al_change_view {
    struct al_pages *pages;
    const struct al_repo *repo;
    bool lists_all; /**< every file has its line, however many; else long lists are collapsed */

    /* Private. */
    const struct al_diff_raw *files; /* of the reader */
    struct al_str header;            /* of the file, shown together with its first hunk */
    char *at;                        /* the path of the file that is shown; NULL: none was begun */
    size_t begun;                    /* files of the list up to that one */
    bool in_submodule;               /* of the file that is shown */
    bool names_all;                  /* this page begins with the line of every file */
};

void al_change_view_clear(struct al_change_view *view);

/** The functions of a reader, with the view as their payload. */
bool al_change_view_files(void *payload, const struct al_diff_raw *files);
extern const struct al_patch_taker al_change_view_taker;

/** Pass on the last file, with its first hunk if there is one.  After al_change_reader_end(). */
bool al_change_view_end(struct al_change_view *view);

/** Append "src/a.c +12 -3", "x.png binary". */
void al_change_view_add_file(const struct al_repo *repo, const struct al_change *file,
                             struct al_str *out);

/** Append what is not shown: "4 of 23 files not shown: src/a.c +120 -3, …"; without the names
 * where the page has them already. */
void al_change_view_left(const struct al_change_view *view, struct al_str *out);

/** Append the files of a list, each with its hunks and their ids; false: the page is full.
 *
 * @param ret_shown  Hunks; added to. */
bool al_change_view_hunks(const struct al_repo *repo, const struct al_hunk_list *list,
                          size_t context, struct al_pages *pages, size_t *ret_shown);

/** Read "4,6", "4" or "4,".
 *
 * @param text  NULL: all lines.
 * @return 0; AL_ERR_BAD_ARGS.
 */
int al_lines_read(const char *text, struct al_lines *ret_lines, struct al_error *err);

#endif
