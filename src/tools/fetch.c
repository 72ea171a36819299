// SPDX-License-Identifier: Apache-2.0
/* git_fetch: fetch from a remote, and say what moved; with a structured result and with text. */

#include "tools/private.h"

struct fetch_args {
    const char *remote;
    bool all;
    struct al_fetch_options options;
    const char *working_dir;
};

/* All remotes, the one that is given, or the one that the current branch follows. */
static void add_remotes(struct al_call *call, const struct fetch_args *args, struct al_strv *names)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *current = al_current_branch(repo);

    if (args->all)
        al_remote_names(repo, names);
    else
        al_strv_take(names,
                     args->remote ? al_strdup(args->remote) : al_remote_default(repo, current));
}

static int resolve(struct al_call *call, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    (void)err;
    add_remotes(call, al_call_args(call), &names);
    for (size_t i = 0; i < names.count; i++)
        al_transfer_resolve(call, names.items[i]);
    return 0;
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct fetch_args *args = al_call_args(call);

    return args->all ? 0 : al_transfer_authorize(call, err);
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r = 0;

    add_remotes(call, al_call_args(call), &names);
    for (size_t i = 0; i < names.count && r == 0; i++) {
        al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;

        r = al_remote_find(al_call_repo(call), names.items[i], &remote, err);
        if (r == 0)
            al_transfer_preview(call, &remote, AL_FETCHES, out);
    }
    return r;
}

static int fetch_one(struct al_call *call, const char *name, const struct fetch_args *args,
                     struct al_str *changes, struct al_error *err)
{
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    int r = al_remote_find(al_call_repo(call), name, &remote, err);

    return r < 0 ? r : al_transfer_fetch(call, &remote, &args->options, changes, err);
}

int al_fetch_in_shell(struct al_call *call, const void *args, struct al_fetch_words *words,
                      int *ret_code, struct al_error *err)
{
    struct al_network_shown shown = { .shell = words->shell };
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r = 0;

    *ret_code = 0;
    add_remotes(call, args, &names);
    for (size_t i = 0; i < names.count && r == 0; i++) {
        al_auto(al_freep) char *line = al_asprintf("Fetching %s\n", names.items[i]);
        al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
        al_auto(al_network_endp) struct al_network *network = NULL;

        if ((names.count > 1 || words->is_update) && !al_strv_contains(&words->options, "-q") &&
            !al_strv_contains(&words->options, "--quiet"))
            (void)al_write_all(shown.shell->out_fd, line, strlen(line));
        r = al_remote_find(al_call_repo(call), names.items[i], &remote, err);
        if (r < 0)
            return r;
        al_transfer_accept(call, &remote, AL_FETCHES);
        r = al_transfer_begin(call, al_call_repo(call), &remote, remote.urls.items[0], AL_FETCHES,
                              &network, err);
        if (r == 0)
            r = al_git_fetch_words(network, words, &shown, err);
        if (shown.exit_code)
            *ret_code = shown.exit_code;
        al_strv_add(&words->options, "--append"); /* the next one, to what this one fetched */
    }
    return r;
}

static const struct al_stricter stricter[] = {
    { NULL, al_transfer_is_new, AL_TRANSFER_CONDITION, AL_LEAVES_MACHINE },
};

/* The effects that both tools have. */
#define EFFECTS (AL_USES_NETWORK | AL_WRITES_REFS)
#define SHARED                                                                                     \
    .name = "git_fetch", .title = "Fetch", .resolve = resolve, .always_by = al_transfer_always_by, \
    .authorize = authorize, .preview = preview, AL_TOOL_STRICTER(stricter)

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_TRANSFER_ROW_REMOTE(struct fetch_args, .unless = "all"),
    AL_STRING_IN(struct fetch_args, options, branch, "Only this branch.", .flags = AL_PARAM_NAME,
                 .check = al_arg_check_branch),
    AL_BOOL(struct fetch_args, all, "From all remotes."),
    AL_BOOL_IN(struct fetch_args, options, prune, "Forget branches that are gone."),
    AL_WORKFLOW_CWD_ROW(struct fetch_args),
};

