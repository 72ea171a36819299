// SPDX-License-Identifier: Apache-2.0
#include "verbs/porcelain/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/failure.h"
#include "git/location.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "verbs/porcelain/commit.h"
#include "verbs/sequencer/conflict.h"
#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"
#include "verbs/sequencer/rebase_continue.h"

#define CONFLICTS_NAMED 8

enum al_operation_state al_git_resumable(const struct al_repo *repo)
{
    enum al_operation_state state = al_git_operation_state(repo);

    return state == AL_IN_PROGRESS_REBASE || state == AL_IN_PROGRESS_CHERRY_PICK ||
                   state == AL_IN_PROGRESS_REVERT
               ? state
               : AL_IN_PROGRESS_NONE;
}

static int refuse(enum al_operation_state state, const char *why, struct al_error *err)
{
    return al_error_about(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                            "This %s %s, which airlock leaves to git itself",
                                            al_operation_state_name(state), why),
                          err, AL_SUBJECT_LEFT_TO_GIT, NULL);
}

/* Read a state file of the sequencer; "" when it does not exist. */
static int read_file(const struct al_repo *repo, const char *name, struct al_str *text)
{
    int r = al_operation_file(repo, name, text);

    return r == -ENOENT ? 0 : r;
}

/* Read the commits of the todo list, the current one first. */
static int read_todo(const struct al_repo *repo, enum al_operation_state state,
                     struct al_strv *commits, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str todo = AL_STR_INIT;
    al_auto(al_freep) char *word = NULL;
    al_auto(al_freep) char *shown = NULL;
    al_auto(al_freep) char *why = NULL;

    if (read_file(repo, "sequencer/todo", &todo) < 0 || strlen(todo.buf) != todo.len)
        return refuse(state, "has notes that cannot be read", err);
    word = al_sequencer_vet_todo(todo.buf, commits);
    if (!word)
        return 0;
    shown = al_text_sanitize_line(word);
    why = al_asprintf("has '%s' among what is left to do", shown);
    return refuse(state, why, err);
}

bool al_git_has_autostash(const struct al_repo *repo)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "MERGE_AUTOSTASH");
    struct stat st;

    return lstat(path, &st) == 0;
}

bool al_git_resume_writes(const struct al_repo *repo)
{
    al_auto(al_str_clear) struct al_str todo = AL_STR_INIT;
    enum al_operation_state state = al_git_resumable(repo);
    const char *second;

    if (al_git_has_autostash(repo))
        return true;
    if (state == AL_IN_PROGRESS_NONE || state == AL_IN_PROGRESS_REBASE)
        return state == AL_IN_PROGRESS_REBASE;
    if (read_file(repo, "sequencer/todo", &todo) < 0)
        return true; /* al_git_resume_check() refuses it later */
    second = strchr(todo.buf, '\n');
    return second && second[1];
}

/* Refuse sequencer options that airlock does not support. git stores them in its configuration
 * format, with keys in plain text. */
static int vet_options(const struct al_repo *repo, enum al_operation_state state,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str options = AL_STR_INIT;

    if (read_file(repo, "sequencer/opts", &options) < 0 || strlen(options.buf) != options.len)
        return refuse(state, "has notes that cannot be read", err);
    if (strcasestr(options.buf, "gpg"))
        return refuse(state, "signs its commits", err);
    if (strcasestr(options.buf, "strategy"))
        return refuse(state, "has a merge strategy of its own", err);
    return 0;
}

/* Check the paths that the remaining commits change: a pick applies a commit, a revert goes back to
 * its parent. */
static int vet_programs(const struct al_repo *repo, enum al_operation_state state,
                        const struct al_strv *commits, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;

    for (size_t i = 1; i < commits->count; i++) {
        al_strv_add(&sides, commits->items[i]);
        if (state == AL_IN_PROGRESS_REVERT)
            al_strv_addf(&sides, "%s^", commits->items[i]);
    }
    return al_git_check_merge_programs(repo, "HEAD", &sides, budget, err);
}

static int vet(const struct al_repo *repo, enum al_operation_state state,
               struct al_run_limits *budget, struct al_strv *commits, struct al_error *err)
{
    int r = repo->vetting->has_identity ? 0 : al_git_no_identity(err);

    if (r == 0)
        r = read_todo(repo, state, commits, err);
    if (r == 0)
        r = vet_options(repo, state, err);
    return r < 0 ? r : vet_programs(repo, state, commits, budget, err);
}

static int check(const struct al_repo *repo, enum al_operation_state state,
                 struct al_run_limits *budget, struct al_strv *commits, struct al_error *err)
{
    int r = al_git_check_no_conflicts(repo, budget, err);

    return r < 0 ? r : vet(repo, state, budget, commits, err);
}

int al_git_resume_check(const struct al_repo *repo, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    enum al_operation_state state = al_git_resumable(repo);

    if (state == AL_IN_PROGRESS_REBASE)
        return al_git_rebase_check(repo, budget, err);
    return check(repo, state, budget, &commits, err);
}

int al_git_resume_preview(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_str *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    enum al_operation_state state = al_git_resumable(repo);
    int r;

    if (state == AL_IN_PROGRESS_REBASE)
        return al_git_rebase_preview(repo, budget, out, err);
    r = check(repo, state, budget, &commits, err);
    if (r < 0)
        return r;
    al_str_addf(out, "A %s is in progress and ", al_operation_state_name(state));
    if (commits.count > 1)
        al_str_addf(out, "goes on, with %zu more commit%s after this one.\n", commits.count - 1,
                    commits.count == 2 ? "" : "s");
    else
        al_str_adds(out, "is concluded.\n");
    return al_git_commit_preview(repo, budget, out, err);
}

