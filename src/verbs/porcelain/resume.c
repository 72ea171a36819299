// SPDX-License-Identifier: Apache-2.0
#include "verbs/porcelain/resume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/failure.h"
#include "git/location.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "verbs/porcelain/commit.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/sequencer/conflict.h"

#define NAMED_MAX 20

static const char followers_file[] = "rebase-merge/update-refs";

/* --- Todo --- */

/*
 * The rest that is left to do: the todo list of a rebase, and that of a cherry-pick or a revert of
 * several commits.
 *
 * Source: git-rebase(1), "INTERACTIVE MODE"; git-cherry-pick(1), "SEQUENCER SUBCOMMANDS".
 */

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(word, *words) != 0)
        words++;
    return *words;
}

/* The commands that are allowed.  update-ref only moves what vet_followers() has looked at.  Every
 * other command of a rebase runs a program (exec), writes references (label), moves HEAD (reset),
 * or merges as files in the repository say (merge). */
static bool is_allowed(const char *word, bool rebases, bool *ret_is_commit)
{
    static const char *const picks[] = { "pick", "revert", NULL };
    static const char *const commits[] = { "pick",   "p", "reword", "r", "edit", "e",
                                           "squash", "s", "fixup",  "f", NULL };
    static const char *const others[] = {
        "drop", "d", "noop", "break", "b", "update-ref", "u", NULL
    };

    *ret_is_commit = is_one_of(word, rebases ? commits : picks);
    return *ret_is_commit || (rebases && is_one_of(word, others));
}

/* Add the commit of a line, "fixup -C <id> # subject" or without the option.  git has written its
 * id. */
static void add_commit(const char *at, const char *end, struct al_strv *commits)
{
    at += strcspn(at, " \t\r\n");
    for (at += strspn(at, " \t\r"); at < end; at += strspn(at, " \t\r")) {
        const size_t len = strcspn(at, " \t\r\n");

        if (al_is_oid(at, len))
            al_strv_take(commits, al_strndup(at, len));
        if (*at != '-')
            return;
        at += len;
    }
}

char *al_todo_vet(const char *todo, bool rebases, struct al_strv *ret_commits)
{
    for (const char *at = todo; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *end = at + strcspn(at, "\n");
        al_auto(al_freep) char *word = NULL;
        const size_t before = ret_commits->count;
        bool is_commit;

        at += strspn(at, " \t\r");
        if (at >= end || *at == '#')
            continue;
        word = al_strndup(at, strcspn(at, " \t\r\n"));
        if (!is_allowed(word, rebases, &is_commit))
            return al_take(&word);
        if (is_commit)
            add_commit(at, end, ret_commits);
        if (!rebases && ret_commits->count == before) {
            at += strlen(word);
            at += strspn(at, " \t");
            return al_strndup(at, strcspn(at, " \t\r\n"));
        }
    }
    return NULL;
}

/* Read the list of the operation in progress; a rebase by patches has none. */
static int read_todo(const struct al_repo *repo, struct al_str *text)
{
    const bool rebases = al_git_operation_state(repo) == AL_IN_PROGRESS_REBASE;
    int r =
        al_operation_file(repo, rebases ? "rebase-merge/git-rebase-todo" : "sequencer/todo", text);

    return r == -ENOENT ? 0 : r < 0 || strlen(text->buf) != text->len ? AL_ERR_EXECUTION : 0;
}

void al_todo_left(const struct al_repo *repo, struct al_strv *out)
{
    const bool rebases = al_git_operation_state(repo) == AL_IN_PROGRESS_REBASE;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    al_auto(al_freep) char *refused = NULL;

    if (read_todo(repo, &text) < 0)
        return;
    refused = al_todo_vet(text.buf, rebases, &commits);
    for (size_t i = rebases ? 0 : 1; !refused && i < commits.count; i++)
        al_strv_add(out, commits.items[i]);
}

