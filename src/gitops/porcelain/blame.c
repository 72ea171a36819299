// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/blame.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/layer.h"
#include "gitops/plumbing/blame_check.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "guard/root.h"

int al_git_blame(const struct al_repo *repo, const struct al_blame_options *options,
                 size_t max_bytes, struct al_run_limits *budget, struct al_git_output *ret_output,
                 struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_freep) char *path = NULL;
    int r = al_git_blame_check(repo, err);

    if (r == 0)
        r = al_repo_file(repo, "path", options->path, &path, err);
    if (r < 0)
        return r;
    al_strv_adds(&command.argv, "git", "blame", "--no-textconv", NULL);
    if (options->start_line && options->end_line)
        al_strv_addf(&command.argv, "-L%" PRId64 ",%" PRId64, options->start_line,
                     options->end_line);
    else if (options->start_line)
        al_strv_addf(&command.argv, "-L%" PRId64 ",", options->start_line);
    else if (options->end_line)
        al_strv_addf(&command.argv, "-L1,%" PRId64, options->end_line);
    if (options->commit)
        al_strv_add(&command.argv, options->commit);
    al_strv_adds(&command.argv, "--", path, NULL);
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                      ret_output, err);
}
