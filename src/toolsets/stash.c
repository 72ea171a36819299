// SPDX-License-Identifier: Apache-2.0
#include "toolsets/stash.h"

#include <inttypes.h>

#include "gitops/git_lock.h"
#include "gitops/porcelain/stash.h"
#include "gitops/porcelain/stash_preview.h"
#include "gitops/preview/affected_files.h"
#include "tool/ignored.h"

static int command_of(const void *p)
{
    return ((const struct al_stash_args *)p)->action;
}

static bool only_reads(const void *p)
{
    return command_of(p) >= AL_STASH_COMMAND_LIST;
}

bool al_stash_is_push(const struct al_call *call, const void *args)
{
    (void)call;
    return command_of(args) == AL_STASH_COMMAND_PUSH;
}

bool al_stash_is_pop(const struct al_call *call, const void *args)
{
    (void)call;
    return command_of(args) == AL_STASH_COMMAND_POP;
}

bool al_stash_is_apply(const struct al_call *call, const void *args)
{
    (void)call;
    return command_of(args) == AL_STASH_COMMAND_APPLY;
}

bool al_stash_is_drop(const struct al_call *call, const void *args)
{
    (void)call;
    return command_of(args) == AL_STASH_COMMAND_DROP;
}

bool al_stash_is_list(const struct al_call *call, const void *args)
{
    (void)call;
    return command_of(args) == AL_STASH_COMMAND_LIST;
}

bool al_stash_is_show(const struct al_call *call, const void *args)
{
    (void)call;
    return command_of(args) == AL_STASH_COMMAND_SHOW;
}

int64_t al_stash_index(const void *args)
{
    const struct al_stash_args *stash = args;

    return stash->index.given ? stash->index.value : 0;
}

struct al_stash_options al_stash_options_of(const void *args)
{
    static const enum al_stash_action actions[] = {
        [AL_STASH_COMMAND_PUSH] = AL_STASH_PUSH,   [AL_STASH_COMMAND_POP] = AL_STASH_POP,
        [AL_STASH_COMMAND_APPLY] = AL_STASH_APPLY, [AL_STASH_COMMAND_DROP] = AL_STASH_DROP,
        [AL_STASH_COMMAND_CLEAR] = AL_STASH_CLEAR,
    };
    const struct al_stash_args *stash = args;

    return (struct al_stash_options){
        .action = actions[stash->action],
        .message = stash->message,
        .include_untracked = stash->include_untracked,
        .index = al_stash_index(stash),
    };
}

int al_stash_authorize(struct al_call *call, const void *args, struct al_error *err)
{
    struct al_stash_options options;

    if (only_reads(args))
        return 0;
    options = al_stash_options_of(args);
    return al_git_stash_check(al_call_repo(call), &options, al_call_budget(call), err);
}

/* Entries are named by their index, which changes with every push: add the reflog of the stash. */
int al_stash_affected_files(struct al_call *call, const void *args, struct al_strv *out,
                            struct al_error *err)
{
    const struct al_stash_args *stash = args;
    struct al_repo *repo = al_call_repo(call);

    al_strv_addf(out, "%s/logs/refs/stash", repo->at.common_dir);
    if (!al_stash_is_push(NULL, args))
        return 0;
    return al_git_overwritten_files(repo, NULL, stash->include_untracked, al_call_budget(call), out,
                                    err);
}

int al_stash_preview(struct al_call *call, const struct al_operation *op, const void *args,
                     struct al_str *out, struct al_error *err)
{
    struct al_stash_options options;
    const struct al_strv *files;
    bool any = false;
    int r;

    (void)op;
    if (only_reads(args))
        return 0;
    options = al_stash_options_of(args);
    r = al_call_affected_files(call, &files, err);
    if (r == 0)
        r = al_git_stash_preview(al_call_repo(call), &options, files, al_call_budget(call), out,
                                 &any, err);
    if (r == 0 && !any)
        al_call_skip_approval(call); /* there is nothing to stash, or no such entry */
    return r;
}

/* With the last entry the reference goes, and it may be packed. */
unsigned al_stash_git_locks(const struct al_operation *operation)
{
    return !strcmp(operation->name, "clear") ? AL_LOCK_PACKED_REFS : 0;
}

void al_stash_summarize(const struct al_operation *op, const void *args, struct al_str *out)
{
    static const char *const verbs[] = {
        [AL_STASH_COMMAND_POP] = "Pop",
        [AL_STASH_COMMAND_APPLY] = "Apply",
        [AL_STASH_COMMAND_DROP] = "Drop",
        [AL_STASH_COMMAND_SHOW] = "Show",
    };
    const struct al_stash_args *stash = args;

    (void)op;
    switch ((enum al_stash_command)stash->action) {
    case AL_STASH_COMMAND_PUSH:
        al_str_adds(out, "Stash changes");
        if (stash->message)
            al_str_addf(out, ": %s", stash->message);
        break;
    case AL_STASH_COMMAND_LIST:
        al_str_adds(out, "List stashes");
        break;
    case AL_STASH_COMMAND_CLEAR:
        al_str_adds(out, "Clear ALL stashes (WARNING: destructive)");
        break;
    case AL_STASH_COMMAND_POP:
    case AL_STASH_COMMAND_APPLY:
    case AL_STASH_COMMAND_DROP:
    case AL_STASH_COMMAND_SHOW:
        al_str_addf(out, "%s stash@{%" PRId64 "}", verbs[stash->action], al_stash_index(stash));
        break;
    }
}

void al_stash_ignored(const void *p, const char *untracked, struct al_ignored *out)
{
    static const char *const reasons[] = {
        [AL_STASH_COMMAND_PUSH] = "action is push",   [AL_STASH_COMMAND_POP] = "action is pop",
        [AL_STASH_COMMAND_APPLY] = "action is apply", [AL_STASH_COMMAND_DROP] = "action is drop",
        [AL_STASH_COMMAND_CLEAR] = "action is clear", [AL_STASH_COMMAND_LIST] = "action is list",
        [AL_STASH_COMMAND_SHOW] = "action is show",
    };
    const struct al_stash_args *args = p;
    bool pushes = args->action == AL_STASH_COMMAND_PUSH;

    out->since = reasons[args->action];
    al_ignored_add(out, args->message && !pushes, "message");
    al_ignored_add(out, args->include_untracked && !pushes, untracked);
    al_ignored_add(out,
                   args->index.given && (pushes || args->action == AL_STASH_COMMAND_CLEAR ||
                                         args->action == AL_STASH_COMMAND_LIST),
                   "index");
}
