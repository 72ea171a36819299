// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/skip.h"

#include "gitops/command.h"
#include "gitops/porcelain/resume.h"
#include "gitops/sequencer/merge_run.h"

int al_git_skip_check(const struct al_repo *repo, struct al_run_limits *budget,
                      struct al_error *err)
{
    if (al_git_resumable(repo) == AL_IN_PROGRESS_NONE)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                 "There is no commit to skip: no rebase, cherry-pick or revert is "
                                 "in progress");
    return al_git_resume_vet(repo, budget, err);
}

int al_git_skip(struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                struct al_merge_outcome *ret_outcome, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    enum al_operation_state state = al_git_resumable(repo);
    int r = al_git_skip_check(repo, budget, err);

    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git rebase runs git commit and git reset */
    al_strv_adds(&command.argv, "git", al_operation_state_name(state), "--skip", NULL);
    r = al_git_resume_emptied(repo, state,
                              al_merge_run(repo, &command, max_bytes, budget, &outcome, err), err);
    if (r < 0)
        return r;
    outcome.in_progress = al_git_resumable(repo) == state;
    *ret_outcome = outcome;
    outcome = AL_MERGE_INIT;
    return 0;
}
