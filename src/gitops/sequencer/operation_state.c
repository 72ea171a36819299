// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/operation_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/location.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/preview/affected_files.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/sequencer/conflict.h"
#include "gitops/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

#define OID_FILE_BYTES      4096u
#define SEQUENCER_BYTES     (1u << 20)
#define OUTPUT_BYTES        (64u * 1024u)

#define UNTRACKED_SHOWN_MAX 50u

static bool has_file(int git_dir, const char *name)
{
    struct stat st;

    return fstatat(git_dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A sequence of cherry-picks or reverts that stopped between two commits. */
static enum al_operation_state sequencer_state(int git_dir)
{
    al_auto(al_closep) int fd = al_nofollow_open(git_dir, "sequencer/todo", O_RDONLY);
    al_auto(al_str_clear) struct al_str todo = AL_STR_INIT;

    if (fd < 0 || al_fs_read_fd(fd, SEQUENCER_BYTES, &todo) < 0)
        return AL_IN_PROGRESS_NONE;
    return al_starts_with(todo.buf, "revert") ? AL_IN_PROGRESS_REVERT : AL_IN_PROGRESS_CHERRY_PICK;
}

enum al_operation_state al_git_operation_state(const struct al_repo *repo)
{
    al_auto(al_closep) int git_dir = -1;

    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) < 0)
        return AL_IN_PROGRESS_NONE;
    if (has_file(git_dir, "rebase-apply/applying"))
        return AL_IN_PROGRESS_AM;
    if (has_file(git_dir, "rebase-merge") || has_file(git_dir, "rebase-apply"))
        return AL_IN_PROGRESS_REBASE;
    if (has_file(git_dir, "MERGE_HEAD"))
        return AL_IN_PROGRESS_MERGE;
    if (has_file(git_dir, "CHERRY_PICK_HEAD"))
        return AL_IN_PROGRESS_CHERRY_PICK;
    if (has_file(git_dir, "REVERT_HEAD"))
        return AL_IN_PROGRESS_REVERT;
    return sequencer_state(git_dir);
}

const char *al_operation_state_name(enum al_operation_state state)
{
    static const char *const names[] = {
        [AL_IN_PROGRESS_NONE] = "",         [AL_IN_PROGRESS_MERGE] = "merge",
        [AL_IN_PROGRESS_REBASE] = "rebase", [AL_IN_PROGRESS_CHERRY_PICK] = "cherry-pick",
        [AL_IN_PROGRESS_REVERT] = "revert", [AL_IN_PROGRESS_AM] = "am",
    };

    return names[state];
}

const char *al_operation_state_noun(enum al_operation_state state)
{
    return state == AL_IN_PROGRESS_AM ? "application of patches" : al_operation_state_name(state);
}

/* Read a number from a state file of a rebase; 0 when there is none. */
static unsigned long read_number(int git_dir, const char *name)
{
    al_auto(al_closep) int fd = al_nofollow_open(git_dir, name, O_RDONLY);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    return fd >= 0 && al_fs_read_fd(fd, OID_FILE_BYTES, &text) == 0 ? strtoul(text.buf, NULL, 10)
                                                                    : 0;
}

bool al_git_operation_step(const struct al_repo *repo, unsigned long *ret_step,
                           unsigned long *ret_last)
{
    static const char *const files[][2] = { { "rebase-merge/msgnum", "rebase-merge/end" },
                                            { "rebase-apply/next", "rebase-apply/last" } };
    al_auto(al_closep) int git_dir = -1;

    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) < 0)
        return false;
    for (size_t i = 0; i < AL_COUNT(files); i++) {
        *ret_step = read_number(git_dir, files[i][0]);
        *ret_last = read_number(git_dir, files[i][1]);
        if (*ret_step && *ret_last)
            return true;
    }
    return false;
}

void al_git_operation_line(const struct al_repo *repo, size_t conflicts, struct al_str *out)
{
    enum al_operation_state state = al_git_operation_state(repo);
    const char *name =
        state == AL_IN_PROGRESS_AM ? "series of patches" : al_operation_state_name(state);
    unsigned long step, last;

    if (state != AL_IN_PROGRESS_NONE) {
        al_str_addf(out, "A %s is in progress", name);
        if (al_git_operation_step(repo, &step, &last))
            al_str_addf(out, " (%lu of %lu)", step, last);
    }
    if (conflicts)
        al_str_addf(out, "%s%zu conflict%s", state != AL_IN_PROGRESS_NONE ? ", " : "", conflicts,
                    conflicts == 1 ? "" : "s");
}

int al_git_check_no_operation(const struct al_repo *repo, struct al_run_limits *budget,
                              struct al_error *err)
{
    enum al_operation_state state = al_git_operation_state(repo);
    int r = al_git_check_no_conflicts(repo, budget, err);

    if (r < 0 || state == AL_IN_PROGRESS_NONE)
        return r;
    if (state == AL_IN_PROGRESS_AM)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                 "An application of patches (git am) is in progress; a user "
                                 "concludes it with git itself, git_merge and abort gives it up");
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                             "A %s is in progress; conclude it with git_commit, or give it up with "
                             "git_merge and abort",
                             al_operation_state_name(state));
}

