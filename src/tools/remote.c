// SPDX-License-Identifier: Apache-2.0
/* git_remote: list, add, remove and rename remotes; with structured results and with text. */

#include "git/git_lock.h"
#include "tools/private.h"

enum action { LIST, ADD, REMOVE, RENAME };

struct remote_args {
    int action;
    const char *name, *url, *new_name;
    const char *working_dir;
};

static const struct al_choice actions[] = {
    { "list", LIST }, { "add", ADD }, { "remove", REMOVE }, { "rename", RENAME }, { NULL, 0 },
};

/* Every argument is required with its actions. */
static int check(const struct remote_args *args, const char *new_name, struct al_error *err)
{
    const struct {
        const char *param, *value;
        bool wanted;
    } given[] = {
        { "name", args->name, args->action != LIST },
        { "url", args->url, args->action == ADD },
        { new_name, args->new_name, args->action == RENAME },
    };
    const char *action = actions[args->action].name;

    for (size_t i = 0; i < AL_COUNT(given); i++) {
        if (given[i].wanted && !given[i].value)
            return al_error_set(err, AL_ERR_BAD_ARGS, "%s is required for %s", given[i].param,
                                action);
    }
    if (args->action == ADD && *args->url == '-') /* git would read it as an option */
        return al_error_set(err, AL_ERR_BAD_ARGS, "url must not begin with '-'");
    return 0;
}

static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    (void)err;
    al_strv_addf(out, "%s/config", al_call_repo(call)->at.common_dir);
    return 0;
}

/* Show the addresses of the remote that is removed. */
static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct remote_args *args = al_call_args(call);
    al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT, push_urls = AL_STRV_INIT;

    if (args->action != REMOVE)
        return 0;
    if (!al_remote_addresses(al_call_repo(call), args->name, &urls, &push_urls))
        return al_error_about(
            al_remote_error(err, "See git_remote with action list for those there are.",
                            "There is no remote '%s'", args->name),
            err, AL_SUBJECT_REMOTE, args->name);
    for (size_t i = 0; i < urls.count; i++) {
        al_auto(al_freep) char *shown = al_url_shown(urls.items[i]);

        al_str_addf(out, "It leads to %s\n", shown);
    }
    al_str_addf(out, "Its branches here, refs/remotes/%s/, go with it.\n", args->name);
    return 0;
}

static int change(struct al_call *call, const struct remote_args *args, struct al_error *err)
{
    const struct al_remote_change change = { .name = args->name,
                                             .url = args->action == ADD ? args->url : NULL,
                                             .new_name =
                                                 args->action == RENAME ? args->new_name : NULL };

    return al_git_remote_change(al_call_repo(call), &change, err);
}

/* "Added remote x: https://…", with `article` before "remote" or the name. */
static void add_done(const struct remote_args *args, const char *article, struct al_str *text)
{
    al_auto(al_freep) char *shown = al_url_shown(args->url ? args->url : "");

    if (args->action == ADD)
        al_str_addf(text, "Added %sremote %s: %s", article, args->name, shown);
    else if (args->action == RENAME)
        al_str_addf(text, "Renamed %sremote %s to %s", article, args->name, args->new_name);
    else
        al_str_addf(text, "Removed %sremote %s", article, args->name);
}

static void summarize(const struct al_call *call, struct al_str *out)
{
    const struct remote_args *args = al_call_args(call);
    al_auto(al_freep) char *shown = al_url_shown(args->url ? args->url : "");

    if (args->action == LIST)
        al_str_adds(out, "List remotes");
    else if (args->action == ADD)
        al_str_addf(out, "Add remote '%s': %s", args->name, shown);
    else if (args->action == RENAME)
        al_str_addf(out, "Rename remote '%s' to '%s'", args->name, args->new_name);
    else
        al_str_addf(out, "Remove remote '%s'", args->name);
}

/* The remote's references go or are renamed with it. */
#define BOTH .locks = (AL_LOCK_CONFIG | AL_LOCK_PACKED_REFS)

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_CHOICE(struct remote_args, action, "What to do.", .flags = AL_PARAM_REQUIRED,
              .choices = actions),
    AL_STRING(struct remote_args, name, "Remote, for all but list.",
              .max_bytes = AL_PARAM_NAME_MAX_BYTES, .check = al_arg_check_branch,
              .actions = "add remove rename"),
    AL_STRING(struct remote_args, url, "Address, for add.", .max_bytes = AL_URL_MAX_BYTES,
              .actions = "add"),
    AL_STRING_AS(struct remote_args, new_name, "newName", "New name, for rename.",
                 .max_bytes = AL_PARAM_NAME_MAX_BYTES, .check = al_arg_check_branch,
                 .actions = "rename"),
    AL_WORKFLOW_CWD_ROW(struct remote_args),
};

static int workflow_check(void *p, struct al_error *err)
{
    return check(p, "newName", err);
}

static int workflow_list(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    size_t room = al_call_max_bytes(call);
    json_t *remotes = al_json_array();

    (void)err;
    al_remote_names(al_call_repo(call), &names);
    for (size_t i = 0; i < names.count && !result->truncated; i++) {
        al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT, push_urls = AL_STRV_INIT;
        al_auto(al_freep) char *fetch_url = NULL, *push_url = NULL;

        (void)al_remote_addresses(al_call_repo(call), names.items[i], &urls, &push_urls);
        fetch_url = al_url_shown(urls.items[0]);
        push_url = al_url_shown(push_urls.items[0]);
        result->truncated = !al_workflow_append(
            remotes,
            json_pack("{s:o, s:o, s:o}", "name", al_json_string(names.items[i]), "fetchUrl",
                      al_json_string(fetch_url), "pushUrl", al_json_string(push_url)),
            &room);
    }
    al_result_set(result, "remotes", remotes);
    return 0;
}

