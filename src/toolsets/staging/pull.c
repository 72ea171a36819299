// SPDX-License-Identifier: Apache-2.0
/* git_pull: bring files of a branch into the sandbox. */
#include "staging/pull/pull.h"

#include <stdlib.h>

#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "guard/text.h"
#include "staging/staging.h"
#include "tool/call.h"
#include "tool/resolved.h"
#include "toolsets/staging/staging.h"
#include "toolsets/staging/target_args.h"

#define HEADS "refs/heads/"

struct pull_args {
    struct al_target_args source;
    struct al_strv paths;
    int dest_zone;
};

static const struct al_choice zones[] = {
    { "workspace", 0 },
    { NULL, 0 },
};

static const struct al_param params[] = {
    AL_OBJECT(struct pull_args, source, "Where from.", al_target_object,
              .flags = AL_PARAM_REQUIRED | AL_PARAM_DEFAULT_TARGET),
    AL_STRINGS(struct pull_args, paths,
               "Files, directories (\"docs/\") or patterns. Default: what was pulled before.",
               .flags = AL_PARAM_NAME, .min = 1, .max = AL_STAGING_PATHS_MAX,
               .max_bytes = AL_STAGING_PATH_MAX_BYTES),
    AL_CHOICE_AS(struct pull_args, dest_zone, "destZone", NULL, .choices = zones),
};

static int check(const void *p, struct al_error *err)
{
    return al_target_args_check(&((const struct pull_args *)p)->source, "source", err);
}

static int open_repository(struct al_call *call, const void *p, struct al_repo **ret_repo,
                           struct al_error *err)
{
    return al_target_args_open(call, &((const struct pull_args *)p)->source, false, ret_repo, err);
}

static int unknown_branch(const struct al_repo *repo, const char *branch, const char *shown,
                          struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(branch + strlen(HEADS));

    if (al_ref_exists(&repo->at, branch))
        return al_error_set(err, AL_ERR_EXECUTION, "branch '%s' of %s cannot be read", safe, shown);
    (void)al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                            "%s has no branch '%s', or nothing was committed to it; git_branches "
                            "lists them",
                            shown, safe);
    if (err)
        err->reason = "not_found";
    return AL_ERR_EXECUTION;
}

/* The branch to read.  The default target's may not exist before the first push makes it, from the
 * branch of HEAD: until then that one is read. */
static int find_branch(struct al_call *call, const struct al_target_args *source, char **ret_branch,
                       struct al_error *err)
{
    struct al_target target = al_target_from_args(call, source);
    const struct al_repo *repo = al_call_repo(call);
    int r = al_target_branch(&target, repo, ret_branch, err);

    if (r < 0 || source->given || !target.branch || al_ref_exists(&repo->at, *ret_branch))
        return r;
    free(*ret_branch);
    *ret_branch = NULL;
    target.branch = NULL;
    return al_target_branch(&target, repo, ret_branch, err);
}

/* The branch and its commit, so that all of a call sees the same files. */
static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct pull_args *args = p;
    const struct al_target target = al_target_from_args(call, &args->source);
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *shown = al_target_shown(&target);
    al_auto(al_freep) char *branch = NULL;
    al_auto(al_freep) char *commit = NULL;
    int r = find_branch(call, &args->source, &branch, err);

    if (r < 0)
        return r;
    commit = al_ref_oid(&repo->at, branch);
    if (!*commit)
        return unknown_branch(repo, branch, shown, err);
    al_resolved_add(out, AL_RESOLVED_BRANCH, branch);
    al_resolved_add(out, AL_RESOLVED_COMMIT, commit);
    return 0;
}

/* Strings as an array, as many as fit into `left` bytes. */
static json_t *strings(const struct al_strv *items, size_t *left, bool *ret_truncated)
{
    json_t *array = al_json_array();

    for (size_t i = 0; i < items->count; i++) {
        size_t len = strlen(items->items[i]) + 3; /* quotes and a comma */

        if (len > *left) {
            *ret_truncated = true;
            break;
        }
        *left -= len;
        al_json_append(array, al_json_string(items->items[i]));
    }
    return array;
}

static void set_result(struct al_call *call, const struct al_pull_result *pulled,
                       struct al_result *result)
{
    size_t left = al_call_max_bytes(call);
    json_t *conflicts = strings(&pulled->conflicts, &left, &result->truncated);

    al_result_set(result, "pulled", strings(&pulled->pulled, &left, &result->truncated));
    al_result_set(result, "conflicts", conflicts);
    for (size_t i = 0; i < pulled->notes.count; i++)
        al_result_note(result, pulled->notes.items[i]);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct pull_args *args = p;
    struct al_staging *staging = al_call_session(call)->staging;
    const struct al_target target = al_target_from_args(call, &args->source);
    const char *branch = al_call_resolved(call, AL_RESOLVED_BRANCH);
    al_auto(al_pull_result_clear) struct al_pull_result pulled = AL_PULL_RESULT_INIT;
    al_auto(al_freep) char *key = al_target_key(&target, al_call_repo(call));
    al_auto(al_freep) char *shown = al_target_shown(&target);
    al_auto(al_freep) char *name = al_text_sanitize_line(branch + strlen(HEADS));
    al_auto(al_freep) char *where = al_asprintf("%s (branch: %s)", shown, name);
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

    if (r == 0)
        set_result(call, &pulled, result);
    return r;
}

static bool is_local(const struct al_call *call, const void *p)
{
    return al_target_from_args(call, &((const struct pull_args *)p)->source).type !=
           AL_TARGET_GITHUB;
}

static const struct al_operation operations[] = {
    { "pull", is_local, AL_READS | AL_WRITES_FILES, execute, AL_ASKS_NEVER },
    { "pull", NULL, AL_READS | AL_WRITES_FILES | AL_USES_NETWORK, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    const struct pull_args *args = p;

    al_str_adds(out, "Pull files into the sandbox");
    if (args->source.given && args->source.path)
        al_str_addf(out, " from %s", args->source.path);
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "pulled": {"type": "array", "items": {"type": "string"}},
        "conflicts": {"type": "array", "items": {"type": "string"}}
    },
    "required": ["pulled", "conflicts"]
});
/* clang-format on */

const struct al_tool al_tool_staging_pull = {
    .name = "git_pull",
    .title = "Pull into the sandbox",
    .about = "Bring files of a branch into the sandbox and merge them with what is there. Files in "
             "conflicts need a decision; most have markers.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct pull_args),
    .check = check,
    .open_repository = open_repository,
    .resolve = resolve,
    .summarize = summarize,
    .output_schema = output_schema,
};
