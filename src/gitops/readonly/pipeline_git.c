// SPDX-License-Identifier: Apache-2.0
#include "gitops/readonly/pipeline_git.h"

#include "gitops/command.h"
#include "gitops/environment.h"
#include "gitops/failure.h"
#include "gitops/layer.h"
#include "gitops/ruleset.h"

int al_git_pipeline_open(const struct al_repo *repo, const struct al_strv *words, uint32_t left_ms,
                         struct al_git_pipeline *ret_stage, struct al_error *err)
{
    static const struct al_git_command reading = { .class = AL_GIT_READ, .quotes_names = true };
    struct al_git *git = repo->at.git;
    struct al_git_pipeline stage = { .git = git, .program = git->program };
    int r;

    if (!git->program)
        return al_git_none(err);
    r = al_git_ruleset(git, AL_GIT_READ, true, &stage.held, err);
    if (r < 0)
        return r;
    al_git_pipeline_words(words, &stage.argv);
    al_git_command_env(&stage.env, &repo->at, &reading);
    stage.sandbox = al_git_command_sandbox(&reading, stage.held, left_ms);
    *ret_stage = stage;
    return 0;
}

void al_git_pipeline_close(struct al_git_pipeline *stage)
{
    if (stage->held)
        al_git_ruleset_put(stage->git, stage->held);
    al_strv_clear(&stage->argv);
    al_git_env_clear(&stage->env);
    *stage = AL_GIT_STAGE_INIT;
}
