// SPDX-License-Identifier: Apache-2.0
#include "verbs/sequencer/rebase_continue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/failure.h"
#include "git/location.h"
#include "git/refs.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/sequencer/conflict.h"
#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"

#define FOLLOWERS_NAMED 20

static const char followers_file[] = "rebase-merge/update-refs";

/* --- Todo --- */

/* The todo commands that are allowed. update-ref only moves what vet_followers() has looked at.
 * Every other command runs a program (exec), writes references (label), moves HEAD (reset), or
 * merges as files in the repository say (merge). */
static bool is_allowed(const char *word, bool *ret_is_commit)
{
    static const char *const commits[] = { "pick", "p",      "reword", "r",     "edit",
                                           "e",    "squash", "s",      "fixup", "f" };
    static const char *const others[] = { "drop", "d", "noop", "break", "b", "update-ref", "u" };

    for (size_t i = 0; i < AL_COUNT(commits); i++)
        if (!strcmp(word, commits[i]))
            return *ret_is_commit = true;
    *ret_is_commit = false;
    for (size_t i = 0; i < AL_COUNT(others); i++)
        if (!strcmp(word, others[i]))
            return true;
    return false;
}

/* Add the commit of a line, "fixup -C <id> # subject" or without the option.  git has written it
 * in full. */
static void add_commit(const char *at, const char *end, struct al_strv *commits)
{
    while (at < end) {
        size_t len = strcspn(at, " \t\r\n");

        if (al_is_oid(at, len)) {
            al_strv_take(commits, al_strndup(at, len));
            return;
        }
        at += len;
        at += strspn(at, " \t\r");
        if (at < end && *at != '-' && !al_is_oid(at, strcspn(at, " \t\r\n")))
            return;
    }
}

char *al_rebase_vet_todo(const char *todo, size_t *ret_left, struct al_strv *commits)
{
    *ret_left = 0;
    for (const char *at = todo; *at;) {
        size_t len = strcspn(at, "\n");
        size_t blank = strspn(at, " \t\r");
        al_auto(al_freep) char *word = NULL;
        bool is_commit;

        if (blank < len && at[blank] != '#') {
            word = al_strndup(at + blank, strcspn(at + blank, " \t\r\n"));
            if (!is_allowed(word, &is_commit))
                return al_take(&word);
            *ret_left += is_commit;
            if (is_commit)
                add_commit(at + blank, at + len, commits);
        }
        at += len + (at[len] == '\n');
    }
    return NULL;
}

char *al_sequencer_vet_todo(const char *todo, struct al_strv *ret_commits)
{
    for (const char *at = todo; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t len = strcspn(at, " \t\r\n");
        const char *oid = at + len + strspn(at + len, " \t");
        size_t oid_len = strcspn(oid, " \t\r\n");
        al_auto(al_freep) char *word = al_strndup(at, len);

        if (!len || *at == '#')
            continue;
        if (strcmp(word, "pick") != 0 && strcmp(word, "revert") != 0)
            return al_take(&word);
        if (!al_is_oid(oid, oid_len))
            return al_strndup(oid, oid_len);
        al_strv_take(ret_commits, al_strndup(oid, oid_len));
    }
    return NULL;
}

void al_todo_left(const struct al_repo *repo, struct al_strv *out)
{
    const bool rebase = al_git_operation_state(repo) == AL_IN_PROGRESS_REBASE;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    al_auto(al_freep) char *refused = NULL;
    size_t left;

    (void)al_operation_file(repo, rebase ? "rebase-merge/git-rebase-todo" : "sequencer/todo",
                            &text);
    refused = rebase ? al_rebase_vet_todo(text.buf, &left, &commits)
                     : al_sequencer_vet_todo(text.buf, &commits);
    if (refused)
        return;
    for (size_t i = rebase ? 0 : 1; i < commits.count; i++)
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

/* --- Rebase continue --- */

static int refuse(const char *why, struct al_error *err)
{
    return al_error_about(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                            "This rebase %s, which airlock leaves to git itself",
                                            why),
                          err, AL_SUBJECT_LEFT_TO_GIT, NULL);
}

/* Read a state file without its last newline; "" when it does not exist. */
static int read_state_file(const struct al_repo *repo, const char *name, struct al_str *text,
                           struct al_error *err)
{
    int r = al_operation_file(repo, name, text);

    if (r < 0 && r != -ENOENT)
        return refuse("has notes that cannot be read", err);
    al_str_trim_end(text);
    return 0;
}

static int vet_todo(const struct al_repo *repo, size_t *ret_left, struct al_strv *commits,
                    struct al_error *err)
{
    al_auto(al_str_clear) struct al_str todo = AL_STR_INIT;
    al_auto(al_freep) char *word = NULL;
    al_auto(al_freep) char *shown = NULL;
    al_auto(al_freep) char *why = NULL;
    int r = read_state_file(repo, "rebase-merge/git-rebase-todo", &todo, err);

    if (r < 0)
        return r;
    word = strlen(todo.buf) == todo.len ? al_rebase_vet_todo(todo.buf, ret_left, commits)
                                        : al_strdup("NUL");
    if (!word)
        return 0;
    shown = al_text_sanitize_line(word);
    why = al_asprintf("has '%s' among what is left to do", shown);
    return refuse(why, err);
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
    return is_safe ? 0 : refuse("has notes of other branches that cannot be read", err);
}