unsigned al_todo_mainline(const struct al_repo *repo)
{
    static const char key[] = "mainline = ";
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *at;

    (void)al_operation_file(repo, "sequencer/opts", &text);
    at = strstr(text.buf, key);
    at = at ? at + strlen(key) : "";
    return *at > '0' && *at <= '9' && !(at[1] >= '0' && at[1] <= '9') ? (unsigned)(*at - '0') : 0;
}

/* --- Vet --- */

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

/* Read a state file without its last newline; "" when it does not exist. */
static int read_notes(const struct al_repo *repo, const char *name, struct al_str *text,
                      struct al_error *err)
{
    int r = al_operation_file(repo, name, text);

    if ((r < 0 && r != -ENOENT) || strlen(text->buf) != text->len)
        return refuse(al_git_resumable(repo), "has notes that cannot be read", err);
    al_str_trim_end(text);
    return 0;
}

/* Refuse a command that is not allowed, and list the commits: of a cherry-pick and a revert the
 * current one is first. */
static int vet_todo(const struct al_repo *repo, enum al_operation_state state,
                    struct al_strv *commits, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str todo = AL_STR_INIT;
    al_auto(al_freep) char *word = NULL, *shown = NULL, *why = NULL;

    if (read_todo(repo, &todo) < 0)
        return refuse(state, "has notes that cannot be read", err);
    word = al_todo_vet(todo.buf, state == AL_IN_PROGRESS_REBASE, commits);
    if (!word)
        return 0;
    shown = al_text_sanitize_line(word);
    why = al_asprintf("has '%s' among what is left to do", shown);
    return refuse(state, why, err);
}

/* Read git's notes of the branches that it moves at the end: of each the name, the old and the new
 * id, a line each.  Rules have to see all of them, so nothing else may be in there. */
static int read_followers(const struct al_repo *repo, struct al_str *text, struct al_strv *refs,
                          struct al_error *err)
{
    const int r = al_operation_file(repo, followers_file, text);
    bool is_safe = r == 0 || r == -ENOENT;
    size_t lines = 0;

    al_ref_followers(&repo->at, refs);
    for (const char *at = text->buf; is_safe && *at; lines++) {
        const size_t len = strcspn(at, "\n");

        is_safe = at[len] && (lines % 3 ? (len == 40 || len == 64) && al_is_oid(at, len)
                                        : al_starts_with(at, "refs/heads/"));
        at += len + 1;
    }
    is_safe = is_safe && strlen(text->buf) == text->len && lines == 3 * refs->count;
    return is_safe ? 0
                   : refuse(AL_IN_PROGRESS_REBASE,
                            "has notes of other branches that cannot be read", err);
}

/* Refuse options of the sequencer that airlock does not support.  git stores them in its
 * configuration format, with keys in plain text. */
static int vet_options(const struct al_repo *repo, enum al_operation_state state,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str options = AL_STR_INIT;
    int r = read_notes(repo, "sequencer/opts", &options, err);

    if (r == 0 && strcasestr(options.buf, "gpg"))
        r = refuse(state, "signs its commits", err);
    if (r == 0 && strcasestr(options.buf, "strategy"))
        r = refuse(state, "has a merge strategy of its own", err);
    return r;
}

/* Refuse state files that change how the rebase continues. */
static int vet_state_files(const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str followers = AL_STR_INIT, sign = AL_STR_INIT,
                                        strategy = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    int r = read_followers(repo, &followers, &refs, err);

    if (r == 0)
        r = read_notes(repo, "rebase-merge/gpg_sign_opt", &sign, err);
    if (r == 0 && !sign.len)
        r = read_notes(repo, "rebase-apply/gpg_sign_opt", &sign, err);
    if (r == 0 && sign.len)
        r = refuse(AL_IN_PROGRESS_REBASE, "signs its commits", err);
    if (r == 0)
        r = read_notes(repo, "rebase-merge/strategy", &strategy, err);
    if (r == 0 && strategy.len && strcmp(strategy.buf, "ort") != 0 &&
        strcmp(strategy.buf, "recursive") != 0)
        r = refuse(AL_IN_PROGRESS_REBASE, "has a merge strategy of its own", err);
    return r;
}

