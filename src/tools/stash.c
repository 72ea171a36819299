// SPDX-License-Identifier: Apache-2.0
/* git_stash: put changes aside and bring them back; with git's words, with structured results, and
 * with text of our own, where entries are named by id. */
#include <inttypes.h>

#include "git/failure.h"
#include "git/git_lock.h"
#include "git/plumbing/stash_owners.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/porcelain/stash.h"
#include "verbs/preview/affected_files.h"
#include "verbs/replay/merge_guard.h"
#include "verbs/sequencer/overwrite.h"

/* The actions that only read, beside those of enum al_stash_action. */
enum { LIST = AL_STASH_CLEAR + 1, SHOW };

struct stash_args {
    int action; /* enum al_stash_action, or LIST or SHOW */
    const char *message;
    struct al_opt_int index;
    bool include_untracked;
    struct al_strv paths; /* of a push; none: all */
    const char *id;       /* of the toolset everyday */
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

/* Names of resolved values: the entry's id, of a clear the ids of all, separated by spaces; and
 * whose it is.  Both are there without ids only in a repository with several working trees. */
#define AL_STASH_ENTRY     "entry"
#define AL_STASH_WHOSE     "entries of"

#define AL_STASH_CONDITION "for an entry of another worktree"

/* Of an operation that drops an entry: with the last one the reference goes, and it may be packed.
 */
#define AL_STASH_DROPS .locks = AL_LOCK_PACKED_REFS

static int command_of(const struct al_call *call)
{
    return ((const struct stash_args *)al_call_args(call))->action;
}

static const char *const always_by[] = { AL_STASH_WHOSE, NULL };

static int not_found(struct al_error *err, const char *message, const char *remedy)
{
    return al_error_remedy(al_error_reason(al_error_set_code(err, AL_ERR_EXECUTION,
                                                             AL_CODE_STASH_EMPTY, "%s", message),
                                           err, "not_found"),
                           err, remedy);
}

static int options_of(struct al_call *call, struct al_stash_options *ret_options,
                      struct al_error *err)
{
    const struct stash_args *stash = al_call_args(call);
    const char *entry = al_call_resolved(call, AL_STASH_ENTRY);
    int64_t index;

    if (entry && stash->action != AL_STASH_CLEAR &&
        !al_git_stash_find(al_call_repo(call), entry, &index))
        return not_found(err, "The stash entry is no longer there", NULL);
    *ret_options = (struct al_stash_options){
        .action = stash->action >= LIST ? AL_STASH_APPLY : (enum al_stash_action)stash->action,
        .message = stash->message,
        .include_untracked = stash->include_untracked,
        .paths = stash->paths.count ? &stash->paths : NULL,
        .agent = al_call_agent(call),
        .entries = entry,
    };
    return 0;
}

static void resolve_clear(struct al_call *call, const struct al_stash_owners *owners,
                          const struct al_strv *entries)
{
    al_auto(al_str_clear) struct al_str own = AL_STR_INIT;

    for (size_t i = 0; i < entries->count; i++)
        if (al_stash_is_own(owners, entries->items[i]))
            al_str_addf(&own, "%s%s", own.len ? " " : "", entries->items[i]);
    al_call_resolve(call, AL_STASH_ENTRY, own.len ? own.buf : "");
}

#define DIGITS_MAX 6u

/* Parse "stash@{2}", as git numbers the entries.  False: the text has another form. */
static bool is_number(const char *id, size_t *ret_number)
{
    static const char before[] = "stash@{";
    const char *at = id + sizeof(before) - 1;
    size_t digits = 0;

    *ret_number = 0;
    if (!al_starts_with(id, before))
        return false;
    for (; *at >= '0' && *at <= '9' && digits <= DIGITS_MAX; at++, digits++)
        *ret_number = *ret_number * 10 + (size_t)(*at - '0');
    return digits && digits <= DIGITS_MAX && !strcmp(at, "}");
}

/* The entry whose id begins so, or that has this number: git numbers those of all working trees. */
static int find_named(const struct al_strv *entries, const char *id, const char **ret_entry,
                      struct al_error *err)
{
    al_auto(al_freep) char *missing = al_asprintf("No stash entry %s", id);
    size_t number;
    const bool by_number = is_number(id, &number);

