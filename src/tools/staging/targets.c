// SPDX-License-Identifier: Apache-2.0
/* The toolset `staging`: git_push, git_pull and git_branches, which have a target, and git_merge.
 */
#include "tools/private.h"

#include "base/base64.h"
#include "git/reading/read_object.h"
#include "git/refs.h"
#include "guard/root.h"
#include "staging/pull/pull.h"
#include "staging/push/push.h"
#include "staging/staging.h"
#include "verbs/landing/landing.h"
#include "verbs/transport/mirror.h"

/* The argument that names a target: `target` of git_push, `source` of git_pull. */

#define PATH_MAX_BYTES 4096
#define NAME_MAX_BYTES 1024

struct target_call {
    struct al_target target; /* of git_pull: "source" */
    const char *commit_id;
    struct al_strv paths;
    int dest_zone;
};

static const struct al_choice types[] = {
    { "local", AL_TARGET_LOCAL },
    { "local-bare", AL_TARGET_LOCAL_BARE },
    { "github", AL_TARGET_GITHUB },
    { NULL, 0 },
};

static const struct al_param target_rows[] = {
    AL_CHOICE(struct al_target, type, NULL, .choices = types, .flags = AL_PARAM_REQUIRED),
    AL_STRING(struct al_target, path, "Of a local repository, such as \".\".",
              .flags = AL_PARAM_NAME, .max_bytes = PATH_MAX_BYTES),
    AL_STRING(struct al_target, repo, "On GitHub: user/name.", .flags = AL_PARAM_NAME,
              .max_bytes = NAME_MAX_BYTES),
    AL_STRING(struct al_target, branch, "Default: the current one.", .flags = AL_PARAM_BRANCH,
              .max_bytes = NAME_MAX_BYTES),
};

static const struct al_object target_object = { target_rows, AL_COUNT(target_rows),
                                                sizeof(struct al_target) };

/* The target that the arguments name, else the default target of the session.  Borrowed. */
static const struct al_target *target_of(const struct al_call *call)
{
    const struct target_call *args = al_call_args(call);
    const struct al_staging *staging = al_call_session(call)->staging;

    return args->target.given ? &args->target : al_staging_options(staging)->default_target;
}

static int check_named(void *p, const char *param, struct al_error *err)
{
    const struct target_call *args = p;

    return args->target.given ? al_target_check(&args->target, param, err) : 0;
}

static int check(void *p, struct al_error *err)
{
    return check_named(p, "target", err);
}

/* Nothing of a target on GitHub is fetched for the names of its branches. */
static int open_target(struct al_call *call, struct al_repo **ret_repo, struct al_error *err)
{
    const bool only_names = al_call_tool(call) == &al_tool_staging_branches;
    const struct al_session *session = al_call_session(call);
    const struct al_target *target = target_of(call);

    if (target->type == AL_TARGET_GITHUB)
        return al_target_open_github(
            session->git,
            &(struct al_github_request){
                .target = target,
                .base_url = al_staging_options(session->staging)->github_base_url,
                .progress = al_call_input(call)->progress,
                .only_names = only_names,
            },
            al_call_budget(call), ret_repo, err);
    return al_target_open(session->git, session->roots->items[0].path, target, al_call_budget(call),
                          ret_repo, err);
}

static bool is_remote(const struct al_call *call, const void *p)
{
    (void)p;
    return target_of(call)->type == AL_TARGET_GITHUB;
}

static bool is_local(const struct al_call *call, const void *p)
{
    return !is_remote(call, p);
}

/* --- git_push --- */

#define ID_MAX_BYTES 64

static const struct al_param push_params[] = {
    AL_STRING_AS(
        struct target_call, commit_id, "commitId", "The staged commit: its id or 6 digits.",
        .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .min_bytes = 1, .max_bytes = ID_MAX_BYTES),
    AL_OBJECT(struct target_call, target, "Where to. A branch that is missing is created.",
              target_object, .flags = AL_PARAM_REQUIRED | AL_PARAM_DEFAULT_TARGET),
};

