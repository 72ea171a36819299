// SPDX-License-Identifier: Apache-2.0
#include "history/rollback.h"

#include <inttypes.h>

#include "gitops/command.h"
#include "gitops/plumbing/bare.h"
#include "guard/root.h"
#include "guard/rules/effects.h"
#include "history/journal.h"
#include "history/rollback_committed.h"
#include "history/rollback_context.h"
#include "history/rollback_linked.h"
#include "history/rollback_restore.h"
#include "history/rollback_stash_entries.h"
#include "history/rollback_worktrees.h"
#include "util/log.h"

#define TOOL           "rollback"
#define OPERATION      "restore"
#define STAT_MAX_BYTES (64u << 10)

void al_rollback_clear(struct al_rollback *rollback)
{
    al_strv_clear(&rollback->lost);
    al_strv_clear(&rollback->committed);
    al_strv_clear(&rollback->unsaved);
    al_strv_clear(&rollback->kept);
    al_strv_clear(&rollback->calls);
    al_strv_clear(&rollback->pushes);
    al_differences_clear(&rollback->changes);
    al_str_clear(&rollback->stat);
    *rollback = AL_ROLLBACK_INIT;
}

/* --- The journal --- */

static char *summary_of(const struct al_rollback_context *ctx)
{
    const char *agent = ctx->options->agent;

    if (ctx->options->redo)
        return al_strdup("Undo the last rollback");
    return al_asprintf("Roll back %zu execution%s%s%s", ctx->plan.count,
                       ctx->plan.count == 1 ? "" : "s", agent ? " of agent " : "",
                       agent ? agent : "");
}

/* `changed` tells that the repository may have been changed. */
static struct al_record_end record_of(const struct al_rollback_context *ctx, const char *summary,
                                      bool changed)
{
    return (struct al_record_end){
        .operation = OPERATION,
        .effects = AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_DISCARDS_WORK,
        .decision = ctx->options->own_session ? "auto" : "once",
        .decided_by = ctx->options->own_session ? "policy" : "terminal",
        .summary = summary,
        .root = ctx->repo->at.root->path,
        .repository = ctx->repo->at.top,
        .confinement = ctx->options->confinement,
        .git_commit = changed ? ctx->present : NULL,
    };
}

static int open_record(struct al_rollback_context *ctx, struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *input = al_json_object();
    al_auto(al_freep) char *summary = summary_of(ctx);
    const struct al_record_end record = record_of(ctx, summary, false);
    int r = al_journal_check(ctx->options->journal, err);

    if (r < 0)
        return r;
    al_json_set(input, "count", al_json_int((int64_t)ctx->plan.count));
    al_json_set(input, "force", al_json_bool(ctx->options->force));
    if (ctx->options->redo)
        al_json_set(input, "redo", al_json_bool(true));
    al_json_set(input, "to", al_json_string(ctx->plan.target));
    /* It counts as an execution of this agent, so that it can be undone like one. */
    r = al_recorded_open(&ctx->recorded, ctx->options->journal,
                         &(struct al_record_begin){ .tool = TOOL,
                                                    .agent = ctx->options->agent,
                                                    .session = ctx->options->session,
                                                    .input = input },
                         err);
    return r < 0 ? r : al_recorded_update(&ctx->recorded, &record, err);
}

static void close_record(struct al_rollback_context *ctx, int r, bool changed,
                         const struct al_error *err)
{
    al_auto(al_freep) char *summary = summary_of(ctx);
    const struct al_record_end record = record_of(ctx, summary, changed);
    const char *text = r == 0 ? "Rolled back" : err->message ? err->message : "";

    al_recorded_close(
        &ctx->recorded, &record,
        &(struct al_recorded_end){ .status = r, .text = text, .text_len = strlen(text) });
}

/* --- Before anything is changed --- */

/* Read the present, and find the way back.  Nothing in the store changes: the rollback may still be
 * refused, or be a dry run. */
