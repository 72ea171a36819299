// SPDX-License-Identifier: Apache-2.0
/* git_pr: title and text of a pull request, from the commits of the current branch. */
#include "gitops/message/pull_request.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "toolsets/everyday/everyday.h"

struct pr_args {
    const char *target, *template;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct pr_args, target, "Default: the default branch.", .flags = AL_PARAM_NAME),
    AL_STRING(struct pr_args, template, "With {title} {commits} {files} {branch} {target}.",
              .max_bytes = AL_PULL_REQUEST_TEMPLATE_BYTES),
    AL_EVERYDAY_WORKING_DIR_ROW(struct pr_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct pr_args *args = p;

    return args->target ? al_arg_check_revision("target", args->target, err) : 0;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct pr_args *args = p;
    const struct al_pull_request_options options = { .target = args->target,
                                                     .template = args->template,
                                                     .prefers_origin = true };
    al_auto(al_pull_request_clear) struct al_pull_request pr = AL_PULL_REQUEST_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_git_generate_pull_request(al_call_repo(call), &options, AL_ANSWER_DEFAULT_BYTES / 2,
                                         al_call_budget(call), &pr, err);

    if (r < 0)
        return r;
    if (!pr.commits) {
        al_str_adds(&text,
                    "No commits that the target does not have: there is nothing to ask for.\n");
    } else {
        al_str_addf(&text, "%s\n\n%s", pr.title, pr.body.buf);
        al_str_trim_end(&text);
        al_str_adds(&text, "\n\n-- ");
        al_answer_add_counted(pr.commits, "commit, ", "commits, ", &text);
        al_answer_add_counted(pr.files.count, "file", "files", &text);
        al_str_adds(&text, pr.truncated ? "; not all of them are listed. " : ". ");
        al_str_adds(&text, "Nothing was sent: git_push sends the branch, a user opens the pull "
                           "request.\n");
    }
    al_answer_text(&text, result);
    return 0;
}

static const struct al_operation operations[] = {
    { "pr", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

const struct al_tool al_tool_everyday_pr = {
    .name = "git_pr",
    .title = "Pull request",
    .about = "Write title and text of a pull request for the current branch.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct pr_args),
    .check = check,
};
