// SPDX-License-Identifier: Apache-2.0
/* git_status: where one is, in one call. */
#include "answer/place.h"
#include "answer/state_line.h"
#include "gitops/reading/worktree_state.h"
#include "tool/call.h"
#include "toolsets/everyday/everyday.h"

struct status_args {
    struct al_page page;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_PAGE_ROWS(struct status_args),
    AL_EVERYDAY_WORKING_DIR_ROW(struct status_args),
};

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct status_args *args = p;
    al_auto(al_pages_clear) struct al_pages answer = AL_PAGES_INIT;
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    int r = al_pages_begin(&answer, call, &args->page, err);

    if (r == 0)
        r = al_git_read_worktree_state(al_call_repo(call), "all", NULL, NULL, al_call_budget(call),
                                       &state, err);
    if (r < 0)
        return r;
    al_state_add_branch(&state, &line);
    al_str_addc(&line, '\n');
    (void)al_pages_add(&answer, line.buf, line.len);
    return al_pages_end(&answer, "", result, err);
}

static const struct al_operation operations[] = {
    { "status", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

const struct al_tool al_tool_everyday_status = {
    .name = "git_status",
    .title = "Show status",
    .about = "Show where you are: branch, changes, conflicts, stashes, last commits.",
    .params = params,
    .nparams = AL_COUNT(params),
    AL_EVERYDAY_TOOL(struct status_args),
    AL_EVERYDAY_PAGES,
    .operations = operations,
    .noperations = AL_COUNT(operations),
};
