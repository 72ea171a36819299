// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/worktrees.h"

#include "gitops/run.h"

#define PATHS_MAX_BYTES (1u << 20)

int al_git_is_checked_out_elsewhere(const struct al_repo *repo, const char *ref,
                                    struct al_run_limits *budget, bool *ret_is,
                                    struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(worktreepath)", ref, NULL);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = PATHS_MAX_BYTES, .checked = true }, budget,
                   &output, err);
    al_str_trim_end(&output.out.out);
    /* A bare repository is itself the working tree of its HEAD for git. */
    if (r == 0)
        *ret_is = output.out.out.len && strcmp(output.out.out.buf, repo->at.top) != 0;
    return r;
}