/* Say in airlock's words that git stopped since a commit has become empty: git names commands that
 * an agent cannot run.  `r` is what git's run came to. */
static int emptied(const struct al_repo *repo, enum al_operation_state state, int r,
                   struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;

    if (r != AL_ERR_EXECUTION || !err || err->subject != AL_SUBJECT_EMPTIED)
        return r;
    if (state == AL_IN_PROGRESS_REBASE || read_todo(repo, state, &commits, NULL) < 0 ||
        !commits.count)
        al_strv_add(&commits, "that comes next");
    al_error_clear(err);
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES,
                             "The commit %s would change nothing here, so the %s did not go on. "
                             "The repository is as it was",
                             commits.items[0], al_operation_state_name(state));
}

/* Run the git command with --continue or --skip. git uses the message it has prepared. */
static int go_on(struct al_repo *repo, enum al_operation_state state, const char *how,
                 size_t max_bytes, struct al_run_limits *budget, struct al_merge_outcome *outcome,
                 struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* it runs git commit and git reset */
    al_strv_adds(&command.argv, "git", al_operation_state_name(state), how, NULL);
    return emptied(repo, state, al_merge_run(repo, &command, max_bytes, budget, outcome, err), err);
}

/* Commit with the caller's message, if there is one, or one that git would not keep whole, then
 * continue. The remaining commits keep their own messages. */
static int run(struct al_repo *repo, enum al_operation_state state, const char *message,
               const char *expected, size_t max_bytes, struct al_run_limits *budget,
               struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *own = NULL;
    int r;

    if (!message && state == AL_IN_PROGRESS_CHERRY_PICK)
        message = own = al_git_picked_message(repo);
    if (!message)
        return go_on(repo, state, "--continue", max_bytes, budget, outcome, err);
    r = al_git_commit(repo, message, expected, max_bytes, budget, &output, err);
    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    al_str_add(&outcome->text, output.out.out.buf, output.out.out.len);
    outcome->truncated = al_text_truncate(&outcome->text, max_bytes);
    if (al_git_resumable(repo) != state)
        return 0;
    al_str_addc(&outcome->text, '\n');
    return go_on(repo, state, "--continue", max_bytes, budget, outcome, err);
}

static int resume(struct al_repo *repo, enum al_operation_state state, const char *message,
                  const char *expected, size_t max_bytes, struct al_run_limits *budget,
                  struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str staged = AL_STR_INIT;
    int r = check(repo, state, budget, &commits, err);

    if (r == 0) /* fail before any change when there is nothing to commit */
        r = al_git_commit_preview(repo, budget, &staged, err);
    return r < 0 ? r : run(repo, state, message, expected, max_bytes, budget, outcome, err);
}

static void hand_over(const struct al_repo *repo, enum al_operation_state state,
                      struct al_merge_outcome *outcome, struct al_merge_outcome *ret_outcome)
{
    outcome->in_progress = al_git_resumable(repo) == state;
    *ret_outcome = *outcome;
    *outcome = AL_MERGE_INIT;
}

int al_git_resume(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                  struct al_error *err)
{
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    enum al_operation_state state = al_git_resumable(repo);
    int r;

    if (state == AL_IN_PROGRESS_REBASE)
        return emptied(repo, state,
                       al_git_rebase_continue(repo, message, max_bytes, budget, ret_outcome, err),
                       err);
    r = resume(repo, state, message, expected, max_bytes, budget, &outcome, err);
    if (r < 0)
        return r;
    hand_over(repo, state, &outcome, ret_outcome);
    return 0;
}

void al_git_resume_summary(const struct al_repo *repo, enum al_operation_state state,
                           struct al_str *out)
{
    if (al_git_resumable(repo) == state)
        al_str_addf(out, "The %s in progress went on and stopped again.",
                    al_operation_state_name(state));
    else
        al_str_addf(out, "The %s in progress went on to its end.", al_operation_state_name(state));
}

int al_git_resume_conflicted(enum al_operation_state state, const struct al_merge_outcome *outcome,
                             struct al_error *err)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    int r;

    al_text_add_list(&names, &outcome->conflicts, CONFLICTS_NAMED);
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                          "The %s went on and stopped at a conflict in %s",
                          al_operation_state_name(state), names.buf);
    if (err)
        err->reason = "conflict";
    return r;
}

int al_git_skip_check(const struct al_repo *repo, struct al_run_limits *budget,
                      struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    enum al_operation_state state = al_git_resumable(repo);
    size_t left;

    if (state == AL_IN_PROGRESS_NONE)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                 "There is no commit to skip: no rebase, cherry-pick or revert is "
                                 "in progress");
    if (state == AL_IN_PROGRESS_REBASE)
        return al_git_rebase_vet(repo, budget, &left, err);
    return vet(repo, state, budget, &commits, err);
}

int al_git_skip(struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                struct al_merge_outcome *ret_outcome, struct al_error *err)
{
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    enum al_operation_state state = al_git_resumable(repo);
    int r = al_git_skip_check(repo, budget, err);

    if (r == 0)
        r = al_rebase_forget_moved(repo, err);
    if (r == 0)
        r = go_on(repo, state, "--skip", max_bytes, budget, &outcome, err);
    if (r < 0)
        return r;
    hand_over(repo, state, &outcome, ret_outcome);
    return 0;
}