static int read_present(struct al_rollback_context *ctx, struct al_error *err)
{
    struct al_checkpoint_reason reason = { .tool = TOOL,
                                           .operation = OPERATION,
                                           .linked = &ctx->linked_names };
    int r =
        al_touched_read(ctx->store, &ctx->executions, &ctx->plan, ctx->budget, &ctx->touched, err);

    if (r == 0)
        r = al_linked_touched(ctx->store, &ctx->touched, ctx->budget, &ctx->linked_names, err);
    ctx->without = al_touched_without(&ctx->touched);
    reason.without = ctx->without;
    if (r == 0)
        r = al_checkpoint_create_pending(ctx->store, &reason, ctx->budget, &ctx->pending,
                                         ctx->present, err);
    if (r == 0)
        r = al_checkpoint_state(ctx->store, ctx->present, ctx->budget, &ctx->from, err);
    if (r == 0)
        r = al_touched_way_back(ctx->store, &ctx->touched, &ctx->plan, ctx->present, ctx->budget,
                                &ctx->way, &ctx->report->lost, err);
    if (r == 0)
        r = al_rollback_keep_stash_entries(ctx->store, ctx->pending, &ctx->way.changes, ctx->budget,
                                           err);
    if (r == 0)
        r = al_way_back_target(ctx->store, &ctx->way, &ctx->from, ctx->budget, &ctx->to, err);
    ctx->report->changes = ctx->way.changes;
    ctx->way.changes = (struct al_differences){ .items = NULL };
    if (r == 0)
        r = al_linked_changes_read(ctx->store, &ctx->report->changes, ctx->budget, &ctx->linked,
                                   err);
    return r;
}

/* Keep the very checkpoint that was compared and checked.  The commits that only the references
 * reach which will move or go are packed with it. */
static int keep_present(struct al_rollback_context *ctx, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv dropped = AL_STRV_INIT;

    for (size_t i = 0; i < ctx->report->changes.count; i++) {
        const struct al_difference *change = &ctx->report->changes.items[i];

        if (change->part == AL_PART_REF && change->from)
            al_strv_add(&dropped, change->name);
    }
    return al_checkpoint_accept(ctx->pending, &dropped, ctx->budget, err);
}

static struct al_restore restore_of(struct al_rollback_context *ctx)
{
    return (struct al_restore){
        .store = ctx->store,
        .repo = ctx->repo,
        .changes = &ctx->report->changes,
        .from = &ctx->from,
        .to = &ctx->to,
        .linked = &ctx->linked,
        .keeps_index = !ctx->way.index_of[0],
        .token = ctx->token,
        .budget = ctx->budget,
        .top_fd = ctx->top_fd,
        .git_fd = ctx->git_fd,
        .common_fd = ctx->common_fd,
    };
}

static const char *journal_file(const struct al_rollback_options *options)
{
    return options->journal_file ? options->journal_file : al_journal_file(options->journal);
}

static int find_conflicts(struct al_rollback_context *ctx, struct al_error *err)
{
    struct al_restore restore = restore_of(ctx);
    int r = al_linked_check(&ctx->linked, ctx->repo, journal_file(ctx->options), ctx->budget,
                            ctx->plan.resumes ? NULL : &ctx->report->lost, err);

    if (r == 0)
        r = al_rollback_leave_worktrees(ctx->store, &ctx->executions, ctx->plan.first, &ctx->linked,
                                        ctx->budget, &ctx->report->changes, &ctx->report->lost,
                                        err);
    if (r == 0)
        r = al_rollback_find_stash_entries(ctx->store, &ctx->report->changes, ctx->budget,
                                           &ctx->report->lost, err);
    if (r == 0 && !ctx->plan.resumes)
        r = al_committed_since(ctx->store, ctx->repo, &ctx->way, &restore, &ctx->report->committed,
                               err);
    if (r == 0)
        al_restore_check(&restore, &ctx->report->unsaved);
    return r;
}

