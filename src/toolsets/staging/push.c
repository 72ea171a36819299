// SPDX-License-Identifier: Apache-2.0
/* git_push: a staged commit leaves the sandbox, after a user approved it. */
#include "staging/push/push.h"
#include "gitops/landing/landing.h"
#include "gitops/repo/repo.h"

#include "staging/staged.h"
#include "staging/staging.h"
#include "tool/call.h"
#include "tool/resolved.h"
#include "toolsets/staging/staging.h"
#include "toolsets/staging/target_args.h"

#define ID_MAX_BYTES 64

struct push_args {
    const char *commit_id;
    struct al_target_args target;
};

static const struct al_param params[] = {
    AL_STRING_AS(struct push_args, commit_id, "commitId", "The staged commit: its id or 6 digits.",
                 .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .min_bytes = 1,
                 .max_bytes = ID_MAX_BYTES),
    AL_OBJECT(struct push_args, target, "Where to. A branch that is missing is created.",
              al_target_object, .flags = AL_PARAM_REQUIRED | AL_PARAM_DEFAULT_TARGET),
};

static int check(const void *p, struct al_error *err)
{
    return al_target_args_check(&((const struct push_args *)p)->target, "target", err);
}

static int open_repository(struct al_call *call, const void *p, struct al_repo **ret_repo,
                           struct al_error *err)
{
    const struct push_args *args = p;
    const struct al_target target = al_target_from_args(call, &args->target);
    struct al_repo *repo = NULL;
    int r = al_target_args_open(call, &args->target, false, &repo, err);

    if (r == 0)
        r = al_target_go_to_branch(&target, al_call_budget(call), &repo, err);
    if (r < 0)
        al_repo_free(repo);
    else
        *ret_repo = repo;
    return r;
}

static void free_push(void *push)
{
    al_push_free(push);
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct push_args *args = p;
    const struct al_target target = al_target_from_args(call, &args->target);
    struct al_push *push = NULL;
    int r = al_push_plan(al_call_session(call)->staging, args->commit_id, &target,
                         al_call_repo(call), al_call_budget(call), &push, err);

    if (r < 0)
        return r;
    al_call_set_tool_data(call, push, free_push);
    al_resolved_add(out, AL_RESOLVED_COMMIT, push->commit);
    al_resolved_add(out, AL_RESOLVED_BRANCH, push->ref);
    al_resolved_add(out, "target", push->key);
    al_resolved_add(out, "head", push->head);
    al_resolved_add(out, "parent", push->parent);
    al_resolved_add(out, "author", push->author);
    return 0;
}

static int policy_paths(struct al_call *call, const void *p, struct al_strv *out,
                        struct al_error *err)
{
    (void)p;
    (void)err;
    al_push_paths(al_call_tool_data(call), out);
    return 0;
}

static int preview(struct al_call *call, const void *p, struct al_str *out, struct al_error *err)
{
    al_auto(al_push_result_clear) struct al_push_result result = { .message = NULL };
    struct al_push *push = al_call_tool_data(call);
    char *commit = NULL;
    size_t framed = 0;
    int r;

    (void)p;
    if (al_push_conflict(push, &result)) {
        al_call_skip_approval(call);
        return 0;
    }
    r = al_push_preview(push, al_call_budget(call), out, &framed, &commit, err);
    if (r < 0)
        return r;
    al_call_frame(call, framed);
    al_call_set_draft(call, commit);
    return 0;
}

static json_t *conflict_of(const struct al_push_result *result)
{
    json_t *conflict = al_json_object();

    al_json_set(conflict, "reason",
                al_json_string(result->is_other ? "other" : "non-fast-forward"));
    al_json_set(conflict, "message", al_json_string(result->message));
    if (result->target_head)
        al_json_set(conflict, "targetHead", al_json_string(result->target_head));
    return conflict;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    al_auto(al_push_result_clear) struct al_push_result pushed = { .message = NULL };
    struct al_push *push = al_call_tool_data(call);
    int r = al_push_run(push, al_call_draft(call), al_call_budget(call), &pushed, err);

    (void)p;
    if (r < 0)
        return r;
    al_result_set(result, "status", al_json_string(pushed.is_conflict ? "conflict" : "success"));
    if (pushed.is_conflict)
        al_result_set(result, "conflict", conflict_of(&pushed));
    else
        al_result_set(result, "commitSha", al_json_string(pushed.commit));
    result->not_done = pushed.is_conflict;
    /* They have to be merged with what is new, and staged again: a staged commit never changes. */
    if (pushed.is_conflict && !pushed.is_other)
        al_result_note(result, "Nothing was pushed. To go on: git_pull the files from there, "
                               "resolve what conflicts, then git_stage and git_push them again");
    for (size_t i = 0; i < pushed.notes.count; i++)
        al_result_note(result, pushed.notes.items[i]);
    return 0;
}

