// SPDX-License-Identifier: Apache-2.0
/* git_remote: list, add, remove and rename remotes. */
#include "gitops/transport/remote.h"
#include "gitops/git_lock.h"
#include "gitops/repo/remotes.h"
#include "gitops/repo/repo.h"
#include "guard/text.h"
#include "guard/url.h"
#include "tool/call.h"
#include "tool/ignored.h"
#include "toolsets/workflow/workflow.h"

enum action { LIST, ADD, REMOVE, RENAME };

struct remote_args {
    int action;
    const char *name, *url, *new_name;
    AL_WORKFLOW_FIELDS;
};

static const struct al_choice actions[] = {
    { "list", LIST }, { "add", ADD }, { "remove", REMOVE }, { "rename", RENAME }, { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE(struct remote_args, action, "What to do.", .flags = AL_PARAM_REQUIRED,
              .choices = actions),
    AL_STRING(struct remote_args, name, "Remote, for all but list.",
              .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_STRING(struct remote_args, url, "Address, for add.", .max_bytes = AL_URL_MAX_BYTES),
    AL_STRING_AS(struct remote_args, new_name, "newName", "New name, for rename.",
                 .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_WORKFLOW_CWD_ROW(struct remote_args),
};

AL_WHEN(is_list, struct remote_args, args->action == LIST)
AL_WHEN(is_add, struct remote_args, args->action == ADD)
AL_WHEN(is_rename, struct remote_args, args->action == RENAME)

static int check_given(const char *param, const char *value, const char *action,
                       struct al_error *err)
{
    if (!value)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s is required for %s", param, action);
    return 0;
}

static int check_name(const char *param, const char *value, const char *action,
                      struct al_error *err)
{
    int r = check_given(param, value, action, err);

    return r == 0 ? al_remote_check_name(param, value, err) : r;
}

/* git would read a leading '-' as an option. */
static int check_url(const char *url, const char *action, struct al_error *err)
{
    int r = check_given("url", url, action, err);

    if (r == 0 && *url == '-')
        r = al_error_set(err, AL_ERR_BAD_ARGS, "url must not begin with '-'");
    return r;
}

static int check(const void *p, struct al_error *err)
{
    const struct remote_args *args = p;
    const char *action = actions[args->action].name;
    int r;

    if (args->action == LIST)
        return 0;
    r = check_name("name", args->name, action, err);
    if (r == 0 && args->action == ADD)
        r = check_url(args->url, action, err);
    if (r == 0 && args->action == RENAME)
        r = check_name("newName", args->new_name, action, err);
    return r;
}

static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    (void)p;
    (void)err;
    al_strv_addf(out, "%s/config", al_call_repo(call)->at.common_dir);
    return 0;
}

static json_t *entry_of(const struct al_repo *repo, const char *name)
{
    al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv push_urls = AL_STRV_INIT;
    al_auto(al_freep) char *fetch_url = NULL;
    al_auto(al_freep) char *push_url = NULL;
    json_t *entry = al_json_object();

    (void)al_remote_addresses(repo, name, &urls, &push_urls);
    fetch_url = al_url_shown(urls.items[0]);
    push_url = al_url_shown(push_urls.items[0]);
    al_json_set(entry, "name", al_json_string(name));
    al_json_set(entry, "fetchUrl", al_json_string(fetch_url));
    al_json_set(entry, "pushUrl", al_json_string(push_url));
    return entry;
}

/* Show the addresses of the remote that is removed. */
static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct remote_args *args = p;
    al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv push_urls = AL_STRV_INIT;

    (void)op;
    if (args->action != REMOVE)
        return 0;
    if (!al_remote_addresses(al_call_repo(call), args->name, &urls, &push_urls))
        return al_remote_error(err, "See git_remote with action list for those there are.",
                               "There is no remote '%s'", args->name);
    for (size_t i = 0; i < urls.count; i++) {
        al_auto(al_freep) char *shown = al_url_shown(urls.items[i]);

        al_str_addf(out, "It leads to %s\n", shown);
    }
    al_str_addf(out, "Its branches here, refs/remotes/%s/, go with it.\n", args->name);
    return 0;
}

static int list(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    size_t room = al_call_max_bytes(call);
    json_t *remotes = al_json_array(), *object = al_json_object();

    (void)p;
    (void)err;
    al_remote_names(al_call_repo(call), &names);
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        json_t *entry = entry_of(al_call_repo(call), names.items[i]);

        al_json_dump(entry, false, &text);
        if (text.len > room) {
            json_decref(entry);
            result->truncated = true;
            break;
        }
        room -= text.len;
        al_json_append(remotes, entry);
    }
    al_json_set(object, "remotes", remotes);
    al_result_set_structured(result, object);
    return 0;
}

