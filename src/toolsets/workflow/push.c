// SPDX-License-Identifier: Apache-2.0
/* git_push: push a branch to the branch of the same name at a remote. */
#include "gitops/transport/push.h"
#include "gitops/refs.h"
#include "gitops/repo/remotes.h"
#include "gitops/repo/repo.h"
#include "gitops/transport/network.h"
#include "guard/text.h"
#include "tool/resolved.h"
#include "toolsets/transfer.h"
#include "toolsets/workflow/results.h"
#include "toolsets/workflow/workflow.h"

struct push_args {
    const char *remote, *branch;
    bool force, set_upstream;
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_TRANSFER_ROW_REMOTE(struct push_args),
    AL_STRING(struct push_args, branch, "Default: the current one.", .flags = AL_PARAM_BRANCH,
              .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_BOOL(struct push_args, force, "Replace what was last seen there.", .default_int = 0),
    AL_BOOL_AS(struct push_args, set_upstream, "setUpstream", "Follow the remote's branch.",
               .default_int = 0),
    AL_WORKFLOW_CWD_ROW(struct push_args),
};

AL_WHEN(is_push, struct push_args, !args->force)

static bool is_new_address(struct al_call *call, const void *p)
{
    return al_transfer_is_new(call, ((const struct push_args *)p)->remote, AL_PUSHES);
}

static int check(const void *p, struct al_error *err)
{
    const struct push_args *args = p;

    return al_transfer_check(args->remote, args->branch, err);
}

static int find_branch(struct al_call *call, const struct push_args *args, char **ret_branch,
                       struct al_error *err)
{
    al_auto(al_freep) char *ref = NULL;
    int r = 0;

    if (args->branch)
        *ret_branch = al_strdup(args->branch);
    else
        r = al_transfer_current_branch(call, ret_branch, err);
    if (r < 0)
        return r;
    ref = al_asprintf("refs/heads/%s", *ret_branch);
    if (al_ref_exists(&al_call_repo(call)->at, ref))
        return 0;
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                          "There is no branch '%s', or no commit on it", *ret_branch);
    if (err)
        err->reason = "not_found";
    free(al_take(ret_branch));
    return r;
}

/* Resolve the commit, the branch, the repositories, and the remote commit that a forced push
 * replaces. */
static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct push_args *args = p;
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_freep) char *branch = NULL;
    int r = al_transfer_authorize(call, args->remote, err);

    if (r == 0)
        r = find_branch(call, args, &branch, err);
    if (r == 0)
        r = al_remote_find(al_call_repo(call), args->remote, &remote, err);
    return r == 0 ? al_transfer_resolve_push(call, &remote, branch, false, out, err) : r;
}

/* Show the addresses, and the commits that a forced push removes. */
static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct push_args *args = p;
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    int r = al_remote_find(al_call_repo(call), args->remote, &remote, err);

    (void)op;
    if (r < 0)
        return r;
    al_transfer_preview(call, &remote, AL_PUSHES, out);
    return al_git_push_preview(al_call_repo(call), al_call_resolved(call, "commit"),
                               al_call_resolved(call, "seen"), args->force, al_call_budget(call),
                               out, err);
}

static void add_message(const struct push_args *args, const char *branch,
                        const struct al_pushed *pushed, struct al_str *text)
{
    if (pushed->up_to_date)
        al_str_addf(text, "%s/%s was up to date already", args->remote, branch);
    else if (pushed->is_new)
        al_str_addf(text, "Pushed the new branch %s to %s", branch, args->remote);
    else
        al_str_addf(text, "%s %s to %s: %s", pushed->forced ? "Force pushed" : "Pushed", branch,
                    args->remote, pushed->range);
    if (args->set_upstream)
        al_str_addf(text, "; it follows %s/%s now", args->remote, branch);
    if (pushed->from_hook.len)
        al_str_addf(text, "\nThe remote says:\n%s", pushed->from_hook.buf);
}

static int push(struct al_call *call, const struct push_args *args, const char *branch,
                struct al_pushed *pushed, struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    struct al_push_options options = { .branch = branch,
                                       .commit = al_call_resolved(call, "commit") };
    int r = al_remote_find(repo, args->remote, &remote, err);

    if (r < 0)
        return r;
    al_transfer_accept(call, &remote, AL_PUSHES);
    if (args->force)
        options.lease = al_call_resolved(call, "seen");
    for (size_t i = 0; i < remote.push_urls.count && r == 0; i++)
        r = al_transfer_push(call, &remote, remote.push_urls.items[i], &options, pushed, err);
    if (r == 0 && args->set_upstream)
        r = al_git_set_upstream(repo, branch, remote.name, al_call_budget(call), err);
    return r;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    static const char *const hooks[] = { "pre-push", NULL };
    const struct push_args *args = p;
    al_auto(al_pushed_clear) struct al_pushed pushed = AL_PUSHED_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *branch = al_call_resolved(call, "branch");
    json_t *object;
    int r = push(call, args, branch, &pushed, err);

    if (r < 0)
        return r;
    add_message(args, branch, &pushed, &text);
    result->truncated = al_text_truncate(&text, al_call_max_bytes(call));
    object = al_transfer_result(true, args->remote, text.buf);
    al_json_set(object, "branch", al_json_string(branch));
    al_json_set(object, "forced", al_json_bool(args->force));
    al_result_set_structured(result, object);
    al_workflow_skipped_hooks(call, hooks, result);
    return 0;
}

#define EFFECTS (AL_USES_NETWORK | AL_LEAVES_MACHINE | AL_WRITES_REFS | AL_WRITES_CONFIG)

static const char *const always_by[] = { "branch", "address", NULL };

static const struct al_operation operations[] = {
    { "push", is_push, EFFECTS, execute, AL_ASKS_NEVER },
    { "force", NULL, EFFECTS | AL_REWRITES_HISTORY, execute, AL_ASKS_ALWAYS },
};

static const struct al_stricter stricter[] = {
    { { "push", NULL, EFFECTS, execute, AL_ASKS_ALWAYS }, is_new_address, AL_TRANSFER_CONDITION },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct push_args *args = p;

    (void)op;
    al_str_addf(out, "%s %s to %s", args->force ? "Force push" : "Push",
                args->branch ? args->branch : "the current branch", args->remote);
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "remote": {"type": "string"},
        "message": {"type": "string"},
        "branch": {"type": "string"},
        "forced": {"type": "boolean"}
    },
    "required": ["success", "remote", "message"]
});
/* clang-format on */

const struct al_tool al_tool_workflow_push = {
    .name = "git_push",
    .title = "Push",
    .about = "Push a branch to the same name at a remote.",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct push_args),
    AL_TOOL_STRICTER(stricter),
    .moves_branch = true,
    .check = check,
    .resolve = resolve,
    .always_by = always_by,
    .preview = preview,
    .summarize = summarize,
    .output_schema = output_schema,
};
