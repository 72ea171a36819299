// SPDX-License-Identifier: Apache-2.0
#include "gitops/verbs.h"

int al_git_status(const struct al_repo *repo, const struct al_status_options *options,
                  size_t max_bytes, struct al_budget *budget, struct al_git_output *ret_output,
                  struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "status", NULL);
    if (options->porcelain) {
        al_strv_add(&command.argv, "--porcelain=1");
        if (options->branch)
            al_strv_add(&command.argv, "-b");
    }
    if (!options->untracked)
        al_strv_add(&command.argv, "-uno");
    al_strv_add(&command.argv, "--ignore-submodules=dirty");
    return al_git_run_checked(repo, &command, max_bytes, budget, ret_output, err);
}