/* Refuse state files that change how the rebase continues. */
static int vet_state_files(const struct al_repo *repo, struct al_error *err)
{
    static const struct {
        const char *name, *why;
    } files[] = {
        { "rebase-merge/gpg_sign_opt", "signs its commits" },
        { "rebase-apply/gpg_sign_opt", "signs its commits" },
    };
    al_auto(al_str_clear) struct al_str strategy = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str followers = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    int r = read_followers(repo, &followers, &refs, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < AL_COUNT(files); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        r = read_state_file(repo, files[i].name, &text, err);
        if (r < 0)
            return r;
        if (text.len)
            return refuse(files[i].why, err);
    }
    r = read_state_file(repo, "rebase-merge/strategy", &strategy, err);
    if (r == 0 && strategy.len && strcmp(strategy.buf, "ort") != 0 &&
        strcmp(strategy.buf, "recursive") != 0)
        r = refuse("has a merge strategy of its own", err);
    return r;
}

/* Check the paths that the remaining commits change: those that differ between HEAD and the
 * original head. */
static int vet_programs(const struct al_repo *repo, struct al_run_limits *budget,
                        struct al_error *err)
{
    static const char *const files[] = { "rebase-merge/orig-head", "rebase-apply/orig-head" };
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_COUNT(files); i++) {
        al_auto(al_str_clear) struct al_str oid = AL_STR_INIT;

        r = read_state_file(repo, files[i], &oid, err);
        if (al_is_oid(oid.buf, oid.len))
            al_strv_add(&commits, oid.buf);
    }
    return r < 0 ? r : al_git_check_merge_programs(repo, "HEAD", &commits, budget, err);
}

/* Check that HEAD is detached, as a stopped rebase leaves it. After a checkout git would add the
 * commit to the checked-out branch and end the rebase there. */
static int check_head(const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_freep) char *word = NULL;
    int r;

    al_ref_head_branches(&repo->at, &names);
    if (!strcmp(names.items[0], "HEAD"))
        return 0;
    word = al_text_sanitize_line(names.items[0]);
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                          "A rebase is in progress, but HEAD is on branch '%s' and not where the "
                          "rebase stopped",
                          word);
    if (err)
        err->remedy = "Go back to the commit where it stopped with git_checkout, or give the "
                      "rebase up with git_merge and abort.";
    return r;
}

int al_git_rebase_vet(const struct al_repo *repo, struct al_run_limits *budget, size_t *ret_left,
                      struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    int r;

    if (al_git_operation_state(repo) != AL_IN_PROGRESS_REBASE)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                 "No rebase is in progress");
    r = check_head(repo, err);
    if (r == 0 && !repo->vetting->has_identity)
        r = al_git_no_identity(err);
    if (r == 0)
        r = vet_todo(repo, ret_left, &commits, err);
    if (r == 0)
        r = vet_state_files(repo, err);
    return r < 0 ? r : vet_programs(repo, budget, err);
}

static int check(const struct al_repo *repo, struct al_run_limits *budget, size_t *ret_left,
                 struct al_error *err)
{
    int r = al_git_rebase_vet(repo, budget, ret_left, err);

    return r < 0 ? r : al_git_check_no_conflicts(repo, budget, err);
}

int al_git_rebase_check(const struct al_repo *repo, struct al_run_limits *budget,
                        struct al_error *err)
{
    size_t left;

    return check(repo, budget, &left, err);
}

int al_git_rebase_preview(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_str *out, struct al_error *err)
{
    static const struct al_diff_options staged = { .cached = true, .unified = -1 };
    al_auto(al_str_clear) struct al_str excerpt = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv followers = AL_STRV_INIT;
    size_t left = 0;
    int r = check(repo, budget, &left, err);

    if (r == 0)
        r = al_git_diff_excerpt(repo, &staged, budget, &excerpt, err);
    if (r < 0)
        return r;
    al_str_adds(out, "A rebase is in progress and goes on");
    if (left)
        al_str_addf(out, ", with %zu more commit%s after this one", left, left == 1 ? "" : "s");
    al_ref_followers(&repo->at, &followers);
    if (followers.count)
        al_str_adds(out, "; then these branches follow: ");
    al_text_add_list(out, &followers, FOLLOWERS_NAMED);
    al_str_addf(out, ".\n%s", excerpt.len ? excerpt.buf : "Nothing of this commit is left.\n");
    return 0;
}

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

int al_rebase_forget_moved(const struct al_repo *repo, struct al_error *err)
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

        joins = read_state_file(repo, files[i], &text, err) < 0 || has_line_with(text.buf, 's') ||
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
    int r = read_state_file(repo, "rebase-merge/message", &message, err);

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

static int run(struct al_repo *repo, const char *message, size_t max_bytes,
               struct al_run_limits *budget, struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    const struct al_git_link link = { .protocol = "none", .config = &config };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r = message ? write_message(repo, message, err) : 0;

    if (r == 0)
        r = al_rebase_forget_moved(repo, err);
    if (r == 0)
        r = add_comment_char(repo, &config, err);
    if (r < 0)
        return r;
    command.link = &link;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git rebase runs git commit and git am */
    al_strv_adds(&command.argv, "git", "rebase", "--continue", NULL);
    r = al_merge_run(repo, &command, max_bytes, budget, outcome, err);
    if (r == 0)
        outcome->in_progress = al_git_operation_state(repo) == AL_IN_PROGRESS_REBASE;
    return r;
}

int al_git_rebase_continue(struct al_repo *repo, const char *message, size_t max_bytes,
                           struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                           struct al_error *err)
{
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    int r = al_git_rebase_check(repo, budget, err);

    if (r == 0)
        r = run(repo, message, max_bytes, budget, &outcome, err);
    if (r < 0)
        return r;
    *ret_outcome = outcome;
    outcome = AL_MERGE_INIT;
    return 0;
}
