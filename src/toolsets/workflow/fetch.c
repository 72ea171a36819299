// SPDX-License-Identifier: Apache-2.0
/* git_fetch: fetch from a remote. */
#include "gitops/transport/fetch.h"
#include "gitops/repo/remotes.h"
#include "guard/text.h"
#include "tool/ignored.h"
#include "tool/resolved.h"
#include "toolsets/transfer.h"
#include "toolsets/workflow/workflow.h"

struct fetch_args {
    const char *remote, *branch;
    bool all, prune;
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_TRANSFER_ROW_REMOTE(struct fetch_args),
    AL_STRING(struct fetch_args, branch, "Only this branch.", .flags = AL_PARAM_NAME,
              .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_BOOL(struct fetch_args, all, "From all remotes.", .default_int = 0),
    AL_BOOL(struct fetch_args, prune, "Forget branches that are gone.", .default_int = 0),
    AL_WORKFLOW_CWD_ROW(struct fetch_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct fetch_args *args = p;

    return al_transfer_check(args->remote, args->branch, err);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct fetch_args *args = p;

    return args->all ? 0 : al_transfer_authorize(call, args->remote, err);
}

static void add_remotes(struct al_call *call, const struct fetch_args *args, struct al_strv *names)
{
    if (args->all)
        al_remote_names(al_call_repo(call), names);
    else
        al_strv_add(names, args->remote);
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    (void)err;
    add_remotes(call, p, &names);
    for (size_t i = 0; i < names.count; i++)
        al_transfer_resolve(call, names.items[i], out);
    return 0;
}

static bool is_new_address(struct al_call *call, const void *p)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    add_remotes(call, p, &names);
    for (size_t i = 0; i < names.count; i++)
        if (al_transfer_is_new(call, names.items[i], AL_FETCHES))
            return true;
    return false;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r = 0;

    (void)op;
    add_remotes(call, p, &names);
    for (size_t i = 0; i < names.count && r == 0; i++) {
        al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;

        r = al_remote_find(al_call_repo(call), names.items[i], &remote, err);
        if (r == 0)
            al_transfer_preview(call, &remote, AL_FETCHES, out);
    }
    return r;
}

static int fetch_one(struct al_call *call, const char *name, const struct fetch_args *args,
                     struct al_str *text, struct al_error *err)
{
    const struct al_fetch_options options = { .branch = args->branch, .prune = args->prune };
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_str_clear) struct al_str changes = AL_STR_INIT;
    al_auto(al_freep) char *shown = al_text_sanitize_line(name);
    int r = al_remote_find(al_call_repo(call), name, &remote, err);

    if (r == 0)
        al_transfer_accept(call, &remote, AL_FETCHES);
    if (r == 0)
        r = al_transfer_fetch(call, &remote, &options, &changes, err);
    if (r < 0)
        return r;
    if (text->len)
        al_str_addc(text, '\n');
    if (changes.len)
        al_str_addf(text, "Fetched from %s:\n%s", shown, changes.buf);
    else
        al_str_addf(text, "Fetched from %s: nothing new", shown);
    return 0;
}

static int fetch_all(struct al_call *call, const struct fetch_args *args, struct al_str *text,
                     struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r = 0;

    al_remote_names(al_call_repo(call), &names);
    if (!names.count)
        return al_remote_error(err, "git_remote with action add makes one.",
                               "This repository has no remotes");
    for (size_t i = 0; i < names.count && r == 0; i++)
        r = fetch_one(call, names.items[i], args, text, err);
    return r;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct fetch_args *args = p;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    json_t *object;
    int r = args->all ? fetch_all(call, args, &text, err)
                      : fetch_one(call, args->remote, args, &text, err);

    if (r < 0)
        return r;
    result->truncated = al_text_truncate(&text, al_call_max_bytes(call));
    object = al_transfer_result(true, args->all ? "all" : args->remote, text.buf);
    if (args->branch)
        al_json_set(object, "branch", al_json_string(args->branch));
    if (args->prune)
        al_json_set(object, "pruned", al_json_bool(true));
    al_result_set_structured(result, object);
    return 0;
}

#define EFFECTS (AL_USES_NETWORK | AL_WRITES_REFS)

static const struct al_operation operations[] = {
    { "fetch", NULL, EFFECTS, execute, AL_ASKS_NEVER },
};

static const struct al_stricter stricter[] = {
    { { "fetch", NULL, EFFECTS | AL_LEAVES_MACHINE, execute, AL_ASKS_ALWAYS },
      is_new_address,
      AL_TRANSFER_CONDITION },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct fetch_args *args = p;

    (void)op;
    if (args->all)
        al_str_adds(out, "Fetch from all remotes");
    else
        al_str_addf(out, "Fetch%s%s from %s", args->branch ? " " : "",
                    args->branch ? args->branch : "", args->remote);
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "remote": {"type": "string"},
        "message": {"type": "string"},
        "branch": {"type": "string"},
        "pruned": {"type": "boolean"}
    },
    "required": ["success", "remote", "message"]
});
/* clang-format on */

static void ignored(const void *p, struct al_ignored *out)
{
    const struct fetch_args *args = p;

    out->since = "all is given";
    al_ignored_add(out, args->all && args->remote, "remote");
}

const struct al_tool al_tool_workflow_fetch = {
    .name = "git_fetch",
    .title = "Fetch",
    .about = "Fetch commits from a remote.",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct fetch_args),
    AL_TOOL_STRICTER(stricter),
    .check = check,
    .resolve = resolve,
    .always_by = al_transfer_always_by,
    .authorize = authorize,
    .preview = preview,
    .ignored = ignored,
    .summarize = summarize,
    .output_schema = output_schema,
};
