// SPDX-License-Identifier: Apache-2.0
#include "tools/stash.h"

#include <inttypes.h>

#include "call/resolved.h"
#include "git/failure.h"
#include "git/git_lock.h"
#include "git/plumbing/stash_owners.h"
#include "git/run.h"
#include "tools/git/git.h"
#include "tools/workflow/workflow.h"
#include "verbs/porcelain/stash.h"
#include "verbs/preview/affected_files.h"
#include "verbs/replay/merge_guard.h"
#include "verbs/sequencer/overwrite.h"

static int command_of(const void *p)
{
    return ((const struct al_stash_args *)p)->action;
}

static bool is_push(const void *p)
{
    return command_of(p) == AL_STASH_COMMAND_PUSH;
}

static bool only_reads(const void *p)
{
    return command_of(p) >= AL_STASH_COMMAND_LIST;
}

const char *const al_stash_always_by[] = { AL_STASH_WHOSE, NULL };

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
    const char *entry = al_call_resolved(call, AL_STASH_ENTRY);
    struct al_stash_options options = {
        .action = actions[stash->action],
        .message = stash->message,
        .include_untracked = stash->include_untracked,
        .paths = stash->paths.count ? &stash->paths : NULL,
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
    al_resolved_add(out, AL_STASH_ENTRY, own.len ? own.buf : "");
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
static int resolve(struct al_call *call, const void *args, struct al_resolved *out,
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
    al_resolved_add(out, AL_STASH_ENTRY, entry);
    al_resolved_add(out, AL_STASH_WHOSE, whose);
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
    const char *whose = al_call_resolved(call, AL_STASH_WHOSE);

    (void)args;
    return whose && strcmp(whose, "this worktree") != 0;
}

/* The number of entries that a clear of this working tree alone drops; -1: it drops all. */
static int64_t count_own(const struct al_call *call)
{
    const char *entry = al_call_resolved(call, AL_STASH_ENTRY);
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

    if (!is_push(args)) {
        if (!al_call_resolved(call, AL_STASH_ENTRY))
            al_strv_addf(out, "%s/logs/refs/stash", repo->at.common_dir);
        return 0;
    }
    return al_git_overwritten_files(repo, stash->paths.count ? &stash->paths : NULL,
                                    stash->include_untracked, al_call_budget(call), out, err);
}

int al_stash_changed_files(struct al_call *call, const void *args, bool *ret_known,
                           struct al_strv *out, struct al_error *err)
{
    const struct al_stash_args *stash = args;
    struct al_stash_options options;
    al_auto(al_freep) char *entry = NULL;

    /* A push resets the files to HEAD's, and with include_untracked removes others. */
    if (is_push(args))
        return al_git_reset_files(
            al_call_repo(call), "HEAD", stash->paths.count ? &stash->paths : NULL,
            stash->include_untracked, al_call_budget(call), ret_known, out, err);
    *ret_known = al_stash_options_of(call, args, &options, NULL) == 0;
    if (!*ret_known)
        return 0;
    entry = al_git_stash_entry(&options);
    return al_merge_guard_entry_files(al_call_repo(call), entry, al_call_budget(call), ret_known,
                                      out, err);
}

int al_stash_preview(struct al_call *call, const void *args, struct al_str *out,
                     struct al_error *err)
{
    struct al_stash_options options;
    const struct al_strv *files;
    bool any = false;
    int r;

    if (only_reads(args))
        return 0;
    r = al_stash_options_of(call, args, &options, err);
    if (r == 0)
        r = al_call_affected_files(call, &files, err);
    if (r == 0 && al_stash_is_foreign(call, args))
        al_str_addf(out, "This entry belongs to %s, not to this one.\n",
                    al_call_resolved(call, AL_STASH_WHOSE));
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
    static const char *const drops[] = { "clear", "drop", "pop" };

    for (size_t i = 0; i < AL_COUNT(drops); i++)
        if (!strcmp(operation->name, drops[i]))
            return AL_LOCK_PACKED_REFS;
    return 0;
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

static void summarize_given(const void *args, struct al_str *out)
{
    summarize(args, given_index(args), "ALL stashes", out);
}

static void summarize_resolved(struct al_call *call, const void *args, struct al_str *out)
{
    const char *entry = al_call_resolved(call, AL_STASH_ENTRY);
    int64_t index = given_index(args);

    if (entry && command_of(args) != AL_STASH_COMMAND_CLEAR)
        (void)al_git_stash_find(al_call_repo(call), entry, &index);
    summarize(args, index, entry ? "the stashes of this worktree" : "ALL stashes", out);
}

/* What both tools have. */
#define APPLIES (AL_WRITES_INDEX | AL_WRITES_WORKTREE)
#define SHARED                                                                                     \
    .name = "git_stash", .title = "Stash changes", .resolve = resolve,                             \
    .summarize_resolved = summarize_resolved, .always_by = al_stash_always_by,                     \
    .authorize = al_stash_authorize, .affected_files = al_stash_affected_files,                    \
    .changed_files = al_stash_changed_files, .moves_always = AL_MOVES_STASH,                       \
    .keeps_staged = al_tool_keeps_staged, .preview = al_stash_preview,                             \
    .git_locks = al_stash_git_locks, .summarize = summarize_given

struct stash_args {
    struct al_stash_args stash; /* must be first, see tools/stash.h */
    AL_GIT_COMMON_FIELDS;
};

/* The toolset git. */

static const struct al_choice git_actions[] = {
    { "push", AL_STASH_COMMAND_PUSH },   { "pop", AL_STASH_COMMAND_POP },
    { "apply", AL_STASH_COMMAND_APPLY }, { "drop", AL_STASH_COMMAND_DROP },
    { "list", AL_STASH_COMMAND_LIST },   { "show", AL_STASH_COMMAND_SHOW },
    { "clear", AL_STASH_COMMAND_CLEAR }, { NULL, 0 },
};

static const struct al_param git_params[] = {
    AL_CHOICE_AS(struct stash_args, stash.action, "action", "What to do.", .choices = git_actions,
                 .default_int = AL_STASH_COMMAND_PUSH),
    AL_STRING_AS(struct stash_args, stash.message, "message", "For push.", .actions = "push"),
    AL_INT_AS(struct stash_args, stash.index, "index", "Entry; default: 0, the newest.", .min = 0,
              .actions = "pop apply drop show", .max = INT32_MAX, .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL_AS(struct stash_args, stash.include_untracked, "include_untracked",
               "With push: untracked files too.", .actions = "push"),
    AL_GIT_TIMEOUT_ROW(struct stash_args),
    AL_GIT_WORKING_DIR_ROW(struct stash_args),
};

static int git_list(struct al_call *call, const void *p, struct al_result *result,
                    struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    (void)p;
    r = al_git_stash_list(al_call_repo(call), al_call_max_bytes(call), al_call_budget(call),
                          &output, err);
    if (r < 0)
        return r;
    al_call_shape_text(call, &output, "", result);
    return 0;
}

static int show(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_stash_options options;
    int r = al_stash_options_of(call, p, &options, err);

    if (r == 0)
        r = al_git_stash_show(al_call_repo(call), &options, al_call_max_bytes(call),
                              al_call_budget(call), &output, err);
    if (r < 0)
        return r;
    al_call_shape_text(call, &output, "", result);
    return 0;
}

/* git stash clear prints nothing. */
static void add_cleared(const struct al_call *call, struct al_str *out)
{
    int64_t count = count_own(call);

    if (count < 0)
        al_str_adds(out, "Cleared all stashes");
    else
        al_str_addf(out, "Cleared the stashes of this worktree: %" PRId64, count);
}

static int change(struct al_call *call, const void *p, struct al_result *result,
                  struct al_error *err)
{
    const struct stash_args *args = p;
    struct al_stash_options options;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_stash_options_of(call, args, &options, err);

    if (r == 0)
        r = al_stash_run(call, &options, &output, err);
    if (r < 0)
        return r;
    if (args->stash.action == AL_STASH_COMMAND_CLEAR)
        add_cleared(call, &output.out.out);
    al_call_shape_text(call, &output, "", result);
    return 0;
}

static const struct al_operation git_operations[] = {
    { "push", NULL, APPLIES | AL_WRITES_REFS, change, AL_ASKS_BY_EFFECTS },
    { "pop", NULL, APPLIES | AL_WRITES_REFS, change, AL_ASKS_BY_EFFECTS },
    { "apply", NULL, APPLIES, change, AL_ASKS_BY_EFFECTS },
    { "drop", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, change, AL_ASKS_BY_EFFECTS },
    { "list", NULL, AL_READS, git_list, AL_ASKS_BY_EFFECTS },
    { "show", NULL, AL_READS, show, AL_ASKS_BY_EFFECTS },
    { "clear", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, change, AL_ASKS_BY_EFFECTS },
};

const struct al_tool al_tool_git_stash = {
    SHARED,
    .about = "Put uncommitted changes aside (push), bring them back (pop, apply), list, show, drop "
             "or clear.",
    AL_TOOL_ROWS(git_params, git_operations),
    AL_GIT_COMMON_OFFSETS(struct stash_args),
};

/* The toolset workflow. */

static const struct al_choice workflow_actions[] = {
    { "push", AL_STASH_COMMAND_PUSH },
    { "pop", AL_STASH_COMMAND_POP },
    { "apply", AL_STASH_COMMAND_APPLY },
    { "list", AL_STASH_COMMAND_LIST },
    { "drop", AL_STASH_COMMAND_DROP },
    { "clear", AL_STASH_COMMAND_CLEAR },
    { NULL, 0 },
};

static const struct al_param workflow_params[] = {
    AL_CHOICE_AS(struct stash_args, stash.action, "action", "What to do.",
                 .choices = workflow_actions, .flags = AL_PARAM_REQUIRED),
    AL_STRING_AS(struct stash_args, stash.message, "message", "Message of the entry (push).",
                 .actions = "push"),
    AL_INT_AS(struct stash_args, stash.index, "index",
              "Entry to pop, apply or drop; default: the newest, 0.", .min = 0,
              .actions = "pop apply drop", .max = INT32_MAX, .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL_AS(struct stash_args, stash.include_untracked, "includeUntracked",
               "With push: untracked files too.", .actions = "push"),
    AL_WORKFLOW_CWD_ROW(struct stash_args),
};

/* `whose`: NULL where there is only one working tree. */
static json_t *entry_of(const struct al_stash_entry *entry, size_t index, const char *whose)
{
    al_auto(al_freep) char *message =
        whose ? al_asprintf("%s (%s)", entry->message, whose) : al_strdup(entry->message);
    json_t *object = al_json_object();

    al_json_set(object, "index", al_json_int((int64_t)index));
    al_json_set(object, "message", al_json_string(message));
    if (entry->branch)
        al_json_set(object, "branch", al_json_string(entry->branch));
    al_json_set(object, "date", al_json_string(entry->date));
    return object;
}

static int workflow_list(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    json_t *array;
    int r = al_git_read_stashes(al_call_repo(call), al_call_max_bytes(call), al_call_budget(call),
                                &stashes, err);

    (void)p;
    if (r < 0)
        return r;
    al_stash_owners_read(al_call_repo(call), &owners);
    al_git_stash_entries(al_call_repo(call), &ids);
    array = al_json_array();
    for (size_t i = 0; i < stashes.count; i++) {
        al_auto(al_freep) char *whose =
            owners.is_shared && i < ids.count ? al_stash_owner_words(&owners, ids.items[i]) : NULL;

        al_json_append(array, entry_of(&stashes.items[i], i, whose));
    }
    al_result_set(result, "stashes", array);
    result->truncated = stashes.truncated;
    return 0;
}

/* *ret_index is that of the entry when git ran. */
static int run(struct al_call *call, const struct stash_args *args, struct al_git_output *output,
               int64_t *ret_index, struct al_error *err)
{
    struct al_stash_options options = { .index = 0 };
    int r = al_stash_options_of(call, args, &options, err);

    *ret_index = options.index;
    if (r == 0)
        r = al_stash_run(call, &options, output, err);

    if (r == AL_ERR_EXECUTION && err->reason && err->code == AL_CODE_NONE)
        err->remedy = "See git_stash with action list for the entries there are.";
    return r;
}

static int push(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int64_t index;
    int r = run(call, p, &output, &index, err);
    bool stashed;

    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    stashed = !al_starts_with(output.out.out.buf, "No local changes to save");
    result->truncated = al_text_truncate(&output.out.out, al_call_max_bytes(call));
    al_result_set(result, "stashed", al_json_bool(stashed));
    al_result_set(result, "message", al_json_string(output.out.out.buf));
    return 0;
}

static int apply(struct al_call *call, const void *p, struct al_result *result,
                 struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *message = NULL;
    int64_t index;
    int r = run(call, p, &output, &index, err);

    if (r < 0)
        return r;
    message = al_asprintf("%s stash@{%" PRId64 "}",
                          command_of(p) == AL_STASH_COMMAND_POP ? "Popped" : "Applied", index);
    al_result_set(result, "applied", al_json_bool(true));
    al_result_set(result, "message", al_json_string(message));
    return 0;
}

static int drop(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int64_t index;
    int r = run(call, p, &output, &index, err);

    if (r < 0)
        return r;
    al_result_set(result, "dropped", al_json_bool(true));
    al_result_set(result, "index", al_json_int(index));
    return 0;
}

static int clear(struct al_call *call, const void *p, struct al_result *result,
                 struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv before = AL_STRV_INIT;
    int64_t index, own = count_own(call);
    int r;

    al_git_stash_entries(al_call_repo(call), &before);
    r = run(call, p, &output, &index, err);
    if (r < 0)
        return r;
    al_result_set(result, "count", al_json_int(own < 0 ? (int64_t)before.count : own));
    return 0;
}

static const struct al_operation workflow_operations[] = {
    { "push", NULL, APPLIES | AL_WRITES_REFS, push, AL_ASKS_NEVER },
    { "pop", NULL, APPLIES | AL_WRITES_REFS, apply, AL_ASKS_NEVER },
    { "apply", NULL, APPLIES, apply, AL_ASKS_NEVER },
    { "list", NULL, AL_READS, workflow_list, AL_ASKS_NEVER },
    { "drop", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, drop, AL_ASKS_ALWAYS },
    { "clear", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, clear, AL_ASKS_ALWAYS },
};

static const struct al_stricter stricter[] = {
    { "pop", al_stash_is_foreign, AL_STASH_CONDITION, 0 },
    { "apply", al_stash_is_foreign, AL_STASH_CONDITION, 0 },
};

/* clang-format off */
static const char output_schema[] = AL_JSON([
    {"stashed": true, "message": ""},
    {"applied": true, "message": ""},
    {"stashes": [{"index": 1, "message": "", "branch?": "", "date?": ""}]},
    {"dropped": true, "index?": 1},
    {"count": 1}
]);
/* clang-format on */

const struct al_tool al_tool_workflow_stash = {
    SHARED,
    .about = "Put uncommitted changes aside (push), bring them back (pop, apply), list, drop or "
             "clear.",
    AL_TOOL_ROWS(workflow_params, workflow_operations),
    AL_WORKFLOW_TOOL(struct stash_args),
    AL_TOOL_STRICTER(stricter),
    .output_schema = output_schema,
};
