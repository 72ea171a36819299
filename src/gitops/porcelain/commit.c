// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/commit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/failure.h"
#include "gitops/git_lock.h"
#include "gitops/plumbing/scratch_index.h"
#include "gitops/porcelain/commit_aside.h"
#include "gitops/porcelain/resume.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/sequencer/expected_commit.h"
#include "gitops/sequencer/operation_excerpt.h"
#include "gitops/vet/vet.h"
#include "util/fs.h"

#define LOCK_ATTEMPTS_MAX 16

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

/* Run it as al_git_run() does with `waits_for_lock`; the lock is that of the repository, wherever
 * git runs. */
static int run_waiting(const struct al_repo *repo, const struct al_location *at,
                       const struct al_git_command *command, size_t max_bytes,
                       struct al_run_limits *budget, struct al_git_output *output,
                       struct al_error *err)
{
    const struct al_git_run options = { .max_bytes = max_bytes };
    int r = al_git_run(at, command, &options, budget, output, err);

    for (int attempt = 1; r == 0 && attempt < LOCK_ATTEMPTS_MAX &&
                          al_git_failed_on_lock(&repo->at, AL_LOCK_INDEX, output);
         attempt++) {
        r = al_git_lock_wait(&repo->at, AL_LOCK_INDEX, budget, err);
        al_git_output_clear(output);
        if (r == 0)
            r = al_git_run(at, command, &options, budget, output, err);
    }
    return r;
}

/* Run `git commit` at this place. */
static int run_at(const struct al_repo *repo, const struct al_location *at,
                  const struct al_commit_options *options, size_t max_bytes,
                  struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command.class = AL_GIT_WRITE;
    command.starts_children = al_git_has_autostash(repo);
    command.index = options->index;
    command.input = options->message;
    command.input_len = options->message ? strlen(options->message) : 0;
    /* The log tells what was made aside.  An index that is split would get a part there. */
    al_strv_adds(&command.argv, "git", "-c", "core.logAllRefUpdates=always", "-c",
                 "core.splitIndex=false", "commit", "--no-verify", "--no-gpg-sign", NULL);
    add_options(options, &command.argv);
    r = run_waiting(repo, at, &command, max_bytes, budget, &output, err);
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

/* git itself concludes what has more to it than a commit. */
static bool is_part_of_more(const struct al_repo *repo)
{
    return al_git_has_autostash(repo) || al_git_resumable(repo) != AL_IN_PROGRESS_NONE;
}

int al_git_commit_with(struct al_repo *repo, const struct al_commit_options *options,
                       size_t max_bytes, struct al_run_limits *budget,
                       struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_commit_aside_clear) struct al_commit_aside aside = { .dir = NULL };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *head = options->head ? NULL : al_ref_head(&repo->at);
    al_auto(al_freep) char *index = al_fs_join(repo->at.git_dir, "index");
    struct al_commit_options own = *options;
    int r;

    if (is_part_of_more(repo))
        return run_at(repo, &repo->at, options, max_bytes, budget, ret_output, err);
    if (!own.index)
        own.index = index;
    r = al_commit_aside_open(repo, head ? head : options->head, &aside, err);
    if (r == 0)
        r = run_at(repo, &aside.at, &own, max_bytes, budget, &output, err);
    if (r == 0)
        r = al_commit_aside_accept(&aside, budget, err);
    if (r < 0)
        return r;
    al_commit_aside_name_branch(&aside, &output.out.out);
    *ret_output = output;
    output = (struct al_git_output){ .exit_code = -1 };
    return 0;
}

/* git itself concludes it with the index as it is, so what it made is looked at afterwards: the
 * call puts back what is another commit. */
static int commit_and_check(struct al_repo *repo, struct al_commit_options *options,
                            const char *expected, size_t max_bytes, struct al_run_limits *budget,
                            struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r = al_git_commit_with(repo, options, max_bytes, budget, &output, err);

    if (r == 0)
        r = al_git_check_commit(repo, expected, head, budget, err);
    if (r < 0)
        return r;
    *ret_output = output;
    output = (struct al_git_output){ .exit_code = -1 };
    return 0;
}

/* Nobody can change the copy of the index that is compared and committed. */
static int check_and_commit(struct al_repo *repo, struct al_commit_options *options,
                            const char *expected, size_t max_bytes, struct al_run_limits *budget,
                            struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_scratch_index_removep) char *copy = NULL;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *now = NULL;
    int r = al_scratch_index_make(repo, NULL, &copy, err);

    if (r == 0)
        r = al_git_expect_commit_of(repo, copy, budget, &now, err);
    if (r == 0 && strcmp(now, expected) != 0)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "The commit differs from what was shown, since another process "
                         "changed the index meanwhile; nothing was committed");
    if (r < 0)
        return r;
    options->index = copy;
    options->head = head;
    return al_git_commit_with(repo, options, max_bytes, budget, ret_output, err);
}

int al_git_commit(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err)
{
    struct al_commit_options options = { .message = message };

    if (!expected)
        return al_git_commit_with(repo, &options, max_bytes, budget, ret_output, err);
    return (is_part_of_more(repo) ? commit_and_check : check_and_commit)(
        repo, &options, expected, max_bytes, budget, ret_output, err);
}