static int open_for_push(struct al_call *call, struct al_repo **ret_repo, struct al_error *err)
{
    const struct al_target *target = target_of(call);
    struct al_repo *repo = NULL;
    int r = open_target(call, &repo, err);

    if (r == 0)
        r = al_target_go_to_branch(target, &repo, err);
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

static int resolve_push(struct al_call *call, struct al_error *err)
{
    const struct target_call *args = al_call_args(call);
    const struct al_target *target = target_of(call);
    struct al_push *push = NULL;
    int r = al_push_plan(al_call_session(call)->staging, args->commit_id, target,
                         al_call_repo(call), &push, err);

    if (r < 0)
        return r;
    al_call_set_tool_data(call, push, free_push);
    al_call_resolve(call, AL_RESOLVED_COMMIT, push->commit);
    al_call_resolve(call, AL_RESOLVED_BRANCH, push->ref);
    al_call_resolve(call, "target", push->key);
    al_call_resolve(call, "head", push->head);
    al_call_resolve(call, "parent", push->parent);
    al_call_resolve(call, "author", push->author);
    for (size_t i = 0; i < push->staged.count; i++)
        al_call_resolve(call, AL_RESOLVED_PATH, push->staged.files[i].path);
    return 0;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    al_auto(al_push_result_clear) struct al_push_result result = { .message = NULL };
    struct al_push *push = al_call_tool_data(call);
    struct al_plan *plan = al_call_plan(call);

    if (al_push_conflict(push, &result)) {
        plan->skips_approval = true;
        return 0;
    }
    free(al_take(&plan->draft));
    return al_push_preview(push, out, &plan->framed_len, &plan->draft, err);
}

static int push(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_push_result_clear) struct al_push_result pushed = { .message = NULL };
    struct al_push *push = al_call_tool_data(call);
    int r = al_push_run(push, al_call_plan(call)->draft, &pushed, err);

    if (r < 0)
        return r;
    al_result_set(result, "status", al_json_string(pushed.is_conflict ? "conflict" : "success"));
    if (pushed.is_conflict)
        al_result_set(result, "conflict",
                      json_pack("{s:s, s:o, s:s*}", "reason",
                                pushed.is_other ? "other" : "non-fast-forward", "message",
                                al_json_string(pushed.message), "targetHead", pushed.target_head));
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
static int execute_elsewhere(struct al_call *call, struct al_result *result, struct al_error *err)
{
    if (((const struct al_push *)al_call_tool_data(call))->is_checked_out)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the branch was checked out meanwhile, so nothing was pushed; call "
                            "git_push again");
    return push(call, result, err);
}

/* Whether there is no working tree on the branch. */
static bool is_elsewhere(const struct al_call *call, const void *p)
{
    const struct al_target *target = target_of(call);
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *ref = NULL;

    (void)p;
    if (target->type == AL_TARGET_LOCAL_BARE)
        return true;
    return repo && target->branch && al_target_branch(target, repo, &ref, NULL) == 0 &&
           !al_landing_is_checked_out(repo, ref);
}

#define ON_LOCAL (AL_WRITES_REFS | AL_WRITES_INDEX | AL_WRITES_WORKTREE)

static const struct al_operation push_operations[] = {
    { "push", is_remote, AL_USES_NETWORK | AL_LEAVES_MACHINE, push, AL_ASKS_ALWAYS },
    { "push", is_elsewhere, AL_WRITES_REFS, execute_elsewhere, AL_ASKS_ALWAYS },
    { "push", NULL, ON_LOCAL, push, AL_ASKS_ALWAYS },
};

