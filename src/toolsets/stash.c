// SPDX-License-Identifier: Apache-2.0
#include "toolsets/stash.h"

#include <inttypes.h>

#include "gitops/failure.h"
#include "gitops/git_lock.h"
#include "gitops/plumbing/stash_owners.h"
#include "gitops/porcelain/stash.h"
#include "gitops/porcelain/stash_preview.h"
#include "gitops/preview/affected_files.h"
#include "gitops/replay/merge_guard.h"
#include "gitops/sequencer/overwrite.h"
#include "tool/ignored.h"
#include "tool/resolved.h"

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

/* Names of resolved values.  Both are there only in a repository with several working trees. */
#define ENTRY      "entry"      /* the entry's id; of a clear the ids of all, separated by spaces */
#define ENTRIES_OF "entries of" /* whose it is */

const char *const al_stash_always_by[] = { ENTRIES_OF, NULL };

static int64_t given_index(const struct al_stash_args *args)
{
    return args->index.given ? args->index.value : 0;
}

static int not_found(struct al_error *err, const char *message)
{
    int r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_STASH_EMPTY, "%s", message);

    if (err)
        err->reason = "not_found";
    return r;
}

int al_stash_options_of(struct al_call *call, const void *args,
                        struct al_stash_options *ret_options, struct al_error *err)
{
    static const enum al_stash_action actions[] = {
        [AL_STASH_COMMAND_PUSH] = AL_STASH_PUSH,   [AL_STASH_COMMAND_POP] = AL_STASH_POP,
        [AL_STASH_COMMAND_APPLY] = AL_STASH_APPLY, [AL_STASH_COMMAND_DROP] = AL_STASH_DROP,
        [AL_STASH_COMMAND_CLEAR] = AL_STASH_CLEAR, [AL_STASH_COMMAND_LIST] = AL_STASH_APPLY,
        [AL_STASH_COMMAND_SHOW] = AL_STASH_APPLY,
    };
    const struct al_stash_args *stash = args;
    const char *entry = al_call_resolved(call, ENTRY);
    struct al_stash_options options = {
        .action = actions[stash->action],
        .message = stash->message,
        .include_untracked = stash->include_untracked,
        .index = given_index(stash),
        .agent = al_call_agent(call),
    };

    options.entries = entry;
    if (entry && options.action != AL_STASH_CLEAR &&
        !al_git_stash_find(al_call_repo(call), entry, &options.index))
        return not_found(err, "The stash entry is no longer there");
    *ret_options = options;
    return 0;
}

/* The newest entry of this working tree; NULL: it has none. */
static const char *newest_own(const struct al_stash_owners *owners, const struct al_strv *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        if (al_stash_is_own(owners, entries->items[i]))
            return entries->items[i];
    return NULL;
}

static int resolve_clear(const struct al_stash_owners *owners, const struct al_strv *entries,
                         struct al_resolved *out)
{
    al_auto(al_str_clear) struct al_str own = AL_STR_INIT;

    for (size_t i = 0; i < entries->count; i++)
        if (al_stash_is_own(owners, entries->items[i]))
            al_str_addf(&own, "%s%s", own.len ? " " : "", entries->items[i]);
    al_resolved_add(out, ENTRY, own.len ? own.buf : "");
    return 0;
}

static int none_of_own(const struct al_stash_owners *owners, bool pops, struct al_error *err)
{
    int r =
        pops && owners->pushed_nothing
            ? not_found(err, "The last push in this worktree saved nothing, so there is nothing "
                             "to pop")
            : not_found(err, "No stash entries of this worktree found");

    if (err)
        err->remedy = "See git_stash with action list for those there are, and name one by its "
                      "index.";
    return r;
}

/* All working trees share one stash.  Without an index, the entry is the newest of this one. */
int al_stash_resolve(struct al_call *call, const void *args, struct al_resolved *out,
                     struct al_error *err)
{
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_strv_clear) struct al_strv entries = AL_STRV_INIT;
    al_auto(al_freep) char *whose = NULL;
    const struct al_stash_args *stash = args;
    bool pops = stash->action == AL_STASH_COMMAND_POP;
    const char *entry = NULL;

    if (stash->action == AL_STASH_COMMAND_PUSH || stash->action == AL_STASH_COMMAND_LIST)
        return 0;
    al_stash_owners_read(al_call_repo(call), &owners);
    if (!owners.is_shared)
        return 0;
    al_git_stash_entries(al_call_repo(call), &entries);
    if (stash->action == AL_STASH_COMMAND_CLEAR) /* also of none: others may push in between */
        return resolve_clear(&owners, &entries, out);
    /* As git says it, but now: another git may push before this call runs, and its entry is not
     * what was meant. */
    if (!entries.count)
        return not_found(err, "No stash entries found.");
    if (stash->index.given && (uint64_t)stash->index.value >= entries.count)
        return al_git_would_fail(err, "fatal: log for 'stash' only has %zu entries", entries.count);
    if (stash->index.given)
        entry = entries.items[stash->index.value];
    else if (!pops || !owners.pushed_nothing)
        entry = newest_own(&owners, &entries);
    if (!entry)
        return none_of_own(&owners, pops, err);
    whose = al_stash_owner_words(&owners, entry);
    al_resolved_add(out, ENTRY, entry);
    al_resolved_add(out, ENTRIES_OF, whose);
    return 0;
}