static void set_done(const char *message, const char *name, struct al_result *result)
{
    json_t *object = al_json_object();

    al_json_set(object, "message", al_json_string(message));
    al_json_set(object, "name", al_json_string(name));
    al_result_set_structured(result, object);
}

static int add(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    const struct remote_args *args = p;
    al_auto(al_freep) char *shown = al_url_shown(args->url);
    al_auto(al_freep) char *message = al_asprintf("Added remote %s: %s", args->name, shown);
    int r = al_git_remote_add(al_call_repo(call), args->name, args->url, al_call_budget(call), err);

    if (r == 0)
        set_done(message, args->name, result);
    return r;
}

static int remove_remote(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct remote_args *args = p;
    al_auto(al_freep) char *message = al_asprintf("Removed remote %s", args->name);
    int r = al_git_remote_remove(al_call_repo(call), args->name, al_call_budget(call), err);

    if (r == 0)
        set_done(message, args->name, result);
    return r;
}

static int rename_remote(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct remote_args *args = p;
    al_auto(al_freep) char *message =
        al_asprintf("Renamed remote %s to %s", args->name, args->new_name);
    int r = al_git_remote_rename(al_call_repo(call), args->name, args->new_name,
                                 al_call_budget(call), err);

    if (r == 0)
        set_done(message, args->new_name, result);
    return r;
}

static const struct al_operation operations[] = {
    { "list", is_list, AL_READS, list, AL_ASKS_NEVER },
    { "add", is_add, AL_WRITES_CONFIG, add, AL_ASKS_NEVER },
    { "rename", is_rename, AL_WRITES_CONFIG | AL_WRITES_REFS, rename_remote, AL_ASKS_NEVER },
    { "remove", NULL, AL_WRITES_CONFIG | AL_WRITES_REFS, remove_remote, AL_ASKS_ALWAYS },
};

/* The remote's references go or are renamed with it. */
static unsigned git_locks(const struct al_operation *operation)
{
    return !strcmp(operation->name, "add") ? AL_LOCK_CONFIG : AL_LOCK_CONFIG | AL_LOCK_PACKED_REFS;
}

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct remote_args *args = p;
    al_auto(al_freep) char *shown = al_url_shown(args->url ? args->url : "");

    (void)op;
    if (args->action == LIST)
        al_str_adds(out, "List remotes");
    else if (args->action == ADD)
        al_str_addf(out, "Add remote '%s': %s", args->name, shown);
    else if (args->action == RENAME)
        al_str_addf(out, "Rename remote '%s' to '%s'", args->name, args->new_name);
    else
        al_str_addf(out, "Remove remote '%s'", args->name);
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "remotes": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "fetchUrl": {"type": "string"},
                "pushUrl": {"type": "string"}
            },
            "required": ["name", "fetchUrl", "pushUrl"]
        }},
        "message": {"type": "string"},
        "name": {"type": "string"}
    },
    "anyOf": [
        {"properties": {"remotes": {}}, "required": ["remotes"]},
        {"properties": {"message": {}, "name": {}}, "required": ["message", "name"]}
    ]
});
/* clang-format on */

static void ignored(const void *p, struct al_ignored *out)
{
    static const char *const reasons[] = { [LIST] = "action is list",
                                           [ADD] = "action is add",
                                           [REMOVE] = "action is remove",
                                           [RENAME] = "action is rename" };
    const struct remote_args *args = p;

    out->since = reasons[args->action];
    al_ignored_add(out, args->name && args->action == LIST, "name");
    al_ignored_add(out, args->url && args->action != ADD, "url");
    al_ignored_add(out, args->new_name && args->action != RENAME, "newName");
}

const struct al_tool al_tool_workflow_remote = {
    .name = "git_remote",
    .title = "Remotes",
    .about = "List remotes, or add, remove or rename one.",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct remote_args),
    .check = check,
    .affected_files = affected_files,
    .preview = preview,
    .ignored = ignored,
    .git_locks = git_locks,
    .summarize = summarize,
    .output_schema = output_schema,
};
