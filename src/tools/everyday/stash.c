// SPDX-License-Identifier: Apache-2.0
/* git_stash: put changes aside and bring them back; entries are named by id. */
#include "verbs/porcelain/stash.h"

#include <string.h>
#include <strings.h>

#include "call/call.h"
#include "call/failure.h"
#include "call/place.h"
#include "call/resolved.h"
#include "call/state_line.h"
#include "git/command.h"
#include "git/plumbing/stash_owners.h"
#include "git/run.h"
#include "tools/everyday/everyday.h"
#include "tools/everyday/outcome.h"
#include "tools/stash.h"
#include "verbs/sequencer/conflict.h"

#define DIGITS_MAX 6u

static int no_entry(struct al_error *err, const char *message)
{
    int r = al_failure_set(err, "git_stash with action list shows the entries there are.", "%s",
                           message);

    if (err) {
        err->code = AL_CODE_STASH_EMPTY;
        err->reason = "not_found";
    }
    return r;
}

/* Parse "stash@{2}", as git numbers the entries.  False: the text has another form. */
static bool stash_is_number(const char *id, size_t *ret_number)
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

/* The entry of a number, of all working trees as git numbers them. */
static int find_numbered(const struct al_strv *entries, size_t number, const char **ret_entry,
                         struct al_error *err)
{
    al_auto(al_freep) char *missing = al_asprintf("No stash entry stash@{%zu}", number);

    if (number >= entries->count)
        return no_entry(err, missing);
    *ret_entry = entries->items[number];
    return 0;
}

/* The entry whose id begins so. */
static int find_named(const struct al_strv *entries, const char *id, const char **ret_entry,
                      struct al_error *err)
{
    al_auto(al_freep) char *missing = al_asprintf("No stash entry %s", id);

    *ret_entry = NULL;
    for (size_t i = 0; i < entries->count; i++) {
        if (strncasecmp(entries->items[i], id, strlen(id)) != 0)
            continue;
        if (*ret_entry)
            return al_failure_bad_args(err, "Give more digits of it.",
                                       "id: %s names more than one entry", id);
        *ret_entry = entries->items[i];
    }
    return *ret_entry ? 0 : no_entry(err, missing);
}

static int find_newest(const struct al_stash_owners *owners, const struct al_strv *entries,
                       bool pops, const char **ret_entry, struct al_error *err)
{
    *ret_entry = NULL;
    if (pops && owners->is_shared && owners->pushed_nothing)
        return no_entry(err, "The last push in this worktree saved nothing, so there is nothing "
                             "to pop");
    for (size_t i = 0; i < entries->count && !*ret_entry; i++)
        if (!owners->is_shared || al_stash_is_own(owners, entries->items[i]))
            *ret_entry = entries->items[i];
    if (*ret_entry)
        return 0;
    return no_entry(err, owners->is_shared ? "This worktree has no stash entry"
                                           : "There is no stash entry");
}

/* Choose an entry: the one whose id begins so, or without an id the newest of this working tree. */
static int choose_entry(struct al_call *call, const char *id, bool pops, struct al_resolved *out,
                        struct al_error *err)
{
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_strv_clear) struct al_strv entries = AL_STRV_INIT;
    al_auto(al_freep) char *whose = NULL;
    const char *entry = NULL;
    size_t number;
    int r;

    al_stash_owners_read(al_call_repo(call), &owners);
    al_git_stash_entries(al_call_repo(call), &entries);
    if (id && stash_is_number(id, &number))
        r = find_numbered(&entries, number, &entry, err);
    else
        r = id ? find_named(&entries, id, &entry, err)
               : find_newest(&owners, &entries, pops, &entry, err);
    if (r < 0)
        return r;
    whose = al_stash_owner_words(&owners, entry);
    al_resolved_add(out, AL_STASH_ENTRY, entry);
    al_resolved_add(out, AL_STASH_WHOSE, owners.is_shared ? whose : "this worktree");
    return 0;
}

#define SHOW_MAX_BYTES 20000u

