// SPDX-License-Identifier: Apache-2.0
/* git_discard: forget a staged commit. */
#include "staging/staged.h"
#include "staging/staging.h"
#include "tool/call.h"
#include "toolsets/staging/staging.h"

struct discard_args {
    const char *id;
};

static const struct al_param params[] = {
    AL_STRING_AS(struct discard_args, id, "commitId", "Id or its first 6 or more characters.",
                 .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .max_bytes = AL_STAGING_ID_MAX_BYTES),
};

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct discard_args *args = p;
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    al_auto(al_freep) char *title = NULL;
    int r = al_staged_find(staging, args->id, al_call_budget(call), &staged, err);

    if (r == 0)
        r = al_staged_discard(staging, &staged, al_call_budget(call), err);
    if (r < 0)
        return r;
    title = al_staged_title(&staged);
    al_str_addf(&result->text,
                "Discarded staged commit %s; the files in the sandbox stay as they "
                "are",
                title);
    result->exit_code = 0;
    return 0;
}

static const struct al_operation operations[] = {
    { "discard", NULL, AL_WRITES_FILES | AL_DISCARDS_WORK, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    al_str_addf(out, "Discard staged commit %s", ((const struct discard_args *)p)->id);
}

const struct al_tool al_tool_staging_discard = {
    .name = "git_discard",
    .title = "Discard staged commit",
    .about = "Forget a staged commit. The files in the sandbox stay as they are.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct discard_args),
    .open_repository = al_call_without_repository,
    .summarize = summarize,
};