static int workflow_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct fetch_args *args = al_call_args(call);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = 0;

    add_remotes(call, args, &names);
    if (!names.count)
        return al_remote_error(err, "git_remote with action add makes one.",
                               "This repository has no remotes");
    for (size_t i = 0; i < names.count && r == 0; i++) {
        al_auto(al_str_clear) struct al_str changes = AL_STR_INIT;
        al_auto(al_freep) char *shown = al_text_sanitize_line(names.items[i]);

        r = fetch_one(call, names.items[i], args, &changes, err);
        al_str_addf(&text, "%sFetched from %s:%s%s", i ? "\n" : "", shown,
                    changes.len ? "\n" : " nothing new", changes.buf);
    }
    if (r < 0)
        return r;
    result->truncated = al_text_truncate(&text, al_call_max_bytes(call));
    al_transfer_result(result, true, args->all ? "all" : args->remote, text.buf);
    if (args->options.branch)
        al_result_set(result, "branch", al_json_string(args->options.branch));
    if (args->options.prune)
        al_result_set(result, "pruned", al_json_bool(true));
    return 0;
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "success": true, "remote": "", "message": "", "branch?": "", "pruned?": true
});
/* clang-format on */

const struct al_tool al_tool_workflow_fetch = {
    SHARED,
    .about = "Fetch commits from a remote.",
    .summary = "Fetch [all?from all remotes][!all?[branch?{branch} ]from {remote}]",
    AL_TOOL_ONE(workflow_params, "fetch", NULL, EFFECTS, workflow_execute, AL_ASKS_NEVER),
    AL_WORKFLOW_TOOL(struct fetch_args),
    .output_schema = output_schema,
};

/* The toolset everyday. */

static const struct al_param everyday_params[] = {
    AL_TRANSFER_ROW_ANY_REMOTE(struct fetch_args),
    AL_STRING_IN(struct fetch_args, options, branch, NULL, .flags = AL_PARAM_NAME,
                 .check = al_arg_check_branch),
    AL_BOOL_IN(struct fetch_args, options, prune, NULL),
    AL_BOOL_IN(struct fetch_args, options, tags, NULL),
    AL_WORKING_DIR_ROW(struct fetch_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    const struct fetch_args *args = p;

    if (args->options.branch && args->options.prune)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "branch and prune cannot both hold: what is gone is known only when "
                            "every branch is fetched");
    return 0;
}

static int everyday_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const char *remote = al_call_resolved(call, "remote");
    al_auto(al_str_clear) struct al_str changes = AL_STR_INIT;
    bool blank = true; /* at the beginning of a line too */
    int r = fetch_one(call, remote, al_call_args(call), &changes, err);

    if (r < 0)
        return r;
    al_place_addf(&result->text, "Fetched from %s:%s\n", remote,
                  changes.len ? "" : " nothing new.");
    for (size_t i = 0; i < changes.len; i++) { /* without the blanks that align git's lines */
        const char c = changes.buf[i];

        if (c != ' ' || !blank)
            al_str_addc(&result->text, c);
        blank = c == ' ' || c == '\n';
    }
    al_str_adds(&result->text, changes.len ? "\n" : "");
    return 0;
}

const struct al_tool al_tool_everyday_fetch = {
    SHARED,
    .about = "Fetch from a remote, and say what moved.",
    .summary = "Fetch [branch?{branch} ]from [remote?{remote}][!remote?the remote]",
    AL_TOOL_ONE(everyday_params, "fetch", NULL, EFFECTS, everyday_execute, AL_ASKS_NEVER),
    AL_EVERYDAY_TOOL(struct fetch_args),
    .check = everyday_check,
};