int al_stash_run(struct al_call *call, const struct al_stash_options *options,
                 struct al_git_output *ret_output, struct al_error *err)
{
    const bool applies = options->action == AL_STASH_POP || options->action == AL_STASH_APPLY;
    al_auto(al_freep) char *entry = al_git_stash_entry(options);
    const struct al_strv *files = al_call_changed_files(call);
    int r = 0;

    if (applies)
        r = files
                ? al_overwrite_check_files(al_call_repo(call), files, al_call_budget(call), err)
                : al_merge_guard_check_entry(al_call_repo(call), entry, al_call_budget(call), err);
    return r < 0 ? r
                 : al_git_stash(al_call_repo(call), options, al_call_max_bytes(call),
                                al_call_budget(call), ret_output, err);
}

bool al_stash_is_foreign(struct al_call *call, const void *args)
{
    const char *whose = al_call_resolved(call, ENTRIES_OF);

    (void)args;
    return whose && strcmp(whose, "this worktree") != 0;
}

int64_t al_stash_count_own(const struct al_call *call)
{
    const char *entry = al_call_resolved(call, ENTRY);
    int64_t count = entry && *entry ? 1 : 0;

    for (const char *at = entry; at && (at = strchr(at, ' ')); at++)
        count++;
    return entry ? count : -1;
}

int al_stash_authorize(struct al_call *call, const void *args, struct al_error *err)
{
    struct al_stash_options options;
    int r = only_reads(args) ? 0 : al_stash_options_of(call, args, &options, err);

    if (r < 0 || only_reads(args))
        return r;
    return al_git_stash_check(al_call_repo(call), &options, al_call_budget(call), err);
}

/* Entries are named by their index, which changes with every push: add the reflog of the stash.  A
 * push makes a new one, and a resolved entry is named by its id. */
int al_stash_affected_files(struct al_call *call, const void *args, struct al_strv *out,
                            struct al_error *err)
{
    const struct al_stash_args *stash = args;
    struct al_repo *repo = al_call_repo(call);

    if (!al_stash_is_push(NULL, args)) {
        if (!al_call_resolved(call, ENTRY))
            al_strv_addf(out, "%s/logs/refs/stash", repo->at.common_dir);
        return 0;
    }
    return al_git_overwritten_files(repo, NULL, stash->include_untracked, al_call_budget(call), out,
                                    err);
}

int al_stash_changed_files(struct al_call *call, const void *args, bool *ret_known,
                           struct al_strv *out, struct al_error *err)
{
    struct al_stash_options options;
    al_auto(al_freep) char *entry = NULL;

    /* A push resets the files to HEAD's, and with include_untracked removes others. */
    if (al_stash_is_push(call, args))
        return al_git_reset_files(al_call_repo(call), "HEAD", NULL,
                                  ((const struct al_stash_args *)args)->include_untracked,
                                  al_call_budget(call), ret_known, out, err);
    *ret_known = al_stash_options_of(call, args, &options, NULL) == 0;
    if (!*ret_known)
        return 0;
    entry = al_git_stash_entry(&options);
    return al_merge_guard_entry_files(al_call_repo(call), entry, al_call_budget(call), ret_known,
                                      out, err);
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
    r = al_stash_options_of(call, args, &options, err);
    if (r == 0)
        r = al_call_affected_files(call, &files, err);
    if (r == 0 && al_stash_is_foreign(call, args))
        al_str_addf(out, "This entry belongs to %s, not to this one.\n",
                    al_call_resolved(call, ENTRIES_OF));
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

static void summarize(const struct al_stash_args *stash, int64_t index, const char *clears,
                      struct al_str *out)
{
    static const char *const verbs[] = {
        [AL_STASH_COMMAND_POP] = "Pop",
        [AL_STASH_COMMAND_APPLY] = "Apply",
        [AL_STASH_COMMAND_DROP] = "Drop",
        [AL_STASH_COMMAND_SHOW] = "Show",
    };

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
        al_str_addf(out, "Clear %s (WARNING: destructive)", clears);
        break;
    case AL_STASH_COMMAND_POP:
    case AL_STASH_COMMAND_APPLY:
    case AL_STASH_COMMAND_DROP:
    case AL_STASH_COMMAND_SHOW:
        al_str_addf(out, "%s stash@{%" PRId64 "}", verbs[stash->action], index);
        break;
    }
}

void al_stash_summarize(const struct al_operation *op, const void *args, struct al_str *out)
{
    (void)op;
    summarize(args, given_index(args), "ALL stashes", out);
}

void al_stash_summarize_resolved(struct al_call *call, const void *args, struct al_str *out)
{
    const char *entry = al_call_resolved(call, ENTRY);
    int64_t index = given_index(args);

    if (entry && command_of(args) != AL_STASH_COMMAND_CLEAR)
        (void)al_git_stash_find(al_call_repo(call), entry, &index);
    summarize(args, index, entry ? "the stashes of this worktree" : "ALL stashes", out);
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