static void summarize_push(const struct al_call *call, struct al_str *out)
{
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
static bool command_line(const struct al_call *call, struct al_str *out)
{
    const struct target_call *args = al_call_args(call);
    const struct al_target *target = target_of(call);
    const char *place = target->type == AL_TARGET_GITHUB ? target->repo : target->path;
    const char *options = al_call_session(call)->options;

    if (!options || !is_word(args->commit_id) || !is_word(place) ||
        (target->branch && !is_word(target->branch)))
        return false;
    al_str_addf(out, "airlock staging push %s", args->commit_id);
    if (target->type != AL_TARGET_LOCAL || strcmp(place, ".") != 0 || target->branch)
        al_str_addf(out, " --target %s:%s", al_target_type_name(target->type), place);
    if (target->branch)
        al_str_addf(out, " --branch %s", target->branch);
    al_str_adds(out, options);
    return true;
}

static const char *const always_by[] = { "target", AL_RESOLVED_BRANCH, NULL };

/* clang-format off */
static const char push_schema[] = AL_JSON({
    "status": "success|conflict", "commitSha?": "",
    "conflict?": {"reason": "non-fast-forward|other", "message": "", "targetHead?": ""}
});
/* clang-format on */

const struct al_tool al_tool_staging_push = {
    .name = "git_push",
    .title = "Push a staged commit",
    .about = "Push a staged commit to a branch of a repository. The user is asked first.",
    AL_TOOL_ROWS(push_params, push_operations),
    .args_size = sizeof(struct target_call),
    .runs_at_top = true,
    .check = check,
    .open_repository = open_for_push,
    .resolve = resolve_push,
    .policy_paths = al_call_resolved_paths,
    .preview = preview,
    .command_line = command_line,
    .always_by = always_by,
    .summary = "Push staged commit {commitId}",
    .summarize = summarize_push,
    .output_schema = push_schema,
};

/* --- git_pull --- */

static const struct al_choice zones[] = {
    { "workspace", 0 },
    { NULL, 0 },
};

static const struct al_param pull_params[] = {
    AL_ROW_OF(struct target_call, target.given, "source", bool, AL_TYPE_OBJECT, "Where from.",
              .object = &target_object, .flags = AL_PARAM_REQUIRED | AL_PARAM_DEFAULT_TARGET),
    AL_STRINGS(struct target_call, paths,
               "Files, directories (\"docs/\") or patterns. Default: what was pulled before.",
               .flags = AL_PARAM_NAME, .min = 1, .max = AL_STAGING_PATHS_MAX,
               .max_bytes = AL_STAGING_PATH_MAX_BYTES),
    AL_CHOICE_AS(struct target_call, dest_zone, "destZone", NULL, .choices = zones),
};

static int check_source(void *p, struct al_error *err)
{
    return check_named(p, "source", err);
}

/* The branch to read.  The default target's may not exist before the first push makes it, from the
 * branch of HEAD: until then that one is read. */
static int find_branch(struct al_call *call, const struct target_call *args, char **ret_branch,
                       struct al_error *err)
{
    struct al_target target = *target_of(call);
    const struct al_repo *repo = al_call_repo(call);
    int r = al_target_branch(&target, repo, ret_branch, err);

    if (r < 0 || args->target.given || !target.branch || al_ref_exists(&repo->at, *ret_branch))
        return r;
    free(*ret_branch);
    *ret_branch = NULL;
    target.branch = NULL;
    return al_target_branch(&target, repo, ret_branch, err);
}

/* The branch and its commit, so that all of a call sees the same files. */
static int resolve_pull(struct al_call *call, struct al_error *err)
{
    const struct target_call *args = al_call_args(call);
    const struct al_target *target = target_of(call);
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *shown = al_target_shown(target);
    al_auto(al_freep) char *branch = NULL;
    al_auto(al_freep) char *commit = NULL, *safe = NULL;
    int r = find_branch(call, args, &branch, err);

    if (r < 0)
        return r;
    commit = al_ref_oid(&repo->at, branch);
    safe = al_text_sanitize_line(branch + strlen(AL_HEADS));
    if (!*commit && al_ref_exists(&repo->at, branch))
        return al_error_set(err, AL_ERR_EXECUTION, "branch '%s' of %s cannot be read", safe, shown);
    if (!*commit)
        return al_error_reason(
            al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                              "%s has no branch '%s', or nothing was committed to it; git_branches "
                              "lists them",
                              shown, safe),
            err, "not_found");
    al_call_resolve(call, AL_RESOLVED_BRANCH, branch);
    al_call_resolve(call, AL_RESOLVED_COMMIT, commit);
    return 0;
}

