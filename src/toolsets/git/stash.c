// SPDX-License-Identifier: Apache-2.0
/* git_stash: stash changes and restore them. */
#include <inttypes.h>

#include "gitops/command.h"
#include "gitops/porcelain/stash.h"
#include "gitops/run.h"
#include "tool/ignored.h"
#include "toolsets/git/git.h"
#include "toolsets/stash.h"

struct stash_args {
    struct al_stash_args stash; /* must be first, see toolsets/stash.h */
    AL_GIT_COMMON_FIELDS;
};

static const struct al_choice actions[] = {
    { "push", AL_STASH_COMMAND_PUSH },   { "pop", AL_STASH_COMMAND_POP },
    { "apply", AL_STASH_COMMAND_APPLY }, { "drop", AL_STASH_COMMAND_DROP },
    { "list", AL_STASH_COMMAND_LIST },   { "show", AL_STASH_COMMAND_SHOW },
    { "clear", AL_STASH_COMMAND_CLEAR }, { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE_AS(struct stash_args, stash.action, "action", "What to do.", .choices = actions,
                 .default_int = AL_STASH_COMMAND_PUSH),
    AL_STRING_AS(struct stash_args, stash.message, "message", "For push.",
                 .max_bytes = AL_GIT_TEXT_MAX_BYTES),
    AL_INT_AS(struct stash_args, stash.index, "index", "Entry; default: 0, the newest.", .min = 0,
              .max = INT32_MAX, .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL_AS(struct stash_args, stash.include_untracked, "include_untracked",
               "With push: untracked files too.", .default_int = 0),
    AL_GIT_TIMEOUT_ROW(struct stash_args),
    AL_GIT_WORKING_DIR_ROW(struct stash_args),
};

static int list(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    (void)p;
    r = al_git_stash_list(al_call_repo(call), al_call_max_bytes(call), al_call_budget(call),
                          &output, err);
    if (r < 0)
        return r;
    al_call_shape_text(call, &output, "", result);
    return 0;
}

static int show(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_stash_options options;
    int r = al_stash_options_of(call, p, &options, err);

    if (r == 0)
        r = al_git_stash_show(al_call_repo(call), &options, al_call_max_bytes(call),
                              al_call_budget(call), &output, err);
    if (r < 0)
        return r;
    al_call_shape_text(call, &output, "", result);
    return 0;
}

/* git stash clear prints nothing. */
static void add_cleared(const struct al_call *call, struct al_str *out)
{
    int64_t count = al_stash_count_own(call);

    if (count < 0)
        al_str_adds(out, "Cleared all stashes");
    else
        al_str_addf(out, "Cleared the stashes of this worktree: %" PRId64, count);
}

static int change(struct al_call *call, const void *p, struct al_result *result,
                  struct al_error *err)
{
    const struct stash_args *args = p;
    struct al_stash_options options;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_stash_options_of(call, args, &options, err);

    if (r == 0)
        r = al_stash_run(call, &options, &output, err);
    if (r < 0)
        return r;
    if (args->stash.action == AL_STASH_COMMAND_CLEAR)
        add_cleared(call, &output.out.out);
    al_call_shape_text(call, &output, "", result);
    return 0;
}

static const struct al_operation operations[] = {
    { "push", al_stash_is_push, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, change,
      AL_ASKS_BY_EFFECTS },
    { "pop", al_stash_is_pop, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, change,
      AL_ASKS_BY_EFFECTS },
    { "apply", al_stash_is_apply, AL_WRITES_INDEX | AL_WRITES_WORKTREE, change,
      AL_ASKS_BY_EFFECTS },
    { "drop", al_stash_is_drop, AL_WRITES_REFS | AL_DISCARDS_WORK, change, AL_ASKS_BY_EFFECTS },
    { "list", al_stash_is_list, AL_READS, list, AL_ASKS_BY_EFFECTS },
    { "show", al_stash_is_show, AL_READS, show, AL_ASKS_BY_EFFECTS },
    { "clear", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, change, AL_ASKS_BY_EFFECTS },
};

static void ignored(const void *p, struct al_ignored *out)
{
    al_stash_ignored(p, "include_untracked", out);
}

const struct al_tool al_tool_git_stash = {
    .name = "git_stash",
    .title = "Stash changes",
    .about = "Put uncommitted changes aside (push), bring them back (pop, apply), list, show, drop "
             "or clear.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct stash_args),
    .resolve = al_stash_resolve,
    .summarize_resolved = al_stash_summarize_resolved,
    .always_by = al_stash_always_by,
    .authorize = al_stash_authorize,
    .affected_files = al_stash_affected_files,
    .changed_files = al_stash_changed_files,
    .moves_always = AL_MOVES_STASH,
    .preview = al_stash_preview,
    .ignored = ignored,
    .git_locks = al_stash_git_locks,
    .summarize = al_stash_summarize,
};