/* Append a line for each entry, newest first; among several working trees, whose it is. */
static int stash_text_list(struct al_call *call, struct al_str *text, struct al_error *err)
{
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r = al_git_read_stashes(al_call_repo(call), SHOW_MAX_BYTES, al_call_budget(call), &stashes,
                                err);

    if (r < 0)
        return r;
    al_stash_owners_read(al_call_repo(call), &owners);
    al_git_stash_entries(al_call_repo(call), &ids);
    if (!stashes.count)
        al_str_adds(text, "No stash entries.\n");
    for (size_t i = 0; i < stashes.count && i < ids.count; i++) {
        const struct al_stash_entry *entry = &stashes.items[i];
        al_auto(al_freep) char *whose =
            owners.is_shared ? al_stash_owner_words(&owners, ids.items[i]) : NULL;

        al_str_addf(text, "%.*s %.10s  ", AL_SHORT_ID, ids.items[i], entry->date);
        if (entry->branch)
            al_str_addf(text, "On %s: ", entry->branch);
        al_place_add_name(entry->message, text);
        al_str_addf(text, "%s%s%s\n", whose ? " (" : "", whose ? whose : "", whose ? ")" : "");
    }
    if (stashes.truncated)
        al_str_adds(text, "-- more entries are not shown; a user sees them with git stash list\n");
    return 0;
}

/* Cut a long patch; the statistics before it stay.  True if it was cut. */
static bool cut(struct al_git_output *output)
{
    struct al_str *out = &output->out.out;
    const char *patch;

    if (!output->stopped && out->len <= SHOW_MAX_BYTES)
        return false;
    patch = strstr(out->buf, "\ndiff --git ");
    al_str_truncate(out, patch ? (size_t)(patch - out->buf) + 1 : SHOW_MAX_BYTES);
    return true;
}

/* The untracked files, which git has in a third parent. */
static int add_untracked(struct al_call *call, const char *oid, struct al_str *text,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "diff-tree", "--root", "--no-commit-id", "-r", "--stat",
                 "--patch", "--no-ext-diff", "--no-textconv", "--no-relative", NULL);
    al_strv_addf(&command.argv, "%s^3", oid);
    al_strv_add(&command.argv, "--");
    r = al_git_run(&al_call_repo(call)->at, &command,
                   &(struct al_git_run){ .max_bytes = SHOW_MAX_BYTES + 1 }, al_call_budget(call),
                   &output, err);
    if (r < 0 || (output.exit_code != 0 && !output.stopped) || !output.out.out.len)
        return r;
    al_str_adds(text, "Untracked files:\n");
    if (cut(&output))
        al_str_addf(&output.out.out, "-- the patch is long: git_show with rev %.*s^3 shows it\n",
                    AL_SHORT_ID, oid);
    al_str_add(text, output.out.out.buf, output.out.out.len);
    return 0;
}

/* Append what an entry changes; a long patch is left out, and where to read it said. */
static int stash_text_show(struct al_call *call, const char *oid, struct al_str *text,
                           struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_outcome_add_commit(call, oid, text, err);

    al_str_addc(text, '\n');
    al_strv_adds(&command.argv, "git", "diff", "--stat", "--patch", "--no-ext-diff",
                 "--no-textconv", "--no-relative", NULL);
    al_strv_addf(&command.argv, "%s^", oid);
    al_strv_adds(&command.argv, oid, "--", NULL);
    if (r == 0)
        r = al_git_run(&al_call_repo(call)->at, &command,
                       &(struct al_git_run){ .max_bytes = SHOW_MAX_BYTES + 1, .checked = true },
                       al_call_budget(call), &output, err);
    if (r < 0)
        return r;
    if (cut(&output))
        al_str_addf(&output.out.out,
                    "-- the patch is long: git_diff with from %.*s^ and to %.*s shows it\n",
                    AL_SHORT_ID, oid, AL_SHORT_ID, oid);
    al_str_add(text, output.out.out.buf, output.out.out.len);
    return add_untracked(call, oid, text, err);
}

#define ID_DIGITS_MIN 4

struct stash_args {
    struct al_stash_args stash; /* must be first, see tools/stash.h */
    const char *id;
    AL_EVERYDAY_FIELDS;
};

