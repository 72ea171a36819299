// SPDX-License-Identifier: Apache-2.0
/* git_status: staged, changed and untracked files. */
#include "gitops/porcelain/status.h"
#include "gitops/command.h"
#include "gitops/plumbing/skipped.h"
#include "gitops/run.h"
#include "gitops/sequencer/operation_state.h"
#include "gitops/submodule/submodules.h"
#include "tool/call.h"
#include "toolsets/git/git.h"

struct status_args {
    bool porcelain, branch, untracked;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_BOOL(struct status_args, porcelain, "As --porcelain=1.", .default_int = 1),
    AL_BOOL(struct status_args, branch, "With the branch line.", .default_int = 1),
    AL_BOOL(struct status_args, untracked, "With untracked files.", .default_int = 1),
    AL_GIT_TIMEOUT_ROW(struct status_args),
    AL_GIT_WORKING_DIR_ROW(struct status_args),
};

/* An operation in progress becomes a note: the porcelain format has no field for it. */
static void note_progress(const struct al_call *call, struct al_result *result)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_git_operation_line(al_call_repo(call), 0, &line);
    if (line.len)
        al_result_note(result, line.buf);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct status_args *args = p;
    const struct al_status_options options = {
        .porcelain = args->porcelain,
        .branch = args->branch,
        .untracked = args->untracked,
    };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_submodules_clear) struct al_submodules submodules = AL_SUBMODULES_INIT;
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    int r;

    r = al_git_status(al_call_repo(call), &options, al_call_max_bytes(call), al_call_budget(call),
                      &output, err);
    if (r < 0)
        return r;
    al_git_skipped_filters(al_call_repo(call), al_call_budget(call), &notes);
    al_git_scan_submodules(al_call_repo(call), NULL, args->untracked, al_call_budget(call),
                           &submodules);
    al_submodules_add_line(&submodules, &notes);
    al_call_shape_text(call, &output, notes.buf, result);
    if (args->porcelain) /* git's long format contains it */
        note_progress(call, result);
    return 0;
}

static const struct al_operation operations[] = {
    { "status", NULL, AL_READS, execute, AL_ASKS_BY_EFFECTS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    (void)op;
    (void)p;
    al_str_adds(out, "Show git status");
}

const struct al_tool al_tool_git_status = {
    .name = "git_status",
    .title = "Show status",
    .about = "Show the branch and which files are staged, modified or untracked.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct status_args),
    .summarize = summarize,
};