/* Its checkpoint has the references alone, so the working tree must not be brought along. */
static int execute_elsewhere(struct al_call *call, const void *p, struct al_result *result,
                             struct al_error *err)
{
    if (((const struct al_push *)al_call_tool_data(call))->is_checked_out)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the branch was checked out meanwhile, so nothing was pushed; call "
                            "git_push again");
    return execute(call, p, result, err);
}

static bool is_remote(const struct al_call *call, const void *p)
{
    return al_target_from_args(call, &((const struct push_args *)p)->target).type ==
           AL_TARGET_GITHUB;
}

/* Whether there is no working tree on the branch. */
static bool is_elsewhere(const struct al_call *call, const void *p)
{
    const struct al_target target =
        al_target_from_args(call, &((const struct push_args *)p)->target);
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *ref = NULL;

    if (target.type == AL_TARGET_LOCAL_BARE)
        return true;
    return repo && target.branch && al_target_branch(&target, repo, &ref, NULL) == 0 &&
           !al_landing_is_checked_out(repo, ref);
}

#define ON_LOCAL (AL_WRITES_REFS | AL_WRITES_INDEX | AL_WRITES_WORKTREE)

static const struct al_operation operations[] = {
    { "push", is_remote, AL_USES_NETWORK | AL_LEAVES_MACHINE, execute, AL_ASKS_ALWAYS },
    { "push", is_elsewhere, AL_WRITES_REFS, execute_elsewhere, AL_ASKS_ALWAYS },
    { "push", NULL, ON_LOCAL, execute, AL_ASKS_ALWAYS },
};

/* For a call that fails before its target is looked at. */
static void summarize(const void *p, struct al_str *out)
{
    const struct push_args *args = p;

    al_str_addf(out, "Push staged commit %s", args->commit_id);
}

static void summarize_resolved(struct al_call *call, const void *p, struct al_str *out)
{
    (void)p;
    al_push_summary(al_call_tool_data(call), out);
}

/* Whether a shell takes the text as one word, and no command for an option. */
static bool is_word(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_./:@%+=,-";

    return *text && *text != '-' && !text[strspn(text, plain)];
}

/* `airlock staging push` takes a target in its words, and by itself "local:." */
static bool command_line(const struct al_call *call, const void *p, struct al_str *out)
{
    const struct push_args *args = p;
    const struct al_target target = al_target_from_args(call, &args->target);
    const char *place = target.type == AL_TARGET_GITHUB ? target.repo : target.path;
    const char *options = al_call_session(call)->options;

    if (!options || !is_word(args->commit_id) || !is_word(place) ||
        (target.branch && !is_word(target.branch)))
        return false;
    al_str_addf(out, "airlock staging push %s", args->commit_id);
    if (target.type != AL_TARGET_LOCAL || strcmp(place, ".") != 0 || target.branch)
        al_str_addf(out, " --target %s:%s", al_target_type_name(target.type), place);
    if (target.branch)
        al_str_addf(out, " --branch %s", target.branch);
    al_str_adds(out, options);
    return true;
}

static const char *const always_by[] = { "target", AL_RESOLVED_BRANCH, NULL };

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": ["success", "conflict"]},
        "commitSha": {"type": "string"},
        "conflict": {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "enum": ["non-fast-forward", "other"]},
                "message": {"type": "string"},
                "targetHead": {"type": "string"}
            },
            "required": ["reason", "message"]
        }
    },
    "required": ["status"]
});
/* clang-format on */

const struct al_tool al_tool_staging_push = {
    .name = "git_push",
    .title = "Push a staged commit",
    .about = "Push a staged commit to a branch of a repository. The user is asked first.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct push_args),
    .runs_at_top = true,
    .check = check,
    .open_repository = open_repository,
    .resolve = resolve,
    .policy_paths = policy_paths,
    .preview = preview,
    .command_line = command_line,
    .always_by = always_by,
    .summarize = summarize,
    .summarize_resolved = summarize_resolved,
    .output_schema = output_schema,
};
