// SPDX-License-Identifier: Apache-2.0
/* git_stage: make a staged commit of changed files. */
#include "staging/stage.h"
#include "guard/text.h"
#include "staging/staging.h"
#include "tool/call.h"
#include "toolsets/staging/staging.h"

struct stage_args {
    struct al_strv files;
    const char *message;
};

static const struct al_param params[] = {
    AL_STRINGS(struct stage_args, files, "Files, directories or patterns below /workspace/.",
               .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .min = 1, .max = AL_STAGING_PATHS_MAX,
               .max_bytes = AL_STAGING_PATH_MAX_BYTES),
    AL_STRING(struct stage_args, message, "The commit message.", .flags = AL_PARAM_REQUIRED,
              .min_bytes = 1, .max_bytes = AL_STAGING_MESSAGE_MAX_BYTES,
              .bad_message = "message must not be empty"),
};

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct stage_args *args = p;
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    int r = al_stage(staging, &args->files, args->message, al_call_budget(call), &staged, err);

    if (r < 0)
        return r;
    al_result_set_structured(result, al_staged_to_json(staging, &staged));
    return 0;
}

static const struct al_operation operations[] = {
    { "stage", NULL, AL_WRITES_FILES, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    const struct stage_args *args = p;

    al_str_adds(out, "Stage ");
    al_text_add_list(out, &args->files, 2);
}

const struct al_tool al_tool_staging_stage = {
    .name = "git_stage",
    .title = "Stage changes",
    .about = "Make a staged commit of changed sandbox files. It leaves the sandbox with git_push.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct stage_args),
    .open_repository = al_call_without_repository,
    .summarize = summarize,
    .output_schema = AL_STAGED_COMMIT_SCHEMA,
};
