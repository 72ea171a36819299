// SPDX-License-Identifier: Apache-2.0
/* git_diff: what is staged. */
#include "guard/text.h"
#include "staging/staged.h"
#include "staging/staging.h"
#include "tool/call.h"
#include "toolsets/staging/staging.h"

struct diff_args {
    const char *id;
};

static const struct al_param params[] = {
    AL_STRING_AS(struct diff_args, id, "commitId",
                 "Id or its first 6 or more characters; without it, all staged commits.",
                 .flags = AL_PARAM_NAME, .max_bytes = AL_STAGING_ID_MAX_BYTES),
};

static int show_one(struct al_call *call, const char *id, struct al_result *result,
                    struct al_error *err)
{
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    int r = al_staged_find(staging, id, al_call_budget(call), &staged, err);

    return r < 0 ? r
                 : al_staged_diff(staging, &staged, al_call_max_bytes(call), al_call_budget(call),
                                  &result->text, &result->truncated, err);
}

static int show_all(struct al_call *call, struct al_result *result, struct al_error *err)
{
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    size_t max_bytes = al_call_max_bytes(call);
    int r = al_staged_list(staging, al_call_budget(call), &list, err);

    if (r == 0 && !list.count)
        al_str_adds(&result->text, "No staged commits");
    for (size_t i = 0; i < list.count && r == 0 && !result->truncated; i++) {
        if (i)
            al_str_addc(&result->text, '\n');
        r = al_staged_diff(staging, &list.items[i],
                           max_bytes > result->text.len ? max_bytes - result->text.len : 0,
                           al_call_budget(call), &result->text, &result->truncated, err);
    }
    return r;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct diff_args *args = p;
    int r = args->id ? show_one(call, args->id, result, err) : show_all(call, result, err);

    if (r == 0)
        result->exit_code = 0;
    result->truncated |= al_text_truncate(&result->text, al_call_max_bytes(call));
    return r;
}

static const struct al_operation operations[] = {
    { "diff", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    const struct diff_args *args = p;

    if (args->id)
        al_str_addf(out, "Show staged commit %s", args->id);
    else
        al_str_adds(out, "Show what is staged");
}

const struct al_tool al_tool_staging_diff = {
    .name = "git_diff",
    .title = "Show staged changes",
    .about = "Show the unified diff of a staged commit, or of all of them.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct diff_args),
    .open_repository = al_call_without_repository,
    .summarize = summarize,
};
