// SPDX-License-Identifier: Apache-2.0
/* git_undo: take back what this session's own last calls changed, or an undo. */

#include <inttypes.h>

#include "git/plumbing/gitdir.h"
#include "history/rollback.h"
#include "tools/private.h"

#define STEPS_MAX  50
#define LISTED_MAX 20

struct undo_args {
    struct al_opt_int steps;
    bool dry_run;
    const char *working_dir;
};

static const struct al_param params[] = {
    AL_INT(struct undo_args, steps, "How many calls; -1 redoes the last undo.",
           .flags = AL_PARAM_HAS_DEFAULT, .min = -1, .max = STEPS_MAX, .default_int = 1),
    AL_BOOL(struct undo_args, dry_run, NULL),
    AL_WORKING_DIR_ROW(struct undo_args),
};

static int check(void *p, struct al_error *err)
{
    const struct undo_args *args = p;

    if (args->steps.value)
        return 0;
    return al_failure_bad_args(err, "steps 1 undoes the last call, -1 an undo.",
                               "steps: 0 undoes nothing");
}

static bool is_redo(const struct undo_args *args)
{
    return args->steps.value < 0;
}

AL_WHEN(only_looks, struct undo_args, args->dry_run)

/* Append the files, each with what becomes of it, then the rest. */
static void add_change(const struct al_repo *repo, const struct al_difference *change,
                       struct al_str *out)
{
    al_auto(al_freep) char *words = NULL;

    if (change->part == AL_PART_WORKTREE) {
        al_str_adds(out, !change->to ? "  removes " : !change->from ? "  restores " : "  ");
        al_place_add(repo, change->name, out);
        al_str_addc(out, '\n');
        return;
    }
    words = al_difference_words(change);
    al_str_addf(out, "  %s", words);
    if (change->part == AL_PART_REF || change->part == AL_PART_HEAD) {
        const char *from = change->from ? change->from : "nothing";
        const char *to = change->to ? change->to : "nothing";

        al_str_addf(out, ": %.*s -> %.*s", al_starts_with(from, "ref: ") ? 200 : AL_SHORT_ID,
                    al_starts_with(from, "ref: ") ? from + strlen("ref: ") : from,
                    al_starts_with(to, "ref: ") ? 200 : AL_SHORT_ID,
                    al_starts_with(to, "ref: ") ? to + strlen("ref: ") : to);
    }
    al_str_addc(out, '\n');
}

/* Append what changes; false when nothing does. */
static bool add_changes(const struct al_repo *repo, const struct al_differences *changes,
                        struct al_str *out)
{
    size_t named = 0;
    bool operation = false;

    for (size_t i = 0; i < changes->count; i++) {
        const struct al_difference *change = &changes->items[i];

        /* Of an operation in progress the last line tells. */
        if (change->part == AL_PART_STATE && !al_gitdir_is_setting(change->name))
            operation |= !al_difference_is_note(change);
        else if (named++ < LISTED_MAX)
            add_change(repo, change, out);
    }
    if (named > LISTED_MAX)
        al_str_addf(out, "  and %s more\n", al_counted(named - LISTED_MAX, NULL, NULL).text);
    return named || operation;
}

#define LEFT "Left as they are, since "

static void describe(const struct al_call *call, const struct undo_args *args,
                     const struct al_rollback *rollback, struct al_str *out)
{
    if (is_redo(args)) {
        al_str_adds(out, args->dry_run ? "This would redo what the last undo undid:\n"
                                       : "Redone what the last undo undid:\n");
    } else {
        al_str_adds(out, args->dry_run ? "This would undo " : "Undone: ");
        for (size_t i = 0; i < rollback->calls.count; i++)
            al_str_addf(out, "%s%s", i ? "; " : "", rollback->calls.items[i]);
        al_str_addc(out, '\n');
    }
    if (!add_changes(al_call_repo(call), &rollback->changes, out) && !rollback->settings.count)
        al_str_adds(out, "  nothing: it is as it was before\n");
    al_outcome_add_list(LEFT "no checkpoint has them: ", &rollback->kept, 1000, out);
    al_outcome_add_list(LEFT "no checkpoint has what they were: ", &rollback->lacking, 1000, out);
    al_outcome_add_list(LEFT "somebody changed them meanwhile: ", &rollback->left, 1000, out);
    al_outcome_add_list(
        LEFT "only a user restores them ('airlock rollback'): ", &rollback->settings, 1000, out);
    if (rollback->pushes.count)
        al_str_adds(out, "What was pushed stays on the remote, and a push is none of the steps\n");
}