/* Check the paths that the remaining commits change: of a rebase those that differ between HEAD and
 * the original head; a pick applies a commit, a revert goes back to its parent. */
static int vet_programs(const struct al_repo *repo, enum al_operation_state state,
                        const struct al_strv *commits, struct al_error *err)
{
    static const char *const files[] = { "rebase-merge/orig-head", "rebase-apply/orig-head" };
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;

    for (size_t i = 0; state == AL_IN_PROGRESS_REBASE && i < AL_COUNT(files); i++) {
        char *oid = al_operation_oid(repo, files[i]);

        if (oid)
            al_strv_take(&sides, oid);
    }
    for (size_t i = 1; state != AL_IN_PROGRESS_REBASE && i < commits->count; i++) {
        al_strv_add(&sides, commits->items[i]);
        if (state == AL_IN_PROGRESS_REVERT)
            al_strv_addf(&sides, "%s^", commits->items[i]);
    }
    return al_git_check_merge_programs(repo, "HEAD", &sides, err);
}

/* Check that HEAD is detached, as a stopped rebase leaves it. After a checkout git would add the
 * commit to the checked-out branch and end the rebase there. */
static int check_head(const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_freep) char *branch = al_ref_head_branch(&repo->at);
    al_auto(al_freep) char *word = al_text_sanitize_line(branch);

    if (!strcmp(branch, "HEAD"))
        return 0;
    return al_error_remedy(
        al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                          "A rebase is in progress, but HEAD is on branch '%s' and not where the "
                          "rebase stopped",
                          word),
        err,
        "Go back to the commit where it stopped with git_checkout, or give the "
        "rebase up with git_merge and abort.");
}

static int vet(const struct al_repo *repo, enum al_operation_state state, struct al_strv *commits,
               struct al_error *err)
{
    const bool rebases = state == AL_IN_PROGRESS_REBASE;
    int r = rebases ? check_head(repo, err) : 0;

    if (r == 0 && !repo->vetting->has_identity)
        r = al_git_no_identity(err);
    if (r == 0)
        r = vet_todo(repo, state, commits, err);
    if (r == 0)
        r = rebases ? vet_state_files(repo, err) : vet_options(repo, state, err);
    return r < 0 ? r : vet_programs(repo, state, commits, err);
}

static int check(const struct al_repo *repo, enum al_operation_state state, struct al_strv *commits,
                 struct al_error *err)
{
    int r = vet(repo, state, commits, err);

    return r < 0 ? r : al_git_check_no_conflicts(repo, err);
}

int al_git_resume_check(const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;

    return check(repo, al_git_resumable(repo), &commits, err);
}

int al_git_skip_check(const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    enum al_operation_state state = al_git_resumable(repo);

    if (state == AL_IN_PROGRESS_NONE)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                 "There is no commit to skip: no rebase, cherry-pick or revert is "
                                 "in progress");
    return vet(repo, state, &commits, err);
}

/* --- Preview --- */

bool al_git_has_autostash(const struct al_repo *repo)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "MERGE_AUTOSTASH");
    struct stat st;

    return lstat(path, &st) == 0;
}

bool al_git_resume_writes(const struct al_repo *repo)
{
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    enum al_operation_state state = al_git_resumable(repo);

    if (state == AL_IN_PROGRESS_CHERRY_PICK || state == AL_IN_PROGRESS_REVERT)
        al_todo_left(repo, &left);
    return left.count || state == AL_IN_PROGRESS_REBASE || al_git_has_autostash(repo);
}

/* A commit of a rebase of which nothing is left is dropped. */
static int preview_rebased(const struct al_repo *repo, struct al_str *out, struct al_error *err)
{
    static const struct al_diff_options staged = { .cached = true, .unified = -1 };
    const size_t before = out->len;
    int r = al_git_diff_excerpt(repo, &staged, out, err);

    if (r == 0 && out->len == before)
        al_str_adds(out, "Nothing of this commit is left.\n");
    return r;
}