static int pull(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct target_call *args = al_call_args(call);
    struct al_staging *staging = al_call_session(call)->staging;
    const struct al_target *target = target_of(call);
    const char *branch = al_call_resolved(call, AL_RESOLVED_BRANCH);
    al_auto(al_pull_result_clear) struct al_pull_result pulled = AL_PULL_RESULT_INIT;
    al_auto(al_freep) char *key = al_target_key(target, al_call_repo(call));
    al_auto(al_freep) char *shown = al_target_shown(target);
    al_auto(al_freep) char *name = al_text_sanitize_line(branch + strlen(AL_HEADS));
    al_auto(al_freep) char *where = al_asprintf("%s (branch: %s)", shown, name);
    size_t room = al_call_max_bytes(call);
    json_t *names, *conflicts;
    int r = al_pull(staging,
                    &(struct al_pull_request){
                        .repo = al_call_repo(call),
                        .target = key,
                        .branch = branch,
                        .commit = al_call_resolved(call, AL_RESOLVED_COMMIT),
                        .where = where,
                        .paths = &args->paths,
                        .everything = al_staging_options(staging)->default_target != NULL,
                    },
                    al_call_budget(call), &pulled, err);

    if (r < 0)
        return r;
    al_result_set(result, "pulled", names = al_json_array());
    al_result_set(result, "conflicts", conflicts = al_json_array());
    al_workflow_add_names(&pulled.conflicts, conflicts, &room, &result->truncated);
    al_workflow_add_names(&pulled.pulled, names, &room, &result->truncated);
    for (size_t i = 0; i < pulled.notes.count; i++)
        al_result_note(result, pulled.notes.items[i]);
    return 0;
}

static const struct al_operation pull_operations[] = {
    { "pull", is_local, AL_READS | AL_WRITES_FILES, pull, AL_ASKS_NEVER },
    { "pull", NULL, AL_READS | AL_WRITES_FILES | AL_USES_NETWORK, pull, AL_ASKS_NEVER },
};

static void summarize(const struct al_call *call, struct al_str *out)
{
    const struct target_call *args = al_call_args(call);

    al_str_adds(out, "Pull files into the sandbox");
    if (args->target.given && args->target.path)
        al_str_addf(out, " from %s", args->target.path);
}

/* clang-format off */
static const char pull_schema[] = AL_JSON({"pulled": [""], "conflicts": [""]});
/* clang-format on */

const struct al_tool al_tool_staging_pull = {
    .name = "git_pull",
    .title = "Pull into the sandbox",
    .about = "Bring files of a branch into the sandbox and merge them with what is there. Files in "
             "conflicts need a decision; most have markers.",
    AL_TOOL_ROWS(pull_params, pull_operations),
    .args_size = sizeof(struct target_call),
    .check = check_source,
    .open_repository = open_target,
    .resolve = resolve_pull,
    .summarize = summarize,
    .output_schema = pull_schema,
};

/* --- git_branches --- */

static const struct al_param branches_params[] = {
    AL_OBJECT(struct target_call, target, "The repository.", target_object,
              .flags = AL_PARAM_REQUIRED | AL_PARAM_DEFAULT_TARGET),
};

static bool take_branch(void *payload, const struct al_listed_ref *ref)
{
    al_strv_add(payload, ref->name);
    return true;
}

static int list_branches(struct al_call *call, struct al_result *result, struct al_error *err)
{
    static const char mark[] = "ref: " AL_HEADS;
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *head = is_remote(call, NULL) ? NULL : al_ref_read_head(&repo->at);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    size_t room = al_call_max_bytes(call);
    bool is_cut = false;
    json_t *branches;
    int r = is_remote(call, NULL) ? al_mirror_branches(repo->mirror, &names, &is_cut, err)
                                  : al_git_read_refs(repo, &(struct al_refs_query){ .ids = true },
                                                     take_branch, &names, err);

    if (r < 0)
        return r;
    al_result_set(result, "branches", branches = al_json_array());
    al_workflow_add_names(&names, branches, &room, &result->truncated);
    result->truncated |= is_cut;
    if (head && al_starts_with(head, mark)) /* it need not exist */
        al_result_set(result, "current", al_json_string(head + strlen(mark)));
    return 0;
}

static const struct al_operation branches_operations[] = {
    { "branches", is_local, AL_READS, list_branches, AL_ASKS_NEVER },
    { "branches", NULL, AL_READS | AL_USES_NETWORK, list_branches, AL_ASKS_NEVER },
};

/* clang-format off */
static const char branches_schema[] = AL_JSON({"branches": [""], "current?": ""});
/* clang-format on */