/* An undone "stage" takes the change out of the index, and never stages its opposite. */
static int refuse_committed(const struct al_rollback *rollback, struct al_error *err)
{
    const bool switches = al_change_find(&rollback->changes, AL_PART_HEAD, "HEAD");
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    al_answer_add_items(&rollback->committed, 2000, &list);
    return al_failure_set(
        err,
        switches ? "git_switch goes to where HEAD was, as it is now."
                 : "git_revert or git_reset takes the commit back; git_add and git_restore "
                   "change what is staged.",
        "%s, not by a call of this session: %s. An undo would stage the opposite of that commit",
        switches ? "Committed since, where HEAD was" : "Staged then, and committed since",
        list.buf);
}

/* Name what would be lost. */
static int refuse(const struct al_rollback *rollback, struct al_error *err)
{
    const struct al_strv *names = rollback->unsaved.count ? &rollback->unsaved : &rollback->lost;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    if (!names->count && rollback->committed.count)
        return refuse_committed(rollback, err);
    if (rollback->meanwhile.count)
        return al_failure_set(err, "A user can take both back: 'airlock rollback --force'.",
                              "%s, ran at the same time, and may have changed the same",
                              rollback->meanwhile.items[0]);
    if (!names->count)
        return al_failure_set(
            err, "A user can look at it with 'airlock diff' first.",
            "Execution %lld of this session was interrupted, so it cannot be told what it changed; "
            "a user can go back to before it: 'airlock rollback --execution %lld --force'",
            (long long)rollback->interrupted, (long long)rollback->interrupted);
    al_answer_add_items(names, 2000, &list);
    if (rollback->unsaved.count)
        return al_failure_set(err, "Move them away first.",
                              "These files are in the way, and no checkpoint has them: %s",
                              list.buf);
    return al_failure_set(err,
                          "git_undo keeps that; git_revert takes a commit back with a new one. A "
                          "user can go back all the same with 'airlock rollback --force'.",
                          "Changed since, by no call of this session here, and would be lost: %s",
                          list.buf);
}

static int roll_back(struct al_call *call, const struct undo_args *args, int64_t steps,
                     bool dry_run, struct al_rollback *rollback, struct al_error *err)
{
    const struct al_session *session = al_call_session(call);

    if (!session->checkpoints || !session->journal)
        return al_failure_set(err,
                              "A user can allow checkpoints: journal.checkpoints, and no "
                              "--no-git.",
                              "This session takes no checkpoints, so nothing can be undone");
    return al_rollback_run(al_call_repo(call),
                           &(struct al_rollback_options){
                               .journal = session->journal,
                               .settings = session->checkpoints,
                               .confinement = session->confinement,
                               .lock_wait_ms = al_call_budget(call)->left_ms,
                               .count = is_redo(args) ? 0 : (size_t)steps,
                               .agent = al_call_agent(call),
                               .own_session = true,
                               .session = session->number,
                               .dry_run = dry_run,
                               .redo = is_redo(args),
                           },
                           rollback, err);
}

/* Say how many of several steps can be taken, if any. */
static int tell_possible(struct al_call *call, const struct undo_args *args, struct al_error *err)
{
    int64_t possible = 0;
    int r = 0;

    while (r == 0 && possible + 1 < args->steps.value) {
        al_auto(al_rollback_clear) struct al_rollback rollback = AL_ROLLBACK_INIT;

        r = roll_back(call, args, possible + 1, true, &rollback, NULL);
        possible += r == 0;
    }
    if (possible && err) {
        al_auto(al_freep) char *message = al_take(&err->message);

        err->message = al_asprintf(
            "%s. The last %s can be undone: steps %" PRId64, message,
            possible > 1 ? al_counted((size_t)possible, "", "calls").text : "call", possible);
    }
    return AL_ERR_EXECUTION;
}

