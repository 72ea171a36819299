// SPDX-License-Identifier: Apache-2.0
/* git_branches: the branches of a target. */
#include "staging/target.h"

#include "gitops/repo/repo.h"
#include "gitops/transport/mirror.h"
#include "tool/call.h"
#include "toolsets/staging/staging.h"
#include "toolsets/staging/target_args.h"

struct branches_args {
    struct al_target_args target;
};

static const struct al_param params[] = {
    AL_OBJECT(struct branches_args, target, "The repository.", al_target_object,
              .flags = AL_PARAM_REQUIRED | AL_PARAM_DEFAULT_TARGET),
};

static int check(const void *p, struct al_error *err)
{
    return al_target_args_check(&((const struct branches_args *)p)->target, "target", err);
}

static int open_repository(struct al_call *call, const void *p, struct al_repo **ret_repo,
                           struct al_error *err)
{
    return al_target_args_open(call, &((const struct branches_args *)p)->target, true, ret_repo,
                               err);
}

static void set_result(const struct al_target_branches *branches, struct al_result *result)
{
    json_t *names = al_json_array();

    for (size_t i = 0; i < branches->names.count; i++)
        al_json_append(names, al_json_string(branches->names.items[i]));
    al_result_set(result, "branches", names);
    if (branches->current)
        al_result_set(result, "current", al_json_string(branches->current));
}

static int list(struct al_call *call, const struct branches_args *args,
                struct al_target_branches *ret_branches, struct al_error *err)
{
    if (al_target_from_args(call, &args->target).type == AL_TARGET_GITHUB)
        return al_mirror_branches(al_call_repo(call)->mirror, al_call_budget(call),
                                  &ret_branches->names, &ret_branches->truncated, err);
    return al_target_branches_list(al_call_repo(call), al_call_max_bytes(call),
                                   al_call_budget(call), ret_branches, err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    al_auto(al_target_branches_clear) struct al_target_branches branches = { .names =
                                                                                 AL_STRV_INIT };
    int r = list(call, p, &branches, err);

    if (r < 0)
        return r;
    result->truncated = branches.truncated;
    set_result(&branches, result);
    return 0;
}

static bool is_local(const struct al_call *call, const void *p)
{
    return al_target_from_args(call, &((const struct branches_args *)p)->target).type !=
           AL_TARGET_GITHUB;
}

static const struct al_operation operations[] = {
    { "branches", is_local, AL_READS, execute, AL_ASKS_NEVER },
    { "branches", NULL, AL_READS | AL_USES_NETWORK, execute, AL_ASKS_NEVER },
};

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "branches": {"type": "array", "items": {"type": "string"}},
        "current": {"type": "string"}
    },
    "required": ["branches"]
});
/* clang-format on */

const struct al_tool al_tool_staging_branches = {
    .name = "git_branches",
    .title = "List branches",
    .about = "List the branches of a repository, and the current one.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct branches_args),
    .check = check,
    .open_repository = open_repository,
    .output_schema = output_schema,
};