const struct al_tool al_tool_staging_branches = {
    .name = "git_branches",
    .title = "List branches",
    .about = "List the branches of a repository, and the current one.",
    AL_TOOL_ROWS(branches_params, branches_operations),
    .args_size = sizeof(struct target_call),
    .check = check,
    .open_repository = open_target,
    .output_schema = branches_schema,
};

/* --- git_merge --- */

/* All versions of a file fit into one message of a client. */
#define VERSION_MAX_BYTES (10u << 20)

struct merge_args {
    const char *path, *base, *ours, *theirs;
    int encoding; /* enum al_encoding */
};

static const struct al_param merge_params[] = {
    AL_STRING(struct merge_args, path, "The file, for context.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .max_bytes = AL_STAGING_PATH_MAX_BYTES),
    AL_STRING(struct merge_args, base, "Content of the common ancestor.",
              .max_bytes = VERSION_MAX_BYTES),
    AL_STRING(struct merge_args, ours, "Content in the sandbox.", .flags = AL_PARAM_REQUIRED,
              .max_bytes = VERSION_MAX_BYTES),
    AL_STRING(struct merge_args, theirs, "Incoming content.", .flags = AL_PARAM_REQUIRED,
              .max_bytes = VERSION_MAX_BYTES),
    AL_CHOICE(struct merge_args, encoding, "Of all contents; base64 for binary files.",
              .choices = al_encodings),
};

/* The advice about a conflict that has no markers; NULL: there are some, or none are needed. */
static const char *note_of(enum al_text_merge outcome)
{
    if (outcome == AL_MERGE_BINARY)
        return "the content is binary and changed on both sides: this is ours, choose one of them";
    if (outcome == AL_MERGE_TOO_LARGE)
        return "the content is too large to be merged: this is ours, choose one of them";
    return NULL;
}

static int merge(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct merge_args *args = al_call_args(call);
    al_auto(al_str_clear) struct al_str base = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str ours = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str theirs = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT, encoded = AL_STR_INIT;
    const struct al_str *text;
    const struct al_merge_sides sides = { .base = args->base ? &base : NULL,
                                          .ours = &ours,
                                          .theirs = &theirs };
    enum al_text_merge outcome = AL_MERGE_CLEAN;
    int r = al_content_decode("ours", args->ours, args->encoding, &ours, err);

    if (r == 0)
        r = al_content_decode("theirs", args->theirs, args->encoding, &theirs, err);
    if (r == 0 && args->base)
        r = al_content_decode("base", args->base, args->encoding, &base, err);
    if (r == 0)
        r = al_merge(al_call_session(call)->staging, &sides, al_call_budget(call), &outcome,
                     &content, err);
    if (r < 0)
        return r;
    text = note_of(outcome) ? &ours : &content;
    if (note_of(outcome))
        al_result_note(result, note_of(outcome));
    al_result_set(result, "status",
                  al_json_string(outcome == AL_MERGE_CLEAN ? "clean" : "conflict"));
    if (args->encoding != AL_UTF_8) {
        al_base64_encode(text->buf, text->len, &encoded);
        text = &encoded;
    }
    al_result_set(result, "content", al_json_stringn(text->buf, text->len));
    if (args->encoding != AL_UTF_8)
        al_result_set(result, "encoding", al_json_string("base64"));
    return 0;
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct merge_args *args = al_call_args(call);
    al_auto(al_freep) char *given = args->path[0] == '/'
                                        ? al_strdup(args->path)
                                        : al_asprintf(AL_SANDBOX_ROOT "/%s", args->path);
    al_auto(al_freep) char *path = NULL;

    return al_sandbox_path(given, &path, err);
}

/* clang-format off */
static const char merge_schema[] = AL_JSON({
    "status": "clean|conflict", "content": "", "encoding?": "base64"
});
/* clang-format on */

const struct al_tool al_tool_staging_merge = {
    .name = "git_merge",
    .title = "Merge versions of a file",
    .about = "Merge two versions of a file line by line and return the result, with markers where "
             "they conflict. Writes nothing.",
    AL_TOOL_ONE(merge_params, "merge", NULL, AL_READS, merge, AL_ASKS_NEVER),
    .args_size = sizeof(struct merge_args),
    .open_repository = al_call_without_repository,
    .authorize = authorize,
    .output_schema = merge_schema,
};
