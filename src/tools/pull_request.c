// SPDX-License-Identifier: Apache-2.0
/* git_pr, and git_generate_pr of the toolset workflow: title and text of a pull request, from the
 * commits of the current branch. */
#include "verbs/message/pull_request.h"
#include "tools/private.h"

struct pr_args {
    struct al_pull_request_options options;
    const char *working_dir;
};

#define TEMPLATE_ROW                                                                               \
    AL_STRING_IN(struct pr_args, options, template,                                                \
                 "With {title} {commits} {files} {branch} {target}.",                              \
                 .max_bytes = AL_PULL_REQUEST_TEMPLATE_BYTES)

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_STRING_IN(struct pr_args, options, target, "Branch to merge into.", .flags = AL_PARAM_NAME,
                 .check = al_arg_check_revision),
    TEMPLATE_ROW,
    AL_WORKFLOW_CWD_ROW(struct pr_args),
};

static int workflow_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct pr_args *args = al_call_args(call);
    al_auto(al_pull_request_clear) struct al_pull_request pr = AL_PULL_REQUEST_INIT;
    int r = al_git_generate_pull_request(al_call_repo(call), &args->options,
                                         al_call_max_bytes(call), &pr, err);

    if (r < 0)
        return r;
    al_result_set(result, "title", al_json_string(pr.title));
    al_result_set(result, "body", al_json_string(pr.body.buf));
    al_result_set(result, "commits", al_json_int((int64_t)pr.commits));
    al_result_set(result, "filesChanged", al_workflow_strings(&pr.files));
    result->truncated = pr.truncated;
    return 0;
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "title": "", "body": "", "commits": 1, "filesChanged": [""]
});
/* clang-format on */

const struct al_tool al_tool_workflow_generate_pr = {
    .name = "git_generate_pr",
    .title = "Pull request",
    .about = "Write a pull request for the current branch.",
    AL_TOOL_ONE(workflow_params, "generate_pr", NULL, AL_READS, workflow_execute, AL_ASKS_NEVER),
    AL_WORKFLOW_TOOL(struct pr_args),
    .summary = "Describe a pull request[target? into {target}]",
    .output_schema = output_schema,
};

/* The toolset everyday. */

static const struct al_param everyday_params[] = {
    AL_STRING_IN(struct pr_args, options, target, "Default: the default branch.",
                 .flags = AL_PARAM_NAME, .check = al_arg_check_revision),
    TEMPLATE_ROW,
    AL_WORKING_DIR_ROW(struct pr_args),
};

static int everyday_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct pr_args *args = al_call_args(call);
    al_auto(al_pull_request_clear) struct al_pull_request pr = AL_PULL_REQUEST_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_pull_request_options options = args->options;
    int r;

    options.prefers_origin = options.has_numbers = true;
    r = al_git_generate_pull_request(al_call_repo(call), &options, AL_ANSWER_DEFAULT_BYTES / 2, &pr,
                                     err);
    if (r < 0)
        return r;
    if (!pr.commits) {
        al_str_adds(&text,
                    "No commits that the target does not have: there is nothing to ask for.\n");
    } else {
        al_str_addf(&text, "%s\n\n%s", pr.title, pr.body.buf);
        al_str_trim_end(&text);
        al_str_addf(&text,
                    "\n\n-- %s, %s%s. Nothing was sent: git_push sends the branch, a user opens "
                    "the pull request.\n",
                    al_counted(pr.commits, "commit", "commits").text,
                    al_counted(pr.files.count, "file", "files").text,
                    pr.truncated ? "; not all of them are listed" : "");
    }
    al_answer_text(&text, result);
    return 0;
}

const struct al_tool al_tool_everyday_pr = {
    .name = "git_pr",
    .title = "Pull request",
    .about = "Write title and text of a pull request for the current branch.",
    AL_TOOL_ONE(everyday_params, "pr", NULL, AL_READS, everyday_execute, AL_ASKS_NEVER),
    AL_EVERYDAY_TOOL(struct pr_args),
};
