// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/status.h"

#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/nul_records.h"
#include "gitops/porcelain/parse.h"
#include "gitops/refs.h"
#include "gitops/run.h"

int al_git_status(const struct al_repo *repo, const struct al_status_options *options,
                  size_t max_bytes, struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;

    command.lists_untracked = options->untracked;
    al_strv_adds(&command.argv, "git", "status", NULL);
    if (options->porcelain) {
        al_strv_add(&command.argv, "--porcelain=1");
        if (options->branch)
            al_strv_add(&command.argv, "-b");
    }
    if (!options->untracked)
        al_strv_add(&command.argv, "-uno");
    al_strv_add(&command.argv, "--ignore-submodules=dirty");
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                      ret_output, err);
}

/* Set the branch name when HEAD is on none. git prints "(detached)" then, but a branch may have
 * that name too. */
static void name_branch(const struct al_repo *repo, struct al_worktree *status)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (status->branch && strcmp(status->branch, "(detached)") != 0)
        return;
    al_ref_head_branches(&repo->at, &names);
    free(status->branch);
    status->branch = al_strdup(names.items[0]);
}

int al_git_read_status(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                       struct al_worktree *status, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_status_reader reader;
    int r;

    command.lists_untracked = true;
    al_status_reader_init(&reader, status, max_bytes);
    al_strv_adds(&command.argv, "git", "status", "--porcelain=v2", "--branch", "--no-ahead-behind",
                 "-z", "--untracked-files=all", "--find-renames", "--ignore-submodules=dirty",
                 NULL);
    r = al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .sink = { al_nul_records_add, &reader.records }, .checked = true },
        budget, &output, err);
    al_nul_records_clear(&reader.records);
    if (r == 0)
        name_branch(repo, status);
    return r;
}