static const struct al_choice actions[] = {
    { "push", AL_STASH_COMMAND_PUSH },
    { "list", AL_STASH_COMMAND_LIST },
    { "pop", AL_STASH_COMMAND_POP },
    { "apply", AL_STASH_COMMAND_APPLY },
    { "show", AL_STASH_COMMAND_SHOW },
    { "drop", AL_STASH_COMMAND_DROP },
    { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE_AS(struct stash_args, stash.action, "action", NULL, .choices = actions,
                 .default_int = AL_STASH_COMMAND_PUSH),
    AL_STRING_AS(struct stash_args, stash.message, "message", NULL),
    AL_STRINGS_AS(struct stash_args, stash.paths, "paths", "Only these (push).",
                  .flags = AL_PARAM_PATH),
    AL_BOOL_AS(struct stash_args, stash.include_untracked, "untracked",
               "Untracked files too (push)."),
    AL_STRING(struct stash_args, id, "Entry; default: the newest of this worktree.",
              .flags = AL_PARAM_NAME, .max_bytes = 128),
    AL_EVERYDAY_WORKING_DIR_ROW(struct stash_args),
};

static int action_of(const void *p)
{
    return ((const struct stash_args *)p)->stash.action;
}

AL_WHEN(only_reads, struct stash_args, args->stash.action >= AL_STASH_COMMAND_LIST)

static int check(const void *p, struct al_error *err)
{
    const struct stash_args *args = p;
    const bool pushes = args->stash.action == AL_STASH_COMMAND_PUSH;
    size_t number;

    if (!pushes &&
        (args->stash.message || args->stash.paths.count || args->stash.include_untracked))
        return al_failure_bad_args(err, "Without action, git_stash is a push.",
                                   "message, paths and untracked are for push");
    if (args->id && (pushes || args->stash.action == AL_STASH_COMMAND_LIST))
        return al_failure_bad_args(err, "pop, apply, show and drop take an id.",
                                   "id names an entry, which push and list do not take");
    if (args->id && !stash_is_number(args->id, &number) &&
        (strlen(args->id) < ID_DIGITS_MIN ||
         strspn(args->id, "0123456789abcdefABCDEF") != strlen(args->id)))
        return al_failure_bad_args(err, "git_stash with action list shows the ids.",
                                   "id: at least four hexadecimal digits are needed, or a form "
                                   "like stash@{0}");
    return 0;
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct stash_args *args = p;
    const int action = action_of(p);

    if (action == AL_STASH_COMMAND_PUSH || action == AL_STASH_COMMAND_LIST)
        return 0;
    return choose_entry(call, args->id, action == AL_STASH_COMMAND_POP, out, err);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct stash_args *args = p;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = al_repo_pathspecs(al_call_repo(call), &args->stash.paths, al_call_budget(call), &words,
                              err);

    /* git applies nothing then, and its refusal looks like a conflict of the entry itself. */
    if (r == 0 && (action_of(p) == AL_STASH_COMMAND_POP || action_of(p) == AL_STASH_COMMAND_APPLY))
        r = al_git_check_no_conflicts(al_call_repo(call), al_call_budget(call), err);
    return r < 0 ? r : al_stash_authorize(call, p, err);
}

static int push(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    struct al_stash_options options;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv before = AL_STRV_INIT;
    al_auto(al_freep) char *oid = NULL;
    struct al_repo *repo = al_call_repo(call);
    int r = al_stash_options_of(call, p, &options, err);

    al_git_stash_entries(repo, &before);
    if (r == 0)
        r = al_git_stash(repo, &options, al_call_max_bytes(call), al_call_budget(call), &output,
                         err);
    if (r < 0)
        return r;
    if (al_git_stash_find_new(repo, &before, &output.out.out, &oid) == 0) {
        al_str_adds(&result->text, "Nothing to put aside: no change here\n");
    } else if (!oid) {
        al_str_adds(&result->text, "Put aside.  Another git stashed at the same time: action list "
                                   "shows which entry it is\n");
    } else {
        al_str_adds(&result->text, "Put aside as ");
        r = al_outcome_add_commit(call, oid, &result->text, err);
        al_str_addc(&result->text, '\n');
    }
    return r;
}

/* A conflict is a result: nothing is in progress, and the entry stays. */
static int apply(struct al_call *call, const void *p, struct al_result *result,
                 struct al_error *err)
{
    struct al_stash_options options;
    const char *oid = al_call_resolved(call, AL_STASH_ENTRY);
    const bool pops = action_of(p) == AL_STASH_COMMAND_POP;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_stash_options_of(call, p, &options, err);
    bool conflicts, has_staged = false;

    if (r == 0)
        r = al_git_stash_keeps_staged(al_call_repo(call), oid, al_call_budget(call), &has_staged,
                                      &options.keeps_staged, err);
    if (r == 0)
        r = al_stash_run(call, &options, &output, err);
    conflicts = r == AL_ERR_EXECUTION && err && err->code == AL_CODE_CONFLICT;

    if (conflicts) {
        al_error_clear(err);
        r = 0;
    }
    if (r == 0) {
        al_str_adds(&result->text,
                    pops && !conflicts ? "Brought back and dropped " : "Brought back ");
        r = al_outcome_add_commit(call, oid, &result->text, err);
    }
    if (r < 0)
        return r;
    al_str_addf(&result->text, "%s\n",
                conflicts ? ", with conflicts; the entry stays. git_conflicts shows and resolves "
                            "them, git_undo takes this back"
                          : "");
    if (has_staged && (conflicts || !options.keeps_staged))
        al_str_adds(&result->text, "What was staged in it is no longer told apart from what was "
                                   "not; git_status shows what is staged now.\n");
    return 0;
}

static int drop(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    struct al_stash_options options;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_stash_options_of(call, p, &options, err);

    al_str_adds(&result->text, "Dropped ");
    if (r == 0)
        r = al_outcome_add_commit(call, options.entries, &result->text, err);
    if (r == 0)
        r = al_git_stash(al_call_repo(call), &options, al_call_max_bytes(call),
                         al_call_budget(call), &output, err);
    if (r == 0)
        al_str_addc(&result->text, '\n');
    return r;
}

static int look(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = action_of(p) == AL_STASH_COMMAND_LIST
                ? stash_text_list(call, &text, err)
                : stash_text_show(call, al_call_resolved(call, AL_STASH_ENTRY), &text, err);

    if (r == 0)
        al_answer_text(&text, result);
    return r;
}

#define APPLIES (AL_WRITES_INDEX | AL_WRITES_WORKTREE)

static const struct al_operation operations[] = {
    { "look", only_reads, AL_READS, look, AL_ASKS_NEVER },
    { "push", NULL, APPLIES | AL_WRITES_REFS, push, AL_ASKS_UNLESS_SAVED },
    { "pop", NULL, APPLIES | AL_WRITES_REFS, apply, AL_ASKS_UNLESS_SAVED },
    { "apply", NULL, APPLIES, apply, AL_ASKS_UNLESS_SAVED },
    { "drop", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, drop, AL_ASKS_UNLESS_SAVED },
};

/* An entry of another working tree is somebody else's work. */
static const struct al_stricter stricter[] = {
    { "pop", al_stash_is_foreign, AL_STASH_CONDITION, 0 },
    { "apply", al_stash_is_foreign, AL_STASH_CONDITION, 0 },
    { "drop", al_stash_is_foreign, AL_STASH_CONDITION, 0 },
};

static void summarize(const void *p, struct al_str *out)
{
    static const char *const words[] = { [AL_STASH_COMMAND_PUSH] = "Put changes aside",
                                         [AL_STASH_COMMAND_POP] = "Pop",
                                         [AL_STASH_COMMAND_APPLY] = "Apply",
                                         [AL_STASH_COMMAND_DROP] = "Drop",
                                         [AL_STASH_COMMAND_LIST] = "List",
                                         [AL_STASH_COMMAND_SHOW] = "Show" };
    const struct stash_args *args = p;

    al_str_adds(out, words[args->stash.action]);
    if (args->stash.message)
        al_str_addf(out, ": %s", args->stash.message);
    if (args->stash.action != AL_STASH_COMMAND_PUSH)
        al_str_addf(out, " stash entry %s", args->id ? args->id : "(the newest)");
}

static void summarize_resolved(struct al_call *call, const void *p, struct al_str *out)
{
    const char *entry = al_call_resolved(call, AL_STASH_ENTRY);

    summarize(p, out);
    if (entry)
        al_str_addf(out, " (%.*s)", AL_SHORT_ID, entry);
}

const struct al_tool al_tool_everyday_stash = {
    .name = "git_stash",
    .title = "Stash",
    .about = "Put changes aside (push), bring them back (pop, apply), list, show or drop.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct stash_args),
    AL_TOOL_STRICTER(stricter),
    .check = check,
    .resolve = resolve,
    .summarize_resolved = summarize_resolved,
    .always_by = al_stash_always_by,
    .authorize = authorize,
    .affected_files = al_stash_affected_files,
    .changed_files = al_stash_changed_files,
    .preview = al_stash_preview,
    .git_locks = al_stash_git_locks,
    .moves_always = AL_MOVES_STASH,
    .keeps_staged = al_tool_keeps_staged,
    .summarize = summarize,
};
