// SPDX-License-Identifier: Apache-2.0
#include "rollback/rollback.h"

#include <inttypes.h>

#include "checkpoint/refs.h"
#include "gitops/command.h"
#include "gitops/deadline.h"
#include "gitops/plumbing/bare.h"
#include "guard/effects.h"
#include "guard/root.h"
#include "journal/recorded.h"
#include "rollback/context.h"
#include "rollback/restore.h"
#include "util/log.h"

#define TOOL           "rollback"
#define OPERATION      "restore"
#define STAT_MAX_BYTES (64u << 10)

void al_rollback_clear(struct al_rollback *rollback)
{
    al_strv_clear(&rollback->lost);
    al_strv_clear(&rollback->unsaved);
    al_strv_clear(&rollback->kept);
    al_differences_clear(&rollback->changes);
    al_str_clear(&rollback->stat);
    *rollback = AL_ROLLBACK_INIT;
}

/* --- The journal --- */

static char *summary_of(const struct al_rollback_context *run)
{
    return al_asprintf("Roll back %zu execution%s", run->plan.count,
                       run->plan.count == 1 ? "" : "s");
}

/* `begun` tells that the repository may have been changed. */
static struct al_record_end known_of(const struct al_rollback_context *run, const char *summary,
                                     bool begun)
{
    return (struct al_record_end){
        .operation = OPERATION,
        .effects = AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_DISCARDS_WORK,
        .decision = "once",
        .decided_by = "terminal",
        .summary = summary,
        .root = run->repo->at.root->path,
        .repository = run->repo->at.top,
        .confinement = run->options->confinement,
        .git_commit = begun ? run->present : NULL,
    };
}

static int open_record(struct al_rollback_context *run, struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *input = al_json_object();
    al_auto(al_freep) char *summary = summary_of(run);
    const struct al_record_end known = known_of(run, summary, false);
    int r = al_journal_check(run->options->journal, err);

    if (r < 0)
        return r;
    al_json_set(input, "count", al_json_int((int64_t)run->plan.count));
    al_json_set(input, "force", al_json_bool(run->options->force));
    if (run->options->redo)
        al_json_set(input, "redo", al_json_bool(true));
    al_json_set(input, "to", al_json_string(run->plan.target));
    r = al_recorded_open(&run->recorded, run->options->journal,
                         &(struct al_record_begin){ .tool = TOOL, .input = input }, err);
    return r < 0 ? r : al_recorded_update(&run->recorded, &known, err);
}

static void close_record(struct al_rollback_context *run, int r, bool begun,
                         const struct al_error *err)
{
    al_auto(al_freep) char *summary = summary_of(run);
    const struct al_record_end known = known_of(run, summary, begun);
    const char *text = r == 0 ? "Rolled back" : err->message ? err->message : "";

    al_recorded_close(
        &run->recorded, &known,
        &(struct al_recorded_end){ .status = r, .text = text, .text_len = strlen(text) });
}

/* --- Before anything is changed --- */

/* References that move away from where they are: what only they reach is kept in the store first.
 */
static int find_dropped(struct al_rollback_context *run, struct al_strv *ret_names,
                        struct al_error *err)
{
    struct al_deadline watch = al_deadline_begin(run->budget);
    int own_fd = strcmp(run->repo->at.git_dir, run->repo->at.common_dir) != 0 ? run->git_fd : -1;
    struct al_refs now = { .count = 0 }, then = { .items = run->to.refs, .count = run->to.nrefs };
    int r = al_refs_read(run->common_fd, own_fd, run->store->sha256, &watch, &now, err);

    al_deadline_sync(&watch);
    for (size_t i = 0, k = 0; r == 0 && i < now.count; i++) {
        int order = -1;

        while (k < then.count && (order = strcmp(then.items[k].name, now.items[i].name)) < 0)
            k++;
        if (k == then.count || order != 0 || strcmp(then.items[k].value, now.items[i].value) != 0)
            al_strv_add(ret_names, now.items[i].name);
    }
    al_refs_clear(&now);
    return r;
}

static int look_at_present(struct al_rollback_context *run, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv dropped = AL_STRV_INIT;
    int r = al_checkpoint_state(run->store, run->plan.target, run->budget, &run->to, err);

    if (r == 0)
        r = find_dropped(run, &dropped, err);
    if (r == 0)
        r = al_checkpoint_create(
            run->store,
            &(struct al_checkpoint_reason){ .tool = TOOL,
                                            .operation = OPERATION,
                                            .dropping = &dropped,
                                            .unnamed = true,
                                            .only_looks = run->options->dry_run },
            run->budget, run->present, err);
    if (r == 0)
        r = al_checkpoint_state(run->store, run->present, run->budget, &run->from, err);
    return r < 0 ? r
                 : al_checkpoint_compare(run->store, run->present, run->plan.target, run->budget,
                                         &run->report->changes, err);
}

static struct al_restore restore_of(struct al_rollback_context *run)
{
    return (struct al_restore){
        .store = run->store,
        .repo = run->repo,
        .present = run->present,
        .target = run->plan.target,
        .changes = &run->report->changes,
        .from = &run->from,
        .to = &run->to,
        .token = run->token,
        .budget = run->budget,
        .top_fd = run->top_fd,
        .git_fd = run->git_fd,
        .common_fd = run->common_fd,
    };
}

