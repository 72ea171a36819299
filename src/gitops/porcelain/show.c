// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/show.h"

#include "gitops/command.h"
#include "gitops/run.h"

int al_git_show(const struct al_repo *repo, const struct al_show_options *options, size_t max_bytes,
                struct al_run_limits *budget, struct al_git_output *ret_output,
                struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;

    al_strv_adds(&command.argv, "git", "show", NULL);
    if (options->name_only)
        al_strv_add(&command.argv, "--name-only");
    else if (options->stat)
        al_strv_add(&command.argv, "--stat");
    if (options->format)
        al_strv_addf(&command.argv, "--format=%s", options->format);
    al_strv_adds(&command.argv, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
                 "--no-show-signature", options->commit, "--", NULL);
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                      ret_output, err);
}