    *ret_entry = by_number && number < entries->count ? entries->items[number] : NULL;
    for (size_t i = 0; !by_number && i < entries->count; i++) {
        if (strncasecmp(entries->items[i], id, strlen(id)) != 0)
            continue;
        if (*ret_entry)
            return al_failure_bad_args(err, "Give more digits of it.",
                                       "id: %s names more than one entry", id);
        *ret_entry = entries->items[i];
    }
    return *ret_entry
               ? 0
               : not_found(err, missing, "git_stash with action list shows the entries there are.");
}

/* All working trees share one stash: the entry is the newest of this one. */
static int find_newest(struct al_call *call, const struct al_stash_owners *owners,
                       const struct al_strv *entries, bool pops, const char **ret_entry,
                       struct al_error *err)
{
    const bool in_text = al_call_tool(call)->is_everyday;
    const bool nothing = pops && owners->is_shared && owners->pushed_nothing;

    for (size_t i = 0; i < entries->count && !nothing && !*ret_entry; i++)
        if (!owners->is_shared || al_stash_is_own(owners, entries->items[i]))
            *ret_entry = entries->items[i];
    if (*ret_entry)
        return 0;
    if (!in_text && !entries->count)
        return not_found(err, "No stash entries found.", NULL);
    return not_found(
        err,
        nothing    ? "The last push in this worktree saved nothing, so there is nothing to pop"
        : !in_text ? "No stash entries of this worktree found"
        : owners->is_shared ? "This worktree has no stash entry"
                            : "There is no stash entry",
        in_text ? "git_stash with action list shows the entries there are."
                : "See git_stash with action list for those there are, and name one by its index.");
}

static int resolve(struct al_call *call, struct al_error *err)
{
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_strv_clear) struct al_strv entries = AL_STRV_INIT;
    al_auto(al_freep) char *whose = NULL;
    const struct stash_args *args = al_call_args(call);
    const char *entry = NULL;
    bool by_number;
    int r = 0;

    if (args->action == AL_STASH_PUSH || args->action == LIST)
        return 0;
    al_stash_owners_read(al_call_repo(call), &owners);
    al_git_stash_entries(al_call_repo(call), &entries);
    by_number = args->index.given && entries.count && !args->id;
    if (args->action == AL_STASH_CLEAR && owners.is_shared)
        resolve_clear(call, &owners, &entries); /* also of none: others may push in between */
    if (args->action == AL_STASH_CLEAR)
        return 0;
    if (args->id)
        r = find_named(&entries, args->id, &entry, err);
    else if (by_number && (uint64_t)args->index.value < entries.count)
        entry = entries.items[args->index.value];
    else if (by_number) /* as git says it, but now: its entry may be another before the call runs */
        r = al_git_would_fail(err, "fatal: log for 'stash' only has %zu entries", entries.count);
    else
        r = find_newest(call, &owners, &entries, args->action == AL_STASH_POP, &entry, err);
    if (r < 0 && by_number && err && al_call_tool(call) == &al_tool_workflow_stash)
        err->remedy = "See git_stash with action list for the entries there are.";
    if (r < 0)
        return r;
    al_call_resolve(call, AL_STASH_ENTRY, entry);
    whose = al_stash_owner_words(&owners, entry);
    if (owners.is_shared)
        al_call_resolve(call, AL_STASH_WHOSE, whose);
    return 0;
}

static int stash_run(struct al_call *call, const struct al_stash_options *options,
                     struct al_git_output *ret_output, struct al_error *err)
{
    const bool applies = options->action == AL_STASH_POP || options->action == AL_STASH_APPLY;
    const struct al_strv *files = al_call_changed_files(call);
    int r = 0;

    if (applies)
        r = files ? al_overwrite_check_files(al_call_repo(call), files, err)
                  : al_merge_guard_check_entry(al_call_repo(call), options->entries, err);
    return r < 0 ? r
                 : al_git_stash(al_call_repo(call), options, al_call_max_bytes(call), ret_output,
                                err);
}

static int run(struct al_call *call, struct al_git_output *output, struct al_error *err)
{
    struct al_stash_options options = { .entries = NULL };
    int r = options_of(call, &options, err);

    return r < 0 ? r : stash_run(call, &options, output, err);
}

static bool is_foreign(struct al_call *call)
{
    const char *whose = al_call_resolved(call, AL_STASH_WHOSE);

    return whose && strcmp(whose, "this worktree") != 0;
}