/* Refuse unless the user has allowed what would be lost. */
static int check_refusals(const struct al_rollback_context *ctx, struct al_error *err)
{
    const struct al_rollback *report = ctx->report;

    if (report->unsaved.count)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "files are in the way that no checkpoint has, since they are ignored "
                            "or too large; move them away first");
    if (ctx->options->force)
        return 0;
    if (ctx->plan.interrupted)
        return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                            "execution %" PRIu64 " was interrupted, so it cannot be told what it "
                            "changed and what was done since; --force rolls back all the same",
                            ctx->plan.interrupted);
    if (report->lost.count)
        return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                            "what you or another program changed since would be lost; --force "
                            "rolls back all the same");
    return al_committed_check(&report->committed, err);
}

/* A redo that was interrupted is continued like any other rollback. */
static int make_plan(struct al_rollback_context *ctx, struct al_error *err)
{
    const struct al_executions *executions = &ctx->executions;
    const bool own = ctx->options->own_session;
    size_t count = ctx->options->count;
    int r = 0;
    bool continues_redo =
        al_plan_is_unfinished(executions) && executions->items[executions->count - 1].redo;

    if (ctx->options->redo && !continues_redo)
        return al_plan_redo(ctx->store, executions, ctx->budget, &ctx->plan, err);
    if (own)
        return al_plan_undo(ctx->store, executions, ctx->options->count, ctx->budget, &ctx->plan,
                            &ctx->report->calls, &ctx->report->pushes, err);
    if (ctx->options->execution)
        r = al_plan_count_back_to(ctx->store, executions, ctx->options->execution,
                                  ctx->options->newest, ctx->budget, &count, err);
    return r < 0 ? r
                 : al_plan_make(ctx->store, executions, count, ctx->budget, &ctx->plan,
                                &ctx->report->calls, &ctx->report->pushes, err);
}

/* A rollback that was killed is continued with the executions that it was about. */
static int check_unfinished(const struct al_rollback_context *ctx, struct al_error *err)
{
    const struct al_executions *executions = &ctx->executions;
    const char *wanted = ctx->options->agent, *agent;

    if (!al_plan_is_unfinished(executions))
        return 0;
    if (ctx->options->own_session)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "a rollback was interrupted; a user completes it with 'airlock "
                            "rollback'");
    agent = executions->items[executions->count - 1].agent;
    if (wanted && agent ? !strcmp(wanted, agent) : wanted == agent)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "a rollback was interrupted; complete it first: airlock rollback%s%s",
                        agent ? " --agent " : "", agent ? agent : "");
}

static int find_executions(struct al_rollback_context *ctx, struct al_error *err)
{
    int r =
        al_executions_read(journal_file(ctx->options), ctx->repo->at.top, &ctx->executions, err);

    ctx->is_consistent = r == 0 && !al_plan_is_unfinished(&ctx->executions);
    if (r == 0)
        r = check_unfinished(ctx, err);
    if (r == 0 && ctx->options->agent)
        al_executions_keep_agent(&ctx->executions, ctx->options->agent);
    if (r == 0 && ctx->options->own_session) {
        al_auto(al_freep) char *conversation =
            al_journal_conversation(ctx->options->journal, ctx->options->session);

        al_executions_keep_session(&ctx->executions, conversation);
    }
    return r;
}

static int prepare(struct al_rollback_context *ctx, struct al_error *err)
{
    int r = find_executions(ctx, err);

    if (r == 0)
        r = make_plan(ctx, err);
    if (r < 0)
        return r;
    ctx->report->count = ctx->plan.count;
    ctx->report->resumed = ctx->plan.resumes;
    if (!ctx->options->dry_run)
        r = open_record(ctx, err);
    if (r == 0)
        r = read_present(ctx, err);
    return r < 0 ? r : find_conflicts(ctx, err);
}

/* --- Doing it --- */

