// SPDX-License-Identifier: Apache-2.0
/* git_blame: who last changed each line of a file. */
#include <inttypes.h>
#include <string.h>

#include "gitops/command.h"
#include "gitops/plumbing/skipped.h"
#include "gitops/porcelain/status.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "toolsets/git/git.h"

struct blame_args {
    const char *path;
    struct al_opt_int start_line, end_line;
    const char *commit;
    struct al_opt_int max_bytes;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct blame_args, path, "File to blame.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_PATH),
    AL_INT(struct blame_args, start_line, "First line, counted from 1.", .min = 1, .max = INT32_MAX,
           .flags = AL_PARAM_MAX_HIDDEN),
    AL_INT(struct blame_args, end_line, "Last line.", .min = 1, .max = INT32_MAX,
           .flags = AL_PARAM_MAX_HIDDEN),
    AL_STRING(struct blame_args, commit, "Default: the working tree.", .flags = AL_PARAM_NAME),
    AL_GIT_MAX_BYTES_ROW(struct blame_args),
    AL_GIT_TIMEOUT_ROW(struct blame_args),
    AL_GIT_WORKING_DIR_ROW(struct blame_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct blame_args *args = p;

    if (!args->path[strspn(args->path, " \t\r\n")])
        return al_error_set(err, AL_ERR_BAD_ARGS, "path must not be empty");
    if (args->start_line.given && args->end_line.given &&
        args->start_line.value > args->end_line.value)
        return al_error_set(err, AL_ERR_BAD_ARGS, "start_line must be <= end_line");
    return args->commit ? al_arg_check_revision("commit", args->commit, err) : 0;
}

/* Refuse a path outside the repository first. */
static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;

    return al_repo_file(al_call_repo(call), "path", ((const struct blame_args *)p)->path, &path,
                        err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct blame_args *args = p;
    const struct al_blame_options options = {
        .path = args->path,
        .commit = args->commit,
        .start_line = args->start_line.given ? args->start_line.value : 0,
        .end_line = args->end_line.given ? args->end_line.value : 0,
    };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    int r = al_git_blame(al_call_repo(call), &options, al_call_max_bytes(call),
                         al_call_budget(call), &output, err);

    if (r < 0)
        return r;
    if (!args->commit) /* otherwise the working tree is not read */
        al_git_skipped_filters(al_call_repo(call), al_call_budget(call), &notes);
    al_call_shape_text(call, &output, notes.buf, result);
    return 0;
}

static const struct al_operation operations[] = {
    { "blame", NULL, AL_READS, execute, AL_ASKS_BY_EFFECTS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct blame_args *args = p;

    (void)op;
    al_str_addf(out, "Blame %s", args->path);
    if (args->start_line.given || args->end_line.given)
        al_str_addf(out, " lines %" PRId64 "-",
                    args->start_line.given ? args->start_line.value : 1);
    if (args->end_line.given)
        al_str_addf(out, "%" PRId64, args->end_line.value);
}

const struct al_tool al_tool_git_blame = {
    .name = "git_blame",
    .title = "Blame a file",
    .about = "Show which commit last changed each line of a file, or of a range.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct blame_args),
    .check = check,
    .authorize = authorize,
    .summarize = summarize,
};