/* The number of entries that a clear of this working tree alone drops; -1: it drops all. */
static int64_t count_own(const struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv entries = AL_STRV_INIT;

    al_resolved_words(call, AL_STASH_ENTRY, &entries);
    return al_call_resolved(call, AL_STASH_ENTRY) ? (int64_t)entries.count : -1;
}

static int authorize_action(struct al_call *call, struct al_error *err)
{
    struct al_stash_options options = { .entries = NULL };
    int r = command_of(call) >= LIST ? 1 : options_of(call, &options, err);

    return r == 0 ? al_git_stash_check(al_call_repo(call), &options, err) : r < 0 ? r : 0;
}

/* Entries are named by their index, which changes with every push: add the reflog of the stash.  A
 * push makes a new one, and a resolved entry is named by its id. */
static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct stash_args *stash = al_call_args(call);
    struct al_repo *repo = al_call_repo(call);

    if (stash->action != AL_STASH_PUSH) {
        if (!al_call_resolved(call, AL_STASH_ENTRY))
            al_strv_addf(out, "%s/logs/refs/stash", repo->at.common_dir);
        return 0;
    }
    return al_git_overwritten_files(repo, stash->paths.count ? &stash->paths : NULL,
                                    stash->include_untracked, out, err);
}

static int changed_files(struct al_call *call, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct stash_args *stash = al_call_args(call);
    struct al_stash_options options = { .entries = NULL };

    /* A push resets the files to HEAD's, and with include_untracked removes others. */
    if (stash->action == AL_STASH_PUSH)
        return al_git_reset_files(al_call_repo(call), "HEAD",
                                  stash->paths.count ? &stash->paths : NULL,
                                  stash->include_untracked, ret_known, out, err);
    *ret_known = options_of(call, &options, NULL) == 0;
    return *ret_known ? al_merge_guard_entry_files(al_call_repo(call), options.entries, ret_known,
                                                   out, err)
                      : 0;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    struct al_stash_options options = { .entries = NULL };
    const struct al_strv *files;
    bool any = false;
    int r;

    if (command_of(call) >= LIST)
        return 0;
    r = options_of(call, &options, err);
    if (r == 0)
        r = al_call_affected_files(call, &files, err);
    if (r == 0 && is_foreign(call))
        al_str_addf(out, "This entry belongs to %s, not to this one.\n",
                    al_call_resolved(call, AL_STASH_WHOSE));
    if (r == 0)
        r = al_git_stash_preview(al_call_repo(call), &options, files, out, &any, err);
    if (r == 0 && !any)
        al_call_plan(call)->skips_approval = true; /* there is nothing to stash, or no such entry */
    return r;
}

static void summarize(const struct al_call *call, struct al_str *out)
{
    static const char *const verbs[] = { [AL_STASH_POP] = "Pop",
                                         [AL_STASH_APPLY] = "Apply",
                                         [AL_STASH_DROP] = "Drop",
                                         [SHOW] = "Show" };
    const struct stash_args *stash = al_call_args(call);
    const char *entry = al_call_resolved(call, AL_STASH_ENTRY);
    int64_t index = stash->index.value;

    if (entry && stash->action != AL_STASH_CLEAR)
        (void)al_git_stash_find(al_call_repo(call), entry, &index);
    if (stash->action == AL_STASH_PUSH)
        al_str_addf(out, "Stash changes%s%s", stash->message ? ": " : "",
                    stash->message ? stash->message : "");
    else if (stash->action == LIST)
        al_str_adds(out, "List stashes");
    else if (stash->action == AL_STASH_CLEAR)
        al_str_addf(out, "Clear %s (WARNING: destructive)",
                    entry ? "the stashes of this worktree" : "ALL stashes");
    else
        al_str_addf(out, "%s stash@{%" PRId64 "}", verbs[stash->action], index);
}

/* The part that the tools have. */
#define APPLIES (AL_WRITES_INDEX | AL_WRITES_WORKTREE)
#define SHARED                                                                                     \
    .name = "git_stash", .resolve = resolve, .always_by = always_by,                               \
    .affected_files = affected_files, .changed_files = changed_files, .preview = preview,          \
    .moves = AL_MOVES_STASH, .keeps_staged = true
/* And what those of git and workflow have. */
#define IN_GITS_WORDS                                                                              \
    SHARED, .title = "Stash changes", .authorize = authorize_action, .summarize = summarize

/* The toolset git. */

