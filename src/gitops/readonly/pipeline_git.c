// SPDX-License-Identifier: Apache-2.0
#include "gitops/readonly/pipeline_git.h"

#include "gitops/command.h"
#include "gitops/environment.h"
#include "gitops/failure.h"
#include "gitops/layer.h"
#include "gitops/ruleset.h"

int al_git_pipeline_open(const struct al_repo *repo, const struct al_strv *words, uint32_t left_ms,
                         struct al_git_pipeline *ret_pipeline, struct al_error *err)
{
    static const struct al_git_command reading = { .class = AL_GIT_READ, .quotes_names = true };
    struct al_git *git = repo->at.git;
    struct al_git_pipeline pipeline = { .git = git, .program = git->program };
    int r;

    if (!git->program)
        return al_git_not_available(err);
    r = al_git_ruleset(git, AL_GIT_READ, true, &pipeline.held, err);
    if (r < 0)
        return r;
    al_git_pipeline_words(words, &pipeline.argv);
    al_git_command_env(&pipeline.env, &repo->at, &reading);
    pipeline.sandbox = al_git_command_sandbox(&reading, pipeline.held, left_ms);
    *ret_pipeline = pipeline;
    return 0;
}

void al_git_pipeline_close(struct al_git_pipeline *pipeline)
{
    if (pipeline->held)
        al_git_ruleset_put(pipeline->git, pipeline->held);
    al_strv_clear(&pipeline->argv);
    al_git_env_clear(&pipeline->env);
    *pipeline = AL_GIT_PIPELINE_INIT;
}