/* The commit that --abort goes back to: a rebase's or sequence's original head, else "HEAD". Caller
 * frees. */
static char *abort_target(const struct al_repo *repo)
{
    static const char *const files[] = { "rebase-merge/orig-head", "rebase-apply/orig-head",
                                         "sequencer/head" };
    al_auto(al_closep) int git_dir = -1;

    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) < 0)
        return al_strdup("HEAD");
    for (size_t i = 0; i < AL_COUNT(files); i++) {
        al_auto(al_closep) int fd = al_nofollow_open(git_dir, files[i], O_RDONLY);
        al_auto(al_str_clear) struct al_str oid = AL_STR_INIT;

        if (fd < 0 || al_fs_read_fd(fd, OID_FILE_BYTES, &oid) < 0)
            continue;
        al_str_trim_end(&oid);
        if (al_is_oid(oid.buf, oid.len))
            return al_str_detach(&oid);
    }
    return al_strdup("HEAD");
}

int al_git_abort_check(const struct al_repo *repo, struct al_run_limits *budget,
                       struct al_error *err)
{
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    al_auto(al_freep) char *target = NULL;
    int r;

    if (al_git_operation_state(repo) == AL_IN_PROGRESS_NONE) {
        r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                              "There is nothing to abort: no merge, rebase, cherry-pick or revert "
                              "is in progress");
        if (err)
            err->remedy = "Nothing has to be given up: go on with what is to be done.";
        return r;
    }
    if (!repo->vetting->filters.count)
        return 0;
    target = abort_target(repo);
    r = al_git_list_changed(repo, target, NULL, budget, &list, err);
    if (r == 0)
        r = al_git_check_filters(repo, &list, target, budget, err);
    al_buffer_clear(&list);
    return r;
}

int al_git_abort_affected_files(const struct al_repo *repo, struct al_run_limits *budget,
                                struct al_strv *out, struct al_error *err)
{
    al_auto(al_freep) char *target = abort_target(repo);
    int r = al_git_overwritten_files(repo, NULL, false, budget, out, err);

    return r < 0 ? r : al_git_untracked_overwritten(repo, target, NULL, budget, out, err);
}

/* Untracked files in the places of those that come back. */
static int show_untracked(const struct al_repo *repo, const char *target,
                          struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    struct stat st;
    int r = al_git_untracked_overwritten(repo, target, NULL, budget, &files, err);

    if (r < 0 || !files.count)
        return r;
    al_str_adds(out, "Untracked, and written over:\n");
    for (size_t i = 0; i < files.count && i < UNTRACKED_SHOWN_MAX; i++) {
        const char *below = al_fs_beneath(repo->at.top, files.items[i]);
        al_auto(al_freep) char *name = al_text_sanitize_line(below ? below : files.items[i]);

        al_str_addf(
            out, "  %s%s\n", name,
            lstat(files.items[i], &st) == 0 && S_ISDIR(st.st_mode) ? "/ and everything in it" : "");
    }
    if (files.count > UNTRACKED_SHOWN_MAX)
        al_str_addf(out, "  and %zu more\n", files.count - UNTRACKED_SHOWN_MAX);
    return 0;
}

int al_git_abort_preview(const struct al_repo *repo, struct al_run_limits *budget,
                         struct al_str *out, struct al_error *err)
{
    al_auto(al_freep) char *target = abort_target(repo);
    const struct al_diff_options lost = { .stat = true, .unified = -1, .from_ref = target };
    al_auto(al_str_clear) struct al_str excerpt = AL_STR_INIT;
    enum al_operation_state state = al_git_operation_state(repo);
    int r = al_git_diff_excerpt(repo, &lost, budget, &excerpt, err);

    if (r == 0)
        r = al_git_unseen_changes_excerpt(repo, NULL, budget, &excerpt, err);
    if (r < 0)
        return r;
    al_str_addf(out, "%s %s is in progress.", state == AL_IN_PROGRESS_AM ? "An" : "A",
                al_operation_state_noun(state));
    if (excerpt.len)
        al_str_addf(out, " Going back loses these changes:\n%s", excerpt.buf);
    else
        al_str_adds(out, " Going back loses no changes.\n");
    return show_untracked(repo, target, budget, out, err);
}

/* Refresh the index, because git does not abort a merge while files look changed by their time
 * alone, as they do after a rollback. git exits with 1 when files are conflicted or changed. */
static int refresh_index(struct al_repo *repo, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "update-index", "-q", "--refresh", NULL);
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = OUTPUT_BYTES, .waits_for_lock = true },
                      budget, &output, err);
}

int al_git_abort(struct al_repo *repo, struct al_run_limits *budget,
                 enum al_operation_state *ret_done, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    enum al_operation_state state = al_git_operation_state(repo);
    int r = al_git_abort_check(repo, budget, err);

    if (r == 0)
        r = refresh_index(repo, budget, err);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    command.starts_children =
        true; /* git merge --abort runs git reset; git rebase --abort runs git am or git stash */
    al_strv_adds(&command.argv, "git", al_operation_state_name(state), "--abort", NULL);
    r = al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .max_bytes = OUTPUT_BYTES, .waits_for_lock = true, .checked = true },
        budget, &output, err);
    if (r == 0)
        *ret_done = state;
    return r;
}