int al_git_resume_preview(const struct al_repo *repo, struct al_str *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT, followers = AL_STRV_INIT;
    const enum al_operation_state state = al_git_resumable(repo);
    const bool rebases = state == AL_IN_PROGRESS_REBASE;
    int r = check(repo, state, &commits, err);
    const size_t left = commits.count - (!rebases && commits.count);

    if (r < 0)
        return r;
    al_str_addf(out, "A %s is in progress and %s", al_operation_state_name(state),
                left || rebases ? "continues" : "is concluded");
    if (left)
        al_str_addf(out, ", with %zu more commit%s after this one", left, left == 1 ? "" : "s");
    if (rebases)
        al_ref_followers(&repo->at, &followers);
    if (followers.count)
        al_str_adds(out, "; then these branches follow: ");
    al_text_add_list(out, &followers, NAMED_MAX);
    al_str_adds(out, ".\n");
    return (rebases ? preview_rebased : al_git_commit_preview)(repo, out, err);
}

/* --- Prepare --- */

/* Write a state file of git's, if its directory is there: the two backends have one each. */
static int write_notes(const struct al_repo *repo, const char *file, const char *text,
                       struct al_error *err)
{
    al_auto(al_closep) int git_dir = -1;
    al_auto(al_closep) int parent = -1;
    const char *name;
    int r = al_location_open_git_dir(&repo->at, &git_dir, err);

    if (r < 0)
        return r;
    parent = al_nofollow_open_parent(git_dir, file, false, &name);
    r = parent < 0 ? 0 : al_fs_write_atomic(parent, name, text, strlen(text), 0666, true);
    return r < 0 ? al_error_errno(err, -r, "cannot write the notes of the rebase") : 0;
}

/* Write the message of the next commit into git's state files. git overwrites them at the next
 * stop. */
static int write_message(const struct al_repo *repo, const char *message, struct al_error *err)
{
    int r = write_notes(repo, "rebase-merge/message", message, err);

    return r < 0 ? r : write_notes(repo, "rebase-apply/final-commit", message, err);
}

/* Let the rebase forget the other branches that it was to move at its end, but that somebody else
 * has moved since.  git would fail at its end. */
static int forget_moved(const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str kept = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    int r = read_followers(repo, &text, &refs, err);
    const char *at = text.buf;

    for (size_t i = 0; r == 0 && i < refs.count; i++) {
        al_auto(al_freep) char *now = al_ref_oid(&repo->at, refs.items[i]);
        const char *from = strchr(at, '\n') + 1;
        const size_t len = strcspn(from, "\n"), whole = (size_t)(from - at) + 2 * (len + 1);

        if (strlen(now) == len && !strncmp(now, from, len))
            al_str_add(&kept, at, whole);
        at += whole;
    }
    return r < 0 || kept.len == text.len ? r : write_notes(repo, followers_file, kept.buf, err);
}

/* Whether a line of a text begins with a character. */
static bool has_line_with(const char *text, char first)
{
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (*at == first)
            return true;
    return false;
}

/* Whether git has joined messages, or will: it marks with its comment character what is not to
 * stay, in files that outlive this command. */
static bool joins_messages(const struct al_repo *repo, struct al_error *err)
{
    static const char *const files[] = { "rebase-merge/amend", "rebase-merge/message-squash",
                                         "rebase-merge/git-rebase-todo" };
    bool joins = false;

    for (size_t i = 0; !joins && i < AL_COUNT(files); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        joins = read_notes(repo, files[i], &text, err) < 0 || has_line_with(text.buf, 's') ||
                has_line_with(text.buf, 'f') || (text.len && i < AL_COUNT(files) - 1);
    }
    return joins;
}

/* The character of comments for a git that goes on: one that begins no line of the message of the
 * commit that stopped.  It is in no file of git's then, so another git can go on as well. */
static int add_comment_char(const struct al_repo *repo, struct al_strv *config,
                            struct al_error *err)
{
    static const char others[] = ";%!@^|~";
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    const char *free_one = others;
    int r = read_notes(repo, "rebase-merge/message", &message, err);

