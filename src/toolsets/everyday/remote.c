// SPDX-License-Identifier: Apache-2.0
/* git_remote: list, add, rename and remove remotes. */
#include "gitops/transport/remote.h"

#include "answer/answer.h"
#include "answer/place.h"
#include "gitops/git_lock.h"
#include "gitops/repo/remotes.h"
#include "gitops/repo/repo.h"
#include "guard/url.h"
#include "toolsets/everyday/everyday.h"

enum action { LIST, ADD, REMOVE, RENAME };

struct remote_args {
    int action;
    const char *name, *url, *new_name;
    AL_EVERYDAY_FIELDS;
};

static const struct al_choice actions[] = {
    { "list", LIST }, { "add", ADD }, { "remove", REMOVE }, { "rename", RENAME }, { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE(struct remote_args, action, "What to do.", .choices = actions,
              .flags = AL_PARAM_NO_DESCRIPTION),
    AL_STRING(struct remote_args, name, "Remote.", .flags = AL_PARAM_NO_DESCRIPTION,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_STRING(struct remote_args, url, "Address.", .flags = AL_PARAM_NO_DESCRIPTION,
              .max_bytes = AL_URL_MAX_BYTES),
    AL_STRING(struct remote_args, new_name, "New name.", .flags = AL_PARAM_NO_DESCRIPTION,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_EVERYDAY_WORKING_DIR_ROW(struct remote_args),
};

/* Every argument goes with its actions, and is required there. */
static int check_one(const char *name, const char *value, bool wanted, const char *action,
                     struct al_error *err)
{
    if (wanted && !value)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s is required for %s", name, action);
    if (!wanted && value)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s does not go with %s", name, action);
    return 0;
}

static int check(const void *p, struct al_error *err)
{
    const struct remote_args *args = p;
    const char *action = actions[args->action].name;
    int r = check_one("name", args->name, args->action != LIST, action, err);

    if (r == 0)
        r = check_one("url", args->url, args->action == ADD, action, err);
    if (r == 0)
        r = check_one("new_name", args->new_name, args->action == RENAME, action, err);
    if (r == 0 && args->name)
        r = al_remote_check_name("name", args->name, err);
    if (r == 0 && args->new_name)
        r = al_remote_check_name("new_name", args->new_name, err);
    if (r == 0 && args->url && *args->url == '-') /* git would read it as an option */
        r = al_error_set(err, AL_ERR_BAD_ARGS, "url must not begin with '-'");
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

/* Show the addresses of the remote that is removed. */
static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct remote_args *args = p;
    al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT, push_urls = AL_STRV_INIT;

    (void)op;
    if (args->action != REMOVE)
        return 0;
    if (!al_remote_addresses(al_call_repo(call), args->name, &urls, &push_urls))
        return al_remote_error(err, "git_remote lists those there are.", "There is no remote '%s'",
                               args->name);
    for (size_t i = 0; i < urls.count; i++) {
        al_auto(al_freep) char *shown = al_url_shown(urls.items[i]);

        al_str_addf(out, "It leads to %s\n", shown);
    }
    al_str_addf(out, "Its branches here, refs/remotes/%s/, go with it.\n", args->name);
    return 0;
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

static int list(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)p;
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

static int change(struct al_call *call, const void *p, struct al_result *result,
                  struct al_error *err)
{
    const struct remote_args *args = p;
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *shown = al_url_shown(args->url ? args->url : "");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    if (args->action == ADD) {
        r = al_git_remote_add(repo, args->name, args->url, al_call_budget(call), err);
        al_str_addf(&text, "Added the remote %s: %s\n", args->name, shown);
    } else if (args->action == RENAME) {
        r = al_git_remote_rename(repo, args->name, args->new_name, al_call_budget(call), err);
        al_str_addf(&text, "Renamed the remote %s to %s.\n", args->name, args->new_name);
    } else {
        r = al_git_remote_remove(repo, args->name, al_call_budget(call), err);
        al_str_addf(&text, "Removed the remote %s and its branches here.\n", args->name);
    }
    if (r == 0)
        al_answer_done(call, &text, result);
    return r;
}

AL_WHEN(is_list, struct remote_args, args->action == LIST)
AL_WHEN(is_add, struct remote_args, args->action == ADD)
AL_WHEN(is_rename, struct remote_args, args->action == RENAME)

static const struct al_operation operations[] = {
    { "list", is_list, AL_READS, list, AL_ASKS_NEVER },
    { "add", is_add, AL_WRITES_CONFIG, change, AL_ASKS_NEVER },
    { "rename", is_rename, AL_WRITES_CONFIG | AL_WRITES_REFS, change, AL_ASKS_NEVER },
    { "remove", NULL, AL_WRITES_CONFIG | AL_WRITES_REFS, change, AL_ASKS_NEVER },
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

const struct al_tool al_tool_everyday_remote = {
    .name = "git_remote",
    .title = "Remotes",
    .about = "List remotes, or add, rename or remove one.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct remote_args),
    .check = check,
    .affected_files = affected_files,
    .preview = preview,
    .git_locks = git_locks,
    .summarize = summarize,
};
