// SPDX-License-Identifier: Apache-2.0
/* git_stash: put changes aside and bring them back. */
#include <inttypes.h>

#include "gitops/verbs.h"
#include "tool/call.h"
#include "toolsets/git/git.h"

enum action { PUSH, POP, APPLY, DROP, LIST, SHOW, CLEAR };

struct stash_args {
    int action; /* enum action */
    const char *message;
    struct al_opt_int index;
    bool include_untracked;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_choice actions[] = {
    { "push", PUSH }, { "pop", POP },   { "apply", APPLY }, { "drop", DROP },
    { "list", LIST }, { "show", SHOW }, { "clear", CLEAR }, { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE(struct stash_args, action, "What to do.", .choices = actions, .default_int = PUSH),
    AL_STRING(struct stash_args, message, "For push.", .max_bytes = AL_GIT_TEXT_MAX_BYTES),
    AL_INT(struct stash_args, index, "Entry; default: 0, the newest.", .min = 0, .max = INT32_MAX,
           .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL(struct stash_args, include_untracked, "With push: untracked files too.",
            .default_int = 0),
    AL_GIT_TIMEOUT_ROW(struct stash_args),
    AL_GIT_WORKING_DIR_ROW(struct stash_args),
};

static int action_of(const void *p)
{
    return ((const struct stash_args *)p)->action;
}

static bool is_push(const void *p)
{
    return action_of(p) == PUSH;
}

static bool is_pop(const void *p)
{
    return action_of(p) == POP;
}

static bool is_apply(const void *p)
{
    return action_of(p) == APPLY;
}

static bool is_drop(const void *p)
{
    return action_of(p) == DROP;
}

static bool is_list(const void *p)
{
    return action_of(p) == LIST;
}

static bool is_show(const void *p)
{
    return action_of(p) == SHOW;
}

static int64_t index_of(const struct stash_args *args)
{
    return args->index.given ? args->index.value : 0;
}

static struct al_stash_options options_of(const struct stash_args *args)
{
    static const enum al_stash_action actions_of[] = {
        [PUSH] = AL_STASH_PUSH, [POP] = AL_STASH_POP,     [APPLY] = AL_STASH_APPLY,
        [DROP] = AL_STASH_DROP, [CLEAR] = AL_STASH_CLEAR,
    };

    return (struct al_stash_options){
        .action = actions_of[args->action],
        .message = args->message,
        .include_untracked = args->include_untracked,
        .index = index_of(args),
    };
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct stash_args *args = p;
    struct al_stash_options options;

    if (args->action == LIST || args->action == SHOW)
        return 0;
    options = options_of(args);
    return al_git_stash_check(al_call_repo(call), &options, al_call_budget(call), err);
}

/* Entries are named by their place in the list, which a push in between would shift. */
static int concerns(struct al_call *call, const void *p, struct al_strv *out, struct al_error *err)
{
    const struct stash_args *args = p;
    struct al_repo *repo = al_call_repo(call);

    al_strv_addf(out, "%s/logs/refs/stash", repo->common_dir);
    if (args->action != PUSH)
        return 0;
    return al_git_concerned(repo, NULL, args->include_untracked, al_call_budget(call), out, err);
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct al_stash_options options = options_of(p);
    const struct al_strv *files;
    int r = al_call_concerned(call, &files, err);

    (void)op;
    return r < 0 ? r
                 : al_git_stash_preview(al_call_repo(call), &options, files, al_call_budget(call),
                                        out, err);
}

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
    int r = al_git_stash_show(al_call_repo(call), index_of(p), al_call_max_bytes(call),
                              al_call_budget(call), &output, err);

    if (r < 0)
        return r;
    al_call_shape_text(call, &output, "", result);
    return 0;
}

static int change(struct al_call *call, const void *p, struct al_result *result,
                  struct al_error *err)
{
    const struct stash_args *args = p;
    const struct al_stash_options options = options_of(args);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_stash(al_call_repo(call), &options, al_call_max_bytes(call),
                         al_call_budget(call), &output, err);

    if (r < 0)
        return r;
    if (args->action == CLEAR) /* of which git says nothing */
        al_str_adds(&output.out.out, "Cleared all stashes");
    al_call_shape_text(call, &output, "", result);
    return 0;
}

static const struct al_operation operations[] = {
    { "push", is_push, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, change,
      AL_ASKS_BY_EFFECTS },
    { "pop", is_pop, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, change,
      AL_ASKS_BY_EFFECTS },
    { "apply", is_apply, AL_WRITES_INDEX | AL_WRITES_WORKTREE, change, AL_ASKS_BY_EFFECTS },
    { "drop", is_drop, AL_WRITES_REFS | AL_DISCARDS_WORK, change, AL_ASKS_BY_EFFECTS },
    { "list", is_list, AL_READS, list, AL_ASKS_BY_EFFECTS },
    { "show", is_show, AL_READS, show, AL_ASKS_BY_EFFECTS },
    { "clear", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, change, AL_ASKS_BY_EFFECTS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    static const char *const verbs[] = {
        [POP] = "Pop", [APPLY] = "Apply", [DROP] = "Drop", [SHOW] = "Show"
    };
    const struct stash_args *args = p;

    (void)op;
    if (args->action == PUSH) {
        al_str_adds(out, "Stash changes");
        if (args->message)
            al_str_addf(out, ": %s", args->message);
    } else if (args->action == LIST) {
        al_str_adds(out, "List stashes");
    } else if (args->action == CLEAR) {
        al_str_adds(out, "Clear ALL stashes (WARNING: destructive)");
    } else {
        al_str_addf(out, "%s stash@{%" PRId64 "}", verbs[args->action], index_of(args));
    }
}

const struct al_tool al_tool_git_stash = {
    .name = "git_stash",
    .title = "Stash changes",
    .about = "Put uncommitted changes aside (push), bring them back (pop, apply), list, show, drop "
             "or clear.",
    .params = params,
    .nparams = AL_COUNT(params),
    AL_GIT_COMMON_OFFSETS(struct stash_args),
    .operations = operations,
    .noperations = AL_COUNT(operations),
    .authorize = authorize,
    .concerns = concerns,
    .preview = preview,
    .summarize = summarize,
};