static const struct al_choice git_actions[] = {
    { "push", AL_STASH_PUSH },
    { "pop", AL_STASH_POP },
    { "apply", AL_STASH_APPLY },
    { "drop", AL_STASH_DROP },
    { "list", LIST },
    { "show", SHOW },
    { "clear", AL_STASH_CLEAR },
    { NULL, 0 },
};

static const struct al_param git_params[] = {
    AL_CHOICE(struct stash_args, action, "What to do.", .choices = git_actions,
              .default_int = AL_STASH_PUSH),
    AL_STRING(struct stash_args, message, "For push.", .actions = "push"),
    AL_INT(struct stash_args, index, "Entry; default: 0, the newest.", .min = 0,
           .actions = "pop apply drop show", .max = INT32_MAX, .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL(struct stash_args, include_untracked, "With push: untracked files too.",
            .actions = "push"),
    AL_GIT_COMMON_ROWS(struct stash_args),
};

/* The entries as git stash list prints them; among several working trees, with whose each is. */
static int git_list(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .out = AL_TEXT_INIT(0),
                                                                 .err = AL_TEXT_INIT(0) };
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    int r = al_git_read_stashes(al_call_repo(call), al_call_max_bytes(call), &stashes, err);

    if (r < 0)
        return r;
    al_stashes_add_lines(&stashes, &output.out.out);
    r = al_call_shape_text(call, r, &output, "", result);
    result->truncated |= stashes.truncated;
    return r;
}

static int show(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_stash_options options = { .entries = NULL };
    int r = options_of(call, &options, err);

    if (r == 0)
        r = al_git_stash_show(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);
    return al_call_shape_text(call, r, &output, "", result);
}

