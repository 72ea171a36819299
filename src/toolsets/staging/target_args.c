// SPDX-License-Identifier: Apache-2.0
#include "toolsets/staging/target_args.h"

#include "guard/root.h"
#include "staging/staging.h"
#include "tool/call.h"

#define PATH_MAX_BYTES 4096
#define NAME_MAX_BYTES 1024

static const struct al_choice types[] = {
    { "local", AL_TARGET_LOCAL },
    { "local-bare", AL_TARGET_LOCAL_BARE },
    { "github", AL_TARGET_GITHUB },
    { NULL, 0 },
};

static const struct al_param rows[] = {
    AL_CHOICE(struct al_target_args, type, NULL, .choices = types, .flags = AL_PARAM_REQUIRED),
    AL_STRING(struct al_target_args, path, "Of a local repository, such as \".\".",
              .flags = AL_PARAM_NAME, .max_bytes = PATH_MAX_BYTES),
    AL_STRING(struct al_target_args, repo, "On GitHub: user/name.", .flags = AL_PARAM_NAME,
              .max_bytes = NAME_MAX_BYTES),
    AL_STRING(struct al_target_args, branch, "Default: the current one.", .flags = AL_PARAM_BRANCH,
              .max_bytes = NAME_MAX_BYTES),
};

const struct al_object al_target_object = { rows, AL_COUNT(rows), sizeof(struct al_target_args) };

struct al_target al_target_from_args(const struct al_call *call, const struct al_target_args *args)
{
    const struct al_staging *staging = al_call_session(call)->staging;

    if (!args->given)
        return *al_staging_options(staging)->default_target;
    return (struct al_target){
        .type = (enum al_target_type)args->type,
        .path = (char *)args->path,
        .repo = (char *)args->repo,
        .branch = (char *)args->branch,
    };
}

int al_target_args_check(const struct al_target_args *args, const char *param, struct al_error *err)
{
    const struct al_target target = {
        .type = (enum al_target_type)args->type,
        .path = (char *)args->path,
        .repo = (char *)args->repo,
        .branch = (char *)args->branch,
    };

    return args->given ? al_target_check(&target, param, err) : 0;
}

int al_target_args_open(struct al_call *call, const struct al_target_args *args, bool only_names,
                        struct al_repo **ret_repo, struct al_error *err)
{
    const struct al_session *session = al_call_session(call);
    const struct al_target target = al_target_from_args(call, args);

    if (target.type == AL_TARGET_GITHUB)
        return al_target_open_github(
            session->git,
            &(struct al_github_request){
                .target = &target,
                .base_url = al_staging_options(session->staging)->github_base_url,
                .progress = al_call_progress(call),
                .only_names = only_names,
            },
            al_call_budget(call), ret_repo, err);
    return al_target_open(session->git, session->roots->items[0].path, &target,
                          al_call_budget(call), ret_repo, err);
}
