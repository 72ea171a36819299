// SPDX-License-Identifier: Apache-2.0
/* Restore files from a commit, in the index and the working tree. */
#include "gitops/porcelain/checkout_from.h"

#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/partial_clone.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** Limit on git's output, which matters only when git fails. */
#define SAID_MAX_BYTES 65536

/* Report git's complaint about a missing commit as a missing branch. */
static int about_target(int r, struct al_error *err)
{
    if (r == AL_ERR_EXECUTION && err && err->code == AL_CODE_NONE && err->reason)
        err->code = AL_CODE_BRANCH_NOT_FOUND;
    return r;
}

/* List the files that differ from the commit and exist in it. */
static int list_files(const struct al_repo *repo, const struct al_checkout_from *from,
                      struct al_run_limits *budget, struct al_buffer *list, struct al_error *err)
{
    const char *const present[] = { "--diff-filter=a", "--ignore-submodules=dirty", from->target,
                                    NULL };
    al_auto(al_str_clear) struct al_str specs = AL_STR_INIT;
    int r = al_repo_pathspecs(repo, from->paths, budget, &specs, err);

    return r < 0 ? r
                 : about_target(al_batch_list_diff(repo, present, &specs, budget, list, err), err);
}

int al_git_checkout_from_check(const struct al_repo *repo, const struct al_checkout_from *from,
                               struct al_run_limits *budget, struct al_error *err)
{
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = list_files(repo, from, budget, &list, err);

    /* Two sets of attributes may apply to a file: the present ones, and those of the commit. */
    if (r == 0)
        r = al_git_check_filters(repo, &list, NULL, budget, err);
    if (r == 0)
        r = al_git_check_filters(repo, &list, from->target, budget, err);
    al_buffer_clear(&list);
    return r;
}

int al_git_checkout_from(struct al_repo *repo, const struct al_checkout_from *from,
                         struct al_run_limits *budget, struct al_buffer *ret_files,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str specs = AL_STR_INIT;
    int r = list_files(repo, from, budget, ret_files, err);

    if (r == 0)
        r = al_git_check_downloaded(repo, from->target, from->paths, budget, err);
    if (r == 0)
        r = al_repo_pathspecs(repo, from->paths, budget, &specs, err);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    command.input = specs.buf;
    command.input_len = specs.len;
    al_strv_adds(&command.argv, "git", "checkout", "--no-guess", "--no-recurse-submodules", NULL);
    if (from->force)
        al_strv_add(&command.argv, "--force");
    al_strv_adds(&command.argv, "--pathspec-from-file=-", "--pathspec-file-nul", from->target, "--",
                 NULL);
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){
                          .max_bytes = SAID_MAX_BYTES, .waits_for_lock = true, .checked = true },
                      budget, &output, err);
}