static int find_conflicts(struct al_rollback_context *run, struct al_error *err)
{
    al_auto(al_freep) char *leftover =
        al_asprintf("%s%s", *run->leftover ? ".airlock-" : "", run->leftover);
    struct al_restore restore = restore_of(run);
    int r = al_plan_check(run->store, &run->executions, &run->plan, run->present, leftover,
                          run->budget, &run->report->lost, err);

    if (r == 0)
        al_restore_check(&restore, &run->report->unsaved);
    return r;
}

/* What a person has to say first. */
static int judge(const struct al_rollback_context *run, struct al_error *err)
{
    const struct al_rollback *report = run->report;

    if (report->unsaved.count)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "files are in the way that no checkpoint has, since they are ignored "
                            "or too large; move them away first");
    if (run->options->force)
        return 0;
    if (run->plan.interrupted)
        return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                            "execution %" PRIu64 " was interrupted, so it cannot be told what it "
                            "changed and what was done since; --force rolls back all the same",
                            run->plan.interrupted);
    if (report->lost.count)
        return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                            "what you or another program changed since would be lost; --force "
                            "rolls back all the same");
    return 0;
}

/* A redo that was interrupted is gone on with like any rollback. */
static int make_plan(struct al_rollback_context *run, struct al_error *err)
{
    const struct al_executions *executions = &run->executions;
    bool goes_on =
        al_plan_is_unfinished(executions) && executions->items[executions->count - 1].redo;

    if (run->options->redo && !goes_on)
        return al_plan_redo(run->store, executions, run->budget, &run->plan, err);
    return al_plan_make(run->store, executions, run->options->count, run->budget, &run->plan, err);
}

static int prepare(struct al_rollback_context *run, struct al_error *err)
{
    int r =
        al_executions_read(run->options->journal_file, run->repo->at.top, &run->executions, err);

    run->is_whole = r == 0 && !al_plan_is_unfinished(&run->executions);
    if (r == 0)
        r = make_plan(run, err);
    if (r < 0)
        return r;
    run->report->count = run->plan.count;
    run->report->resumed = run->plan.resumes;
    if (!run->options->dry_run)
        r = open_record(run, err);
    if (r == 0)
        r = look_at_present(run, err);
    return r < 0 ? r : find_conflicts(run, err);
}

/* --- Doing it --- */

static int restore(struct al_rollback_context *run, struct al_error *err)
{
    struct al_restore restore = restore_of(run);
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char after[AL_OID_TEXT];
    int r, taken;

    al_rollback_remove_leftovers(run);
    r = al_restore_apply(&restore, &run->report->kept, err);
    /* Also of what came of it when it failed: that can be undone as well. */
    taken = al_checkpoint_create(run->store,
                                 &(struct al_checkpoint_reason){
                                     .tool = TOOL, .operation = OPERATION, .before = run->present },
                                 run->budget, after, &why);
    if (taken < 0) /* it happened all the same, and must not be told as if it had not */
        al_log_warn("there is no checkpoint of how it is now, so undoing this rollback needs "
                    "--force: %s",
                    why.message);
    return r;
}

static int note(struct al_rollback_context *run, struct al_error *err)
{
    al_auto(al_freep) char *summary = summary_of(run);
    const struct al_record_end known = known_of(run, summary, true);

    return al_recorded_note(&run->recorded, &known, err);
}

static int go_back(struct al_rollback_context *run, struct al_error *err)
{
    bool begun = false;
    int r = prepare(run, err);

    if (r == 0)
        r = judge(run, err);
    if (r == 0)
        r = al_checkpoint_name(run->store, run->present, err);
    if (r == 0)
        r = note(run, err);
    if (r == 0) {
        /* Half of it helps nobody: from here on only SIGKILL stops it. */
        run->restoring = (struct al_run_limits){ .left_ms = run->budget->left_ms, .exit_code = -1 };
        run->budget = &run->restoring;
        run->is_whole = begun = true;
        r = restore(run, err);
    }
    close_record(run, r, begun, err);
    if (r == 0 && run->report->changes.count && !run->plan.resumes)
        (void)al_plan_further(run->store, &run->executions, &run->plan, run->budget,
                              &run->report->further, NULL);
    return r;
}

static int look(struct al_rollback_context *run, struct al_error *err)
{
    int r = prepare(run, err);

    if (r == 0)
        r = al_bare_diff(&run->store->bare, run->present, run->plan.target, false, STAT_MAX_BYTES,
                         run->budget, &run->report->stat, err);
    return r < 0 ? r : judge(run, err);
}

static void release(struct al_rollback_context *run)
{
    al_rollback_unlock(run);
    al_saved_state_clear(&run->from);
    al_saved_state_clear(&run->to);
    al_executions_clear(&run->executions);
    al_store_close(run->store);
}

int al_rollback_run(struct al_repo *repo, const struct al_rollback_options *options,
                    struct al_run_limits *budget, struct al_rollback *rollback,
                    struct al_error *err)
{
    struct al_rollback_context run = {
        .options = options,
        .repo = repo,
        .budget = budget,
        .report = rollback,
        .alone_fd = -1,
        .index_lock = AL_LOCKFILE_INIT,
        .top_fd = -1,
        .git_fd = -1,
        .common_fd = -1,
    };
    int r = al_store_open(options->settings, repo, false, budget, &run.store, err);

    if (r == AL_ERR_NOT_FOUND)
        return al_error_set(err, r, "there is nothing to roll back in this repository");
    if (r == 0)
        r = al_rollback_lock(&run, err);
    if (r == 0)
        r = options->dry_run ? look(&run, err) : go_back(&run, err);
    release(&run);
    return r;
}
