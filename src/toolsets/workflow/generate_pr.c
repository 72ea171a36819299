// SPDX-License-Identifier: Apache-2.0
/* git_generate_pr: a title and a description for a pull request, from the branch's commits. */
#include "gitops/message/pull_request.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "toolsets/workflow/results.h"
#include "toolsets/workflow/workflow.h"

struct generate_pr_args {
    const char *target, *template;
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct generate_pr_args, target, "Branch to merge into.", .flags = AL_PARAM_NAME),
    AL_STRING(struct generate_pr_args, template,
              "With {title} {commits} {files} {branch} {target}.",
              .max_bytes = AL_PULL_REQUEST_TEMPLATE_BYTES),
    AL_WORKFLOW_CWD_ROW(struct generate_pr_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct generate_pr_args *args = p;

    return args->target ? al_arg_check_revision("target", args->target, err) : 0;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct generate_pr_args *args = p;
    const struct al_pull_request_options options = { .target = args->target,
                                                     .template = args->template };
    al_auto(al_pull_request_clear) struct al_pull_request pr = AL_PULL_REQUEST_INIT;
    json_t *object;
    int r = al_git_generate_pull_request(al_call_repo(call), &options, al_call_max_bytes(call),
                                         al_call_budget(call), &pr, err);

    if (r < 0)
        return r;
    object = al_json_object();
    al_json_set(object, "title", al_json_string(pr.title));
    al_json_set(object, "body", al_json_string(pr.body.buf));
    al_json_set(object, "commits", al_json_int((int64_t)pr.commits));
    al_json_set(object, "filesChanged", al_workflow_strings(&pr.files));
    result->truncated = pr.truncated;
    al_result_set_structured(result, object);
    return 0;
}

static const struct al_operation operations[] = {
    { "generate_pr", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    const struct generate_pr_args *args = p;

    al_str_adds(out, "Describe a pull request");
    if (args->target)
        al_str_addf(out, " into %s", args->target);
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "body": {"type": "string"},
        "commits": {"type": "integer"},
        "filesChanged": {"type": "array", "items": {"type": "string"}}
    },
    "required": ["title", "body", "commits", "filesChanged"]
});
/* clang-format on */

const struct al_tool al_tool_workflow_generate_pr = {
    .name = "git_generate_pr",
    .title = "Pull request",
    .about = "Write a pull request for the current branch.",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct generate_pr_args),
    .check = check,
    .summarize = summarize,
    .output_schema = output_schema,
};
