// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/merge_file.h"

#include "gitops/command.h"
#include "gitops/plumbing/bare_run.h"
#include "gitops/run.h"

/* The exit code is the number of conflicts, at most this; beyond it are errors. */
#define CONFLICTS_MAX 127

int al_bare_merge_files(const struct al_bare *bare, const struct al_merge_files *files,
                        struct al_run_limits *budget, struct al_str *ret_content,
                        bool *ret_conflict, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "merge-file", "-p", "-q", "-L", AL_MERGE_LABEL_OURS, "-L",
                 "base", "-L", AL_MERGE_LABEL_THEIRS, "--", files->ours, files->base, files->theirs,
                 NULL);
    budget->exit_code = -1;
    r = al_bare_run(bare, &command, false, al_git_sink(ret_content), budget, &why);
    *ret_conflict = budget->exit_code > 0 && budget->exit_code <= CONFLICTS_MAX;
    if (r < 0 && *ret_conflict)
        return 0;
    if (r < 0 && err) {
        *err = why;
        why = AL_ERROR_INIT;
    }
    return r;
}
