// SPDX-License-Identifier: Apache-2.0
/* git_show: one commit, with its changes. */
#include "gitops/command.h"
#include "gitops/porcelain/status.h"
#include "gitops/run.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "toolsets/git/git.h"

struct show_args {
    const char *commit;
    bool stat, name_only;
    const char *format;
    struct al_opt_int max_bytes;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct show_args, commit, "What to show.",
              .flags = AL_PARAM_HAS_DEFAULT | AL_PARAM_NAME, .default_str = "HEAD"),
    AL_BOOL(struct show_args, stat, "As --stat."),
    AL_BOOL(struct show_args, name_only, "Names only; wins over stat."),
    AL_STRING(struct show_args, format, "As --format."),
    AL_GIT_MAX_BYTES_ROW(struct show_args),
    AL_GIT_TIMEOUT_ROW(struct show_args),
    AL_GIT_WORKING_DIR_ROW(struct show_args),
};

static int check(const void *p, struct al_error *err)
{
    return al_arg_check_revision("commit", ((const struct show_args *)p)->commit, err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct show_args *args = p;
    const struct al_show_options options = {
        .commit = args->commit,
        .stat = args->stat,
        .name_only = args->name_only,
        .format = args->format,
    };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_show(al_call_repo(call), &options, al_call_max_bytes(call), al_call_budget(call),
                        &output, err);

    if (r < 0)
        return r;
    al_call_shape_text(call, &output, "", result);
    return 0;
}

static const struct al_operation operations[] = {
    { "show", NULL, AL_READS, execute, AL_ASKS_BY_EFFECTS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    (void)op;
    al_str_addf(out, "Show commit %s", ((const struct show_args *)p)->commit);
}

static void ignored(const void *p, struct al_ignored *out)
{
    const struct show_args *args = p;

    out->since = "name_only is given";
    al_ignored_add(out, args->name_only && args->stat, "stat");
}

const struct al_tool al_tool_git_show = {
    .name = "git_show",
    .title = "Show a commit",
    .about = "Show one commit: author, date, message and changes.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct show_args),
    .check = check,
    .ignored = ignored,
    .summarize = summarize,
};