static int workflow_change(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct remote_args *args = al_call_args(call);
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    int r = change(call, args, err);

    if (r < 0)
        return r;
    add_done(args, "", &message);
    al_result_set(result, "message", al_json_string(message.buf));
    al_result_set(result, "name",
                  al_json_string(args->action == RENAME ? args->new_name : args->name));
    return 0;
}

static const struct al_operation workflow_operations[] = {
    { "list", NULL, AL_READS, workflow_list, AL_ASKS_NEVER },
    { "add", NULL, AL_WRITES_CONFIG, workflow_change, AL_ASKS_NEVER, .locks = AL_LOCK_CONFIG },
    { "rename", NULL, AL_WRITES_CONFIG | AL_WRITES_REFS, workflow_change, AL_ASKS_NEVER, BOTH },
    { "remove", NULL, AL_WRITES_CONFIG | AL_WRITES_REFS, workflow_change, AL_ASKS_ALWAYS, BOTH },
};

/* clang-format off */
static const char output_schema[] = AL_JSON([
    {"remotes": [{"name": "", "fetchUrl": "", "pushUrl": ""}]},
    {"message": "", "name": ""}
]);
/* clang-format on */

/* The part that both tools have. */
#define SHARED                                                                                     \
    .name = "git_remote", .title = "Remotes", .affected_files = affected_files,                    \
    .preview = preview, .summarize = summarize

const struct al_tool al_tool_workflow_remote = {
    SHARED,
    .about = "List remotes, or add, remove or rename one.",
    AL_TOOL_ROWS(workflow_params, workflow_operations),
    AL_WORKFLOW_TOOL(struct remote_args),
    .check = workflow_check,
    .output_schema = output_schema,
};

/* The toolset everyday. */

static const struct al_param everyday_params[] = {
    AL_CHOICE(struct remote_args, action, NULL, .choices = actions),
    AL_STRING(struct remote_args, name, NULL, .max_bytes = AL_PARAM_NAME_MAX_BYTES,
              .check = al_arg_check_branch, .actions = "add remove rename"),
    AL_STRING(struct remote_args, url, NULL, .max_bytes = AL_URL_MAX_BYTES, .actions = "add"),
    AL_STRING(struct remote_args, new_name, NULL, .max_bytes = AL_PARAM_NAME_MAX_BYTES,
              .check = al_arg_check_branch, .actions = "rename"),
    AL_WORKING_DIR_ROW(struct remote_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    return check(p, "new_name", err);
}

static void add_entry(const struct al_repo *repo, const char *name, struct al_str *text)
{
    al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT, push_urls = AL_STRV_INIT;

    (void)al_remote_addresses(repo, name, &urls, &push_urls);
    al_place_add_name(name, text);
    for (size_t i = 0; i < urls.count; i++) {
        al_auto(al_freep) char *shown = al_url_shown(urls.items[i]);

        al_str_addf(text, " %s", shown);
    }
    for (size_t i = 0; i < push_urls.count; i++) {
        al_auto(al_freep) char *shown = al_url_shown(push_urls.items[i]);

        if (i >= urls.count || strcmp(push_urls.items[i], urls.items[i]) != 0)
            al_str_addf(text, ", pushes to %s", shown);
    }
    al_str_addc(text, '\n');
}

static int everyday_list(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)err;
    al_remote_names(al_call_repo(call), &names);
    if (!names.count)
        al_str_adds(&text, "There are no remotes.\n");
    for (size_t i = 0; i < names.count; i++) {
        if (text.len > AL_ANSWER_DEFAULT_BYTES) {
            al_str_addf(&text, "-- %zu of %zu remotes not shown\n", names.count - i, names.count);
            result->truncated = true;
            break;
        }
        add_entry(al_call_repo(call), names.items[i], &text);
    }
    al_answer_text(&text, result);
    return 0;
}

static int everyday_change(struct al_call *call, struct al_result *result, struct al_error *err)
{
    static const char *const ends[] = {
        [ADD] = "\n", [RENAME] = ".\n", [REMOVE] = " and its branches here.\n"
    };
    const struct remote_args *args = al_call_args(call);
    int r = change(call, args, err);

    if (r < 0)
        return r;
    add_done(args, "the ", &result->text);
    al_str_adds(&result->text, ends[args->action]);
    return 0;
}

static const struct al_operation everyday_operations[] = {
    { "list", NULL, AL_READS, everyday_list, AL_ASKS_NEVER },
    { "add", NULL, AL_WRITES_CONFIG, everyday_change, AL_ASKS_NEVER, .locks = AL_LOCK_CONFIG },
    { "rename", NULL, AL_WRITES_CONFIG | AL_WRITES_REFS, everyday_change, AL_ASKS_NEVER, BOTH },
    { "remove", NULL, AL_WRITES_CONFIG | AL_WRITES_REFS, everyday_change, AL_ASKS_NEVER, BOTH },
};

const struct al_tool al_tool_everyday_remote = {
    SHARED,
    .about = "List remotes, or add, rename or remove one.",
    AL_TOOL_ROWS(everyday_params, everyday_operations),
    AL_EVERYDAY_TOOL(struct remote_args),
    .check = everyday_check,
};