/* There may be nothing to undo, which is an answer. */
static int end(struct al_call *call, const struct undo_args *args, int r,
               const struct al_rollback *rollback, struct al_result *result, struct al_error *err)
{
    if (r == AL_ERR_APPROVAL_REQUIRED || (r < 0 && rollback->unsaved.count)) {
        al_error_clear(err);
        (void)refuse(rollback, err);
        return tell_possible(call, args, err);
    }
    if (r == AL_ERR_NOT_FOUND && al_starts_with(err->message, "only ")) {
        al_auto(al_freep) char *why = al_take(&err->message);

        al_error_clear(err);
        return al_failure_bad_args(err, "Give fewer steps.", "steps: %s", why);
    }
    if (r == AL_ERR_NOT_FOUND) {
        al_error_clear(err);
        al_str_adds(&result->text, is_redo(args)
                                       ? "Nothing to redo: the last change of this session here "
                                         "was not an undo.\n"
                                       : "Nothing to undo: this session has changed nothing "
                                         "here.\n");
        if (rollback->pushes.count)
            al_str_adds(&result->text, "What was pushed stays on the remote.\n");
    } else if (r < 0) {
        return r;
    } else {
        describe(call, args, rollback, &result->text);
    }
    result->dry_run = args->dry_run;
    if (args->dry_run) /* which an operation that reads does not end with */
        al_answer_done(call, result);
    return 0;
}

/* Rules look at the branches that it moves, and at the files; without rules nobody asks, and it may
 * be about any.  A call that cannot be undone is told when that is tried. */
static int resolve(struct al_call *call, struct al_error *err)
{
    al_auto(al_rollback_clear) struct al_rollback rollback = AL_ROLLBACK_INIT;
    const struct undo_args *args = al_call_args(call);
    const bool known =
        args->dry_run || (al_call_has_rules(call) &&
                          roll_back(call, args, args->steps.value, true, &rollback, NULL) == 0);

    (void)err;
    if (!known)
        al_call_resolve(call, AL_RESOLVED_PATH, "");
    for (size_t i = 0; i < rollback.changes.count; i++) {
        const struct al_difference *change = &rollback.changes.items[i];

        if (change->part == AL_PART_REF)
            al_call_resolve(call, AL_RESOLVED_BRANCH, change->name);
        else if (change->part == AL_PART_WORKTREE)
            al_call_resolve(call, AL_RESOLVED_PATH, change->name);
        else if (change->part == AL_PART_INDEX && *change->name == '/')
            al_call_resolve(call, AL_RESOLVED_PATH, change->name + 1);
        else if (change->part != AL_PART_HEAD && change->part != AL_PART_STATE)
            al_call_resolve(call, AL_RESOLVED_PATH, "");
    }
    return 0;
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct undo_args *args = al_call_args(call);
    const bool idle = al_git_operation_state(al_call_repo(call)) == AL_IN_PROGRESS_NONE;
    al_auto(al_rollback_clear) struct al_rollback rollback = AL_ROLLBACK_INIT;
    int r = roll_back(call, args, args->steps.value, args->dry_run, &rollback, err);

    if (r == 0 && idle) /* what comes back is of this session */
        al_operation_note_begun(al_call_repo(call), al_call_session(call)->number);
    return end(call, args, r, &rollback, result, err);
}

static const struct al_operation operations[] = {
    { "look", only_looks, AL_READS, execute, AL_ASKS_NEVER },
    { "undo", NULL,
      AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_REWRITES_HISTORY |
          AL_DISCARDS_WORK,
      execute, AL_ASKS_UNLESS_SAVED },
};

const struct al_tool al_tool_everyday_undo = {
    .name = "git_undo",
    .title = "Undo",
    .about = "Undo what your own last calls changed here: files, index, branches, stash.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct undo_args),
    .goes_back = true,
    .check = check,
    .resolve = resolve,
    .policy_paths = al_call_resolved_paths,
    .summary = "[steps=-1?Redo what the last undo undid]"
               "[!steps=-1?Undo the last [steps=1?call][!steps=1?{steps} calls] of this session]",
};