static int restore(struct al_rollback_context *ctx, struct al_error *err)
{
    struct al_restore restore = restore_of(ctx);
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char after[AL_OID_TEXT];
    int r, taken;

    al_rollback_remove_leftovers(ctx);
    r = al_restore_apply(&restore, &ctx->report->kept, err);
    if (r < 0 && err && !err->remedy)
        err->remedy = "It stopped half way. 'airlock rollback' goes back to how it was before.";
    /* Also after a failure, so that its result can be undone as well. */
    taken = al_checkpoint_create(ctx->store,
                                 &(struct al_checkpoint_reason){ .tool = TOOL,
                                                                 .operation = OPERATION,
                                                                 .without = ctx->without,
                                                                 .linked = &ctx->linked_names,
                                                                 .before = ctx->present },
                                 ctx->budget, after, &why);
    /* The rollback did happen, so this is a warning and no error. */
    if (taken < 0)
        al_log_warn("there is no checkpoint of how it is now, so undoing this rollback needs "
                    "--force: %s",
                    why.message);
    return r;
}

static int note_checkpoint(struct al_rollback_context *ctx, struct al_error *err)
{
    al_auto(al_freep) char *summary = summary_of(ctx);
    const struct al_record_end record = record_of(ctx, summary, true);

    return al_recorded_note(&ctx->recorded, &record, err);
}

static int apply(struct al_rollback_context *ctx, struct al_error *err)
{
    bool changed = false;
    int r = prepare(ctx, err);

    if (r == 0)
        r = check_refusals(ctx, err);
    if (r == 0)
        r = keep_present(ctx, err);
    if (r == 0)
        r = note_checkpoint(ctx, err);
    if (r == 0) {
        /* A half restored repository is useless: from here on only SIGKILL stops it. */
        ctx->apply_limits =
            (struct al_run_limits){ .left_ms = ctx->budget->left_ms, .exit_code = -1 };
        ctx->budget = &ctx->apply_limits;
        ctx->is_consistent = changed = true;
        r = restore(ctx, err);
    }
    close_record(ctx, r, changed, err);
    if (r == 0 && ctx->report->changes.count && !ctx->plan.resumes)
        (void)al_plan_further(ctx->store, &ctx->executions, &ctx->plan, ctx->budget,
                              &ctx->report->further, NULL);
    return r;
}

static int preview(struct al_rollback_context *ctx, struct al_error *err)
{
    char from[AL_OID_TEXT], to[AL_OID_TEXT];
    int r = prepare(ctx, err);

    if (r == 0)
        r = al_pending_checkpoint_trees(ctx->pending, &ctx->report->changes, ctx->budget, from, to,
                                        err);
    if (r == 0)
        r = al_bare_diff(&ctx->store->bare, from, to, false, STAT_MAX_BYTES, ctx->budget,
                         &ctx->report->stat, err);
    return r < 0 ? r : check_refusals(ctx, err);
}

static void release(struct al_rollback_context *ctx)
{
    al_rollback_unlock(ctx);
    al_saved_state_clear(&ctx->from);
    al_saved_state_clear(&ctx->to);
    al_touched_clear(&ctx->touched);
    al_way_back_clear(&ctx->way);
    al_linked_changes_clear(&ctx->linked);
    al_strv_clear(&ctx->linked_names);
    al_executions_clear(&ctx->executions);
    al_pending_checkpoint_free(ctx->pending);
    al_store_close(ctx->store);
}

int al_rollback_run(struct al_repo *repo, const struct al_rollback_options *options,
                    struct al_run_limits *budget, struct al_rollback *rollback,
                    struct al_error *err)
{
    struct al_rollback_context ctx = {
        .options = options,
        .repo = repo,
        .budget = budget,
        .report = rollback,
        .lock_fd = -1,
        .index_lock = AL_LOCKFILE_INIT,
        .top_fd = -1,
        .git_fd = -1,
        .common_fd = -1,
    };
    int r = al_store_open(options->settings, repo, false, budget, &ctx.store, err);

    if (r == AL_ERR_NOT_FOUND)
        return al_error_set(err, r, "there is nothing to roll back in this repository");
    if (r == 0)
        r = al_rollback_lock(&ctx, err);
    if (r == 0)
        r = options->dry_run ? preview(&ctx, err) : apply(&ctx, err);
    release(&ctx);
    return r;
}