    if (r < 0 || !has_line_with(message.buf, '#') || joins_messages(repo, err))
        return r;
    while (*free_one && has_line_with(message.buf, *free_one))
        free_one++;
    if (!*free_one)
        return 0;
    al_strv_add(config, "core.commentchar");
    al_strv_addf(config, "%c", *free_one);
    return 0;
}

/* --- Resume --- */

/* Say in airlock's words that git stopped since a commit has become empty: git names commands that
 * an agent cannot run.  `r` is what git's run came to. */
static int emptied(const struct al_repo *repo, enum al_operation_state state, int r,
                   struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;

    if (r != AL_ERR_EXECUTION || !err || err->subject != AL_SUBJECT_EMPTIED)
        return r;
    if (state == AL_IN_PROGRESS_REBASE || vet_todo(repo, state, &commits, NULL) < 0 ||
        !commits.count)
        al_strv_add(&commits, "that comes next");
    al_error_clear(err);
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES,
                             "The commit %s would change nothing here, so the %s did not continue. "
                             "The repository is as it was",
                             commits.items[0], al_operation_state_name(state));
}

/* Run the git command with --continue or --skip.  git uses the message it has prepared. */
static int go_on(struct al_repo *repo, enum al_operation_state state, const char *how,
                 size_t max_bytes, struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    const struct al_git_link link = { .protocol = "none", .config = &config };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r = forget_moved(repo, err);

    if (r == 0 && state == AL_IN_PROGRESS_REBASE)
        r = add_comment_char(repo, &config, err);
    if (r < 0)
        return r;
    command.link = &link;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* it runs git commit, git reset and git am */
    al_strv_adds(&command.argv, "git", al_operation_state_name(state), how, NULL);
    r = al_merge_run(repo, &command, max_bytes, outcome, err);
    outcome->in_progress = r == 0 && al_git_resumable(repo) == state;
    return emptied(repo, state, r, err);
}

/* Commit with the caller's message, if there is one, or one that git would not keep whole.  The
 * remaining commits keep their own messages. */
static int commit(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_commit_options options = { .message = message, .expected = expected };
    int r = al_git_commit(repo, &options, max_bytes, &output, err);

    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    al_str_add(&outcome->text, output.out.out.buf, output.out.out.len);
    outcome->truncated = al_text_truncate(&outcome->text, max_bytes);
    return 0;
}

int al_git_resume(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_merge_outcome *outcome, struct al_error *err)
{
    const enum al_operation_state state = al_git_resumable(repo);
    const bool rebases = state == AL_IN_PROGRESS_REBASE;
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str staged = AL_STR_INIT;
    al_auto(al_freep) char *own = NULL;
    int r = check(repo, state, &commits, err);

    if (r == 0 && !rebases) /* fail before any change when there is nothing to commit */
        r = al_git_commit_preview(repo, &staged, err);
    if (!message && state == AL_IN_PROGRESS_CHERRY_PICK)
        message = own = al_git_picked_message(repo);
    if (r == 0 && message)
        r = rebases ? write_message(repo, message, err)
                    : commit(repo, message, expected, max_bytes, outcome, err);
    if (r < 0 || al_git_resumable(repo) != state)
        return r;
    if (outcome->text.len)
        al_str_addc(&outcome->text, '\n');
    return go_on(repo, state, "--continue", max_bytes, outcome, err);
}

int al_git_skip(struct al_repo *repo, size_t max_bytes, struct al_merge_outcome *outcome,
                struct al_error *err)
{
    int r = al_git_skip_check(repo, err);

    return r < 0 ? r : go_on(repo, al_git_resumable(repo), "--skip", max_bytes, outcome, err);
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

    al_text_add_list(&names, &outcome->conflicts, 8);
    return al_error_reason(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                                             "The %s went on and stopped at a conflict in %s",
                                             al_operation_state_name(state), names.buf),
                           err, "conflict");
}
