// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/commit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/failure.h"
#include "gitops/porcelain/resume.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/run.h"
#include "gitops/sequencer/expected_commit.h"
#include "gitops/sequencer/operation_excerpt.h"
#include "gitops/sequencer/savepoint.h"
#include "gitops/vet/vet.h"
#include "util/fs.h"

static int nothing_to_commit(struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES, "nothing to commit");
}

/* Whether a merge is in progress. A merge that was resolved to our side has nothing staged and
 * still needs a commit. */
static bool concludes_merge(const struct al_repo *repo)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "MERGE_HEAD");
    struct stat st;

    return lstat(path, &st) == 0;
}

int al_git_commit_preview(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_str *out, struct al_error *err)
{
    static const struct al_diff_options staged = { .cached = true, .unified = -1 };
    al_auto(al_str_clear) struct al_str diff = AL_STR_INIT;
    int r = al_git_diff_excerpt(repo, &staged, budget, &diff, err);

    if (r < 0)
        return r;
    if (!diff.len && !concludes_merge(repo))
        return nothing_to_commit(err);
    if (!repo->vetting->has_identity)
        return al_git_no_identity(err);
    r = al_git_operation_excerpt(repo, budget, out, err);
    if (r == 0)
        al_str_add(out, diff.buf, diff.len);
    return r;
}

static void add_options(const struct al_commit_options *options, struct al_strv *argv)
{
    if (options->amend)
        al_strv_add(argv, "--amend");
    if (options->allow_empty)
        al_strv_add(argv, "--allow-empty");
    if (options->author)
        al_strv_addf(argv, "--author=%s", options->author);
    if (options->message)
        al_strv_adds(argv, "-F", "-", NULL);
    else
        al_strv_add(argv, "--no-edit");
}

int al_git_commit_with(struct al_repo *repo, const struct al_commit_options *options,
                       size_t max_bytes, struct al_run_limits *budget,
                       struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command.class = AL_GIT_WRITE;
    command.starts_children = al_git_has_autostash(repo);
    command.index = options->index;
    command.input = options->message;
    command.input_len = options->message ? strlen(options->message) : 0;
    al_strv_adds(&command.argv, "git", "commit", "--no-verify", "--no-gpg-sign", NULL);
    add_options(options, &command.argv);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = max_bytes, .waits_for_lock = true }, budget,
                   &output, err);
    if (r < 0)
        return r;
    /* With nothing to commit git prints the reason on standard output. It exits with the same code
     * on errors, but prints those on standard error. */
    if (output.exit_code == 1 && output.out.out.len)
        return nothing_to_commit(err);
    if (output.exit_code != 0 && !repo->vetting->has_identity)
        return al_git_no_identity(err);
    if (output.exit_code != 0)
        return al_git_failed(&output, err);
    *ret_output = output;
    output = (struct al_git_output){ .exit_code = -1 };
    return 0;
}

static int commit(struct al_repo *repo, const char *message, size_t max_bytes,
                  struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err)
{
    return al_git_commit_with(repo, &(struct al_commit_options){ .message = message }, max_bytes,
                              budget, ret_output, err);
}

int al_git_commit(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err)
{
    al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    if (!expected)
        return commit(repo, message, max_bytes, budget, ret_output, err);
    r = al_savepoint_take_git_dir(repo, &savepoint, err);
    if (r == 0)
        r = commit(repo, message, max_bytes, budget, &output, err);
    if (r < 0)
        return r;
    r = al_git_check_commit(repo, expected, savepoint.commit, budget, err);
    if (r < 0) {
        int undone = al_savepoint_restore_git_dir(repo, &savepoint, NULL);

        if (undone < 0 && err)
            err->remedy = "It could not be taken back; the user can do so with 'airlock rollback'.";
        return r;
    }
    *ret_output = output;
    output = (struct al_git_output){ .exit_code = -1 };
    return 0;
}
