// SPDX-License-Identifier: Apache-2.0
/* git_fetch: bring what a remote has, and say what moved. */
#include "gitops/transport/fetch.h"

#include <stdlib.h>

#include "answer/answer.h"
#include "answer/place.h"
#include "gitops/refs.h"
#include "gitops/repo/remotes.h"
#include "gitops/repo/repo.h"
#include "tool/resolved.h"
#include "toolsets/everyday/everyday.h"
#include "toolsets/everyday/remote_branch.h"
#include "toolsets/transfer.h"

struct fetch_args {
    const char *remote, *branch;
    bool prune, tags;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct fetch_args, remote, "Remote.",
              .flags = AL_PARAM_NO_DESCRIPTION | AL_PARAM_NAME,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_STRING(struct fetch_args, branch, "Only this one.",
              .flags = AL_PARAM_NAME | AL_PARAM_NO_DESCRIPTION,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_BOOL(struct fetch_args, prune, "Forget branches that are gone.", .default_int = 0,
            .flags = AL_PARAM_NO_DESCRIPTION),
    AL_BOOL(struct fetch_args, tags, "All tags too.", .default_int = 0,
            .flags = AL_PARAM_NO_DESCRIPTION),
    AL_EVERYDAY_WORKING_DIR_ROW(struct fetch_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct fetch_args *args = p;

    if (args->branch && args->prune)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "branch and prune cannot both hold: what is gone is known only when "
                            "every branch is fetched");
    return al_transfer_check(args->remote ? args->remote : AL_DEFAULT_REMOTE, args->branch, err);
}

/* The remote that is given, else the one that the current branch follows.  Caller frees. */
static char *remote_of(struct al_call *call, const struct fetch_args *args)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (args->remote)
        return al_strdup(args->remote);
    al_ref_head_branches(&al_call_repo(call)->at, &names);
    return al_everyday_default_remote(call, names.count ? names.items[0] : NULL);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    al_auto(al_freep) char *remote = remote_of(call, p);

    return al_transfer_authorize(call, remote, err);
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    al_auto(al_freep) char *remote = remote_of(call, p);

    (void)err;
    al_resolved_add(out, "remote", remote);
    al_transfer_resolve(call, remote, out);
    return 0;
}

static bool is_new_address(struct al_call *call, const void *p)
{
    (void)p;
    return al_transfer_is_new(call, al_call_resolved(call, "remote"), AL_FETCHES);
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    int r = al_remote_find(al_call_repo(call), al_call_resolved(call, "remote"), &remote, err);

    (void)op;
    (void)p;
    if (r == 0)
        al_transfer_preview(call, &remote, AL_FETCHES, out);
    return r;
}

/* git's lines without the blanks that align them. */
static void add_changes(const struct al_str *changes, struct al_str *text)
{
    bool blank = true; /* at the beginning of a line too */

    for (size_t i = 0; i < changes->len; i++) {
        char c = changes->buf[i];

        if (c != ' ' || !blank)
            al_str_addc(text, c);
        blank = c == ' ' || c == '\n';
    }
    al_str_addc(text, '\n');
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct fetch_args *args = p;
    const struct al_fetch_options options = { .branch = args->branch,
                                              .prune = args->prune,
                                              .tags = args->tags };
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_str_clear) struct al_str changes = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_remote_find(al_call_repo(call), al_call_resolved(call, "remote"), &remote, err);

    if (r == 0)
        al_transfer_accept(call, &remote, AL_FETCHES);
    if (r == 0)
        r = al_transfer_fetch(call, &remote, &options, &changes, err);
    if (r < 0)
        return r;
    al_str_adds(&text, "Fetched from ");
    al_place_add_name(remote.name, &text);
    al_str_adds(&text, changes.len ? ":\n" : ": nothing new.\n");
    if (changes.len)
        add_changes(&changes, &text);
    al_answer_done(call, &text, result);
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
    al_str_addf(out, "Fetch%s%s from %s", args->branch ? " " : "", args->branch ? args->branch : "",
                args->remote ? args->remote : "the remote");
}

const struct al_tool al_tool_everyday_fetch = {
    .name = "git_fetch",
    .title = "Fetch",
    .about = "Fetch from a remote, and say what moved.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct fetch_args),
    AL_TOOL_STRICTER(stricter),
    .check = check,
    .resolve = resolve,
    .always_by = al_transfer_always_by,
    .authorize = authorize,
    .preview = preview,
    .summarize = summarize,
};