static int change(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const bool any = al_ref_exists(&al_call_repo(call)->at, "refs/stash");
    const int64_t own = count_own(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = run(call, &output, err);

    if (r < 0)
        return r;
    if (command_of(call) == AL_STASH_CLEAR && any && own >= 0) /* git prints nothing */
        al_str_addf(&output.out.out, "Cleared the stashes of this worktree: %" PRId64, own);
    else if (command_of(call) == AL_STASH_CLEAR)
        al_str_adds(&output.out.out,
                    any ? "Cleared all stashes" : "There was no stash entry to clear");
    return al_call_shape_text(call, r, &output, "", result);
}

static const struct al_operation git_operations[] = {
    { "push", NULL, APPLIES | AL_WRITES_REFS, change, AL_ASKS_BY_EFFECTS },
    { "pop", NULL, APPLIES | AL_WRITES_REFS, change, AL_ASKS_BY_EFFECTS, AL_STASH_DROPS },
    { "apply", NULL, APPLIES, change, AL_ASKS_BY_EFFECTS },
    { "drop", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, change, AL_ASKS_BY_EFFECTS, AL_STASH_DROPS },
    { "list", NULL, AL_READS, git_list, AL_ASKS_BY_EFFECTS },
    { "show", NULL, AL_READS, show, AL_ASKS_BY_EFFECTS },
    { "clear", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, change, AL_ASKS_BY_EFFECTS,
      AL_STASH_DROPS },
};

const struct al_tool al_tool_git_stash = {
    IN_GITS_WORDS,
    .about = "Put uncommitted changes aside (push), bring them back (pop, apply), list, show, drop "
             "or clear.",
    AL_TOOL_ROWS(git_params, git_operations),
    AL_DIALECT_TOOL(struct stash_args),
};

/* The toolset workflow. */

static const struct al_choice workflow_actions[] = {
    { "push", AL_STASH_PUSH },
    { "pop", AL_STASH_POP },
    { "apply", AL_STASH_APPLY },
    { "list", LIST },
    { "drop", AL_STASH_DROP },
    { "clear", AL_STASH_CLEAR },
    { NULL, 0 },
};

static const struct al_param workflow_params[] = {
    AL_CHOICE(struct stash_args, action, "What to do.", .choices = workflow_actions,
              .flags = AL_PARAM_REQUIRED),
    AL_STRING(struct stash_args, message, "Message of the entry (push).", .actions = "push"),
    AL_INT(struct stash_args, index, "Entry to pop, apply or drop; default: the newest, 0.",
           .min = 0, .actions = "pop apply drop", .max = INT32_MAX, .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL_AS(struct stash_args, include_untracked, "includeUntracked",
               "With push: untracked files too.", .actions = "push"),
    AL_WORKFLOW_CWD_ROW(struct stash_args),
};

static int workflow_list(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    json_t *array;
    int r = al_git_read_stashes(al_call_repo(call), al_call_max_bytes(call), &stashes, err);

    if (r < 0)
        return r;
    array = al_json_array();
    for (size_t i = 0; i < stashes.count; i++) {
        const struct al_stash_entry *entry = &stashes.items[i];
        al_auto(al_freep) char *message =
            entry->whose ? al_asprintf("%s (%s)", entry->message, entry->whose) : NULL;

        al_json_append(array,
                       json_pack("{s:I, s:o, s:o*, s:o}", "index", (json_int_t)i, "message",
                                 al_json_string(message ? message : entry->message), "branch",
                                 entry->branch ? al_json_string(entry->branch) : NULL, "date",
                                 al_json_string(entry->date)));
    }
    al_result_set(result, "stashes", array);
    result->truncated = stashes.truncated;
    return 0;
}

static int workflow_change(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const char *entry = al_call_resolved(call, AL_STASH_ENTRY);
    const int64_t own = count_own(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv before = AL_STRV_INIT;
    al_auto(al_freep) char *message = NULL;
    int64_t index = 0;
    int r;

    al_git_stash_entries(al_call_repo(call), &before);
    if (entry)
        (void)al_git_stash_find(al_call_repo(call), entry, &index);
    r = run(call, &output, err);
    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    switch (command_of(call)) {
    case AL_STASH_PUSH:
        al_result_set(
            result, "stashed",
            al_json_bool(!al_starts_with(output.out.out.buf, "No local changes to save")));
        result->truncated = al_text_truncate(&output.out.out, al_call_max_bytes(call));
        al_result_set(result, "message", al_json_string(output.out.out.buf));
        break;
    case AL_STASH_DROP:
        al_result_set(result, "dropped", al_json_bool(true));
        al_result_set(result, "index", al_json_int(index));
        break;
    case AL_STASH_CLEAR:
        al_result_set(result, "count", al_json_int(own < 0 ? (int64_t)before.count : own));
        break;
    default:
        message = al_asprintf("%s stash@{%" PRId64 "}",
                              command_of(call) == AL_STASH_POP ? "Popped" : "Applied", index);
        al_result_set(result, "applied", al_json_bool(true));
        al_result_set(result, "message", al_json_string(message));
    }
    return 0;
}

static const struct al_operation workflow_operations[] = {
    { "push", NULL, APPLIES | AL_WRITES_REFS, workflow_change, AL_ASKS_NEVER },
    { "pop", NULL, APPLIES | AL_WRITES_REFS, workflow_change, AL_ASKS_NEVER, AL_STASH_DROPS },
    { "apply", NULL, APPLIES, workflow_change, AL_ASKS_NEVER },
    { "list", NULL, AL_READS, workflow_list, AL_ASKS_NEVER },
    { "drop", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, workflow_change, AL_ASKS_ALWAYS,
      AL_STASH_DROPS },
    { "clear", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, workflow_change, AL_ASKS_ALWAYS,
      AL_STASH_DROPS },
};

static const struct al_stricter stricter[] = {
    { "pop", is_foreign, AL_STASH_CONDITION, 0 },
    { "apply", is_foreign, AL_STASH_CONDITION, 0 },
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
    IN_GITS_WORDS,
    .about = "Put uncommitted changes aside (push), bring them back (pop, apply), list, drop or "
             "clear.",
    AL_TOOL_ROWS(workflow_params, workflow_operations),
    AL_WORKFLOW_TOOL(struct stash_args),
    AL_TOOL_STRICTER(stricter),
    .output_schema = output_schema,
};

/* The toolset everyday. */

#define SHOW_MAX_BYTES 20000u

/* Append a line for each entry, newest first; among several working trees, whose it is. */
static int stash_text_list(struct al_call *call, struct al_str *text, struct al_error *err)
{
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    int r = al_git_read_stashes(al_call_repo(call), SHOW_MAX_BYTES, &stashes, err);

    if (r < 0)
        return r;
    if (!stashes.count)
        al_str_adds(text, "No stash entries.\n");
    for (size_t i = 0; i < stashes.count; i++) {
        const struct al_stash_entry *entry = &stashes.items[i];

        al_str_addf(text, "%.*s %.10s  ", AL_SHORT_ID, entry->oid, entry->date);
        al_place_add_name(entry->subject, text);
        if (entry->whose)
            al_str_addf(text, " (%s)", entry->whose);
        al_str_addc(text, '\n');
    }
    if (stashes.truncated)
        al_str_adds(text, "-- more entries are not shown; a user sees them with git stash list\n");
    return 0;
}

/* Append what an entry changes, or its untracked files if there are any; a long patch is left out,
 * and where to read it said: git has the untracked files in a third parent. */
static int add_patch(struct al_call *call, const char *oid, bool of_untracked, struct al_str *text,
                     struct al_error *err)
{
    const struct al_stash_options options = { .entries = oid,
                                              .patch = true,
                                              .include_untracked = of_untracked };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_str *out = &output.out.out;
    const char *patch;
    int r = al_git_stash_show(al_call_repo(call), &options, SHOW_MAX_BYTES + 1, &output, err);

    if (r < 0 || !out->len)
        return r;
    if (of_untracked)
        al_str_adds(text, "Untracked files:\n");
    if (!output.stopped && out->len <= SHOW_MAX_BYTES) {
        al_str_add(text, out->buf, out->len);
        return 0;
    }
    patch = strstr(out->buf, "\ndiff --git ");
    al_str_add(text, out->buf, patch ? (size_t)(patch - out->buf) + 1 : SHOW_MAX_BYTES);
    al_str_addf(text, "-- the patch is long: git_show with rev %.*s%s shows it\n", AL_SHORT_ID, oid,
                of_untracked ? "^3" : "");
    return 0;
}

#define ID_DIGITS_MIN 4

static const struct al_choice everyday_actions[] = {
    { "push", AL_STASH_PUSH },
    { "list", LIST },
    { "pop", AL_STASH_POP },
    { "apply", AL_STASH_APPLY },
    { "show", SHOW },
    { "drop", AL_STASH_DROP },
    { NULL, 0 },
};

static const struct al_param everyday_params[] = {
    AL_CHOICE(struct stash_args, action, NULL, .choices = everyday_actions,
              .default_int = AL_STASH_PUSH),
    AL_STRING(struct stash_args, message, NULL, .actions = "push"),
    AL_STRINGS(struct stash_args, paths, "Only these (push).", .actions = "push",
               .flags = AL_PARAM_PATH),
    AL_BOOL_AS(struct stash_args, include_untracked, "untracked", "Untracked files too (push).",
               .actions = "push"),
    AL_STRING(struct stash_args, id, "Entry; default: the newest of this worktree.",
              .actions = "pop apply show drop", .flags = AL_PARAM_NAME, .max_bytes = 128),
    AL_WORKING_DIR_ROW(struct stash_args),
};

AL_WHEN(looks, struct stash_args, args->action >= LIST)

static int everyday_check(void *p, struct al_error *err)
{
    const struct stash_args *args = p;
    size_t number;

    if (args->id && !is_number(args->id, &number) &&
        (strlen(args->id) < ID_DIGITS_MIN ||
         strspn(args->id, "0123456789abcdefABCDEF") != strlen(args->id)))
        return al_failure_bad_args(err, "git_stash with action list shows the ids.",
                                   "id: at least four hexadecimal digits are needed, or a form "
                                   "like stash@{0}");
    return 0;
}

static int everyday_authorize(struct al_call *call, struct al_error *err)
{
    const struct stash_args *args = al_call_args(call);
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = al_repo_pathspecs(al_call_repo(call), &args->paths, &words, err);

    /* git stashes and applies nothing then, and its refusal of an entry looks like a conflict. */
    if (r == 0 && command_of(call) != AL_STASH_DROP && command_of(call) < LIST)
        r = al_git_check_no_conflicts(al_call_repo(call), err);
    return r < 0 ? r : authorize_action(call, err);
}

static int everyday_push(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv before = AL_STRV_INIT;
    al_auto(al_freep) char *oid = NULL;
    struct al_repo *repo = al_call_repo(call);
    int r;

    al_git_stash_entries(repo, &before);
    r = run(call, &output, err);
    if (r < 0)
        return r;
    if (al_git_stash_find_new(repo, &before, &output.out.out, &oid) == 0) {
        al_str_adds(&result->text,
                    ((const struct stash_args *)al_call_args(call))->include_untracked
                        ? "Nothing to stash: no change here\n"
                        : "Nothing to stash: no tracked file is changed here; untracked: true "
                          "stashes new files, too\n");
    } else if (!oid) {
        al_str_adds(&result->text, "Stashed.  Another git stashed at the same time: action list "
                                   "shows which entry it is\n");
    } else {
        r = al_outcome_add_commit(call, "Stashed as ", oid, "\n", &result->text, err);
    }
    return r;
}

/* A conflict is a result: nothing is in progress, and the entry stays. */
static int everyday_apply(struct al_call *call, struct al_result *result, struct al_error *err)
{
    struct al_stash_options options = { .entries = NULL };
    const char *oid = al_call_resolved(call, AL_STASH_ENTRY);
    const bool pops = command_of(call) == AL_STASH_POP;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = options_of(call, &options, err);
    bool conflicts, has_staged = false;

    if (r == 0)
        r = al_git_stash_keeps_staged(al_call_repo(call), oid, &has_staged, &options.keeps_staged,
                                      err);
    if (r == 0)
        r = stash_run(call, &options, &output, err);
    conflicts = r == AL_ERR_EXECUTION && err && err->code == AL_CODE_CONFLICT;

    if (conflicts) {
        al_error_clear(err);
        r = 0;
    }
    if (r == 0)
        r = al_outcome_add_commit(
            call, pops && !conflicts ? "Popped " : "Applied ", oid,
            conflicts ? ", with conflicts; the entry stays, git_undo undoes this\n" : "\n",
            &result->text, err);
    if (r < 0)
        return r;
    if (has_staged && (conflicts || !options.keeps_staged))
        al_str_adds(&result->text, "What was staged in it is no longer told apart from what was "
                                   "not; git_status shows what is staged now.\n");
    return conflicts ? al_outcome_stopped(call, result, err) : 0;
}

static int everyday_drop(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_outcome_add_commit(call, "Dropped ", al_call_resolved(call, AL_STASH_ENTRY), "\n",
                                  &result->text, err);

    return r < 0 ? r : run(call, &output, err);
}

static int look(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const char *oid = al_call_resolved(call, AL_STASH_ENTRY);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = command_of(call) == LIST ? stash_text_list(call, &text, err)
                                     : al_outcome_add_commit(call, "", oid, "\n", &text, err);

    for (int untracked = 0; r == 0 && command_of(call) == SHOW && untracked < 2; untracked++)
        r = add_patch(call, oid, untracked, &text, err);
    if (r == 0)
        al_answer_text(&text, result);
    return r;
}

static const struct al_operation everyday_operations[] = {
    { "look", looks, AL_READS, look, AL_ASKS_NEVER },
    { "push", NULL, APPLIES | AL_WRITES_REFS, everyday_push, AL_ASKS_UNLESS_SAVED },
    { "pop", NULL, APPLIES | AL_WRITES_REFS, everyday_apply, AL_ASKS_UNLESS_SAVED, AL_STASH_DROPS },
    { "apply", NULL, APPLIES, everyday_apply, AL_ASKS_UNLESS_SAVED },
    { "drop", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, everyday_drop, AL_ASKS_UNLESS_SAVED,
      AL_STASH_DROPS },
};

/* An entry of another working tree is somebody else's work. */
static const struct al_stricter everyday_stricter[] = {
    { "pop", is_foreign, AL_STASH_CONDITION, 0 },
    { "apply", is_foreign, AL_STASH_CONDITION, 0 },
    { "drop", is_foreign, AL_STASH_CONDITION, 0 },
};

static void everyday_summarize(const struct al_call *call, struct al_str *out)
{
    const char *entry = al_call_resolved(call, AL_STASH_ENTRY);

    al_tool_write_summary(&al_tool_everyday_stash, al_call_args(call), out);
    if (entry)
        al_str_addf(out, " (%.*s)", AL_SHORT_ID, entry);
}

const struct al_tool al_tool_everyday_stash = {
    SHARED,
    .title = "Stash",
    .about = "Stash changes (push), restore them (pop, apply), list, show or drop.",
    AL_TOOL_ROWS(everyday_params, everyday_operations),
    AL_EVERYDAY_TOOL(struct stash_args),
    AL_TOOL_STRICTER(everyday_stricter),
    .check = everyday_check,
    .summarize = everyday_summarize,
    .authorize = everyday_authorize,
    .summary = "[action=push?Stash changes][action=pop?Pop][action=apply?Apply]"
               "[action=drop?Drop][action=list?List][action=show?Show][message?: {message}]"
               "[!action=push? stash entry [id?{id}][!id?(the newest)]]",
};
