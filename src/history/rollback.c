// SPDX-License-Identifier: Apache-2.0
/*
 * One rollback, from its locks to its line in the journal.
 *
 *   lock                     held for                  by
 *
 *   rollback.lock (flock)    every run                 so that a second one does not take it back
 *   airlock's write lock     every run but a dry run   so that airlock's other writers wait
 *   index.lock               every run but a dry run   so that git's writers wait
 *
 * Only one rollback runs at a time, so a lock with a rollback's token was left by one that was
 * killed.
 */
#include "history/rollback.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/file.h>

#include "base/log.h"
#include "base/secret.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/snapshot.h"
#include "git/repo/write_lock.h"
#include "guard/effects.h"
#include "guard/root.h"
#include "history/keep.h"
#include "history/rollback_private.h"

#define TOOL           "rollback"
#define OPERATION      "restore"
#define STAT_MAX_BYTES (64u << 10)

void al_rollback_clear(struct al_rollback *rollback)
{
    al_strv_clear(&rollback->lost);
    al_strv_clear(&rollback->committed);
    al_strv_clear(&rollback->unsaved);
    al_strv_clear(&rollback->kept);
    al_strv_clear(&rollback->lacking);
    al_strv_clear(&rollback->settings);
    al_strv_clear(&rollback->left);
    al_strv_clear(&rollback->calls);
    al_strv_clear(&rollback->meanwhile);
    al_strv_clear(&rollback->pushes);
    al_differences_clear(&rollback->changes);
    al_str_clear(&rollback->stat);
    *rollback = AL_ROLLBACK_INIT;
}

struct context {
    const struct al_rollback_options *options;
    struct al_way way;
    /* The limits of the call while the repository is changed; no time before. */
    struct al_run_limits given;
    struct al_record *record;
    char *summary; /* for the journal */
    int lock_fd;   /* rollback.lock in the store */
    struct al_lockfile index_lock;
    char leftover[AL_LOCK_TOKEN]; /* token of index_lock, if a killed rollback left that; else "" */
    /* No rollback left the repository half changed, or this one has begun to restore it. */
    bool is_consistent;
};

/* --- Locks --- */

static int lock_store(struct context *ctx, struct al_error *err)
{
    ctx->lock_fd = openat(ctx->way.store->dir_fd, "rollback.lock",
                          O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (ctx->lock_fd >= 0 && flock(ctx->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (ctx->lock_fd < 0 || errno != EWOULDBLOCK)
        return al_error_errno(err, errno, "cannot lock the store of checkpoints");
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                             "another rollback of this repository is at work");
}

/* Make airlock's and git's other writers wait.  A lock that a killed rollback left is adopted and
 * not released in between, because the repository may be half changed. */
static int lock(struct context *ctx, struct al_error *err)
{
    struct al_run_limits wait = { .cancel = ctx->way.repo->at.budget->cancel,
                                  .left_ms = ctx->options->lock_wait_ms,
                                  .on_lock_wait = ctx->way.repo->at.budget->on_lock_wait,
                                  .caller = "rollback",
                                  .exit_code = -1 };
    int r;

    if (al_lockfile_take_over(&ctx->index_lock, ctx->way.git_fd, "index.lock", ctx->leftover)) {
        memcpy(ctx->way.token, ctx->leftover, sizeof(ctx->way.token));
        return al_write_lock_acquire(ctx->way.repo, &wait, err);
    }
    al_random_hex((AL_LOCK_TOKEN - 1) / 2, ctx->way.token);
    r = al_write_lock_acquire_with(ctx->way.repo, AL_LOCK_INDEX, &wait, err);
    return r < 0 ? r
                 : al_lockfile_acquire(&ctx->index_lock, ctx->way.git_fd, "index.lock",
                                       ctx->way.token, err);
}

/* --- The journal --- */

/* `changed` tells that the repository may have been changed. */
static struct al_record_end record_of(const struct context *ctx, bool changed)
{
    return (struct al_record_end){
        .operation = OPERATION,
        .effects = AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_DISCARDS_WORK,
        .decision = ctx->options->own_session ? "auto" : "once",
        .decided_by = ctx->options->own_session ? "policy" : "terminal",
        .summary = ctx->summary,
        .root = ctx->way.repo->at.root->path,
        .repository = ctx->way.repo->at.top,
        .confinement = ctx->options->confinement,
        .git_commit = changed ? ctx->way.present : NULL,
    };
}

static int open_record(struct context *ctx, struct al_error *err)
{
    const struct al_rollback_options *options = ctx->options;
    const size_t count = ctx->way.plan.count;
    al_auto(al_json_decrefp) json_t *input = al_json_object();
    struct al_record_end record;
    int r = al_journal_check(options->journal, err);

    if (r < 0)
        return r;
    ctx->summary =
        options->redo
            ? al_strdup("Undo the last rollback")
            : al_asprintf("Roll back %zu execution%s%s%s", count, count == 1 ? "" : "s",
                          options->agent ? " of agent " : "", options->agent ? options->agent : "");
    al_json_set(input, "count", al_json_int((int64_t)count));
    al_json_set(input, "force", al_json_bool(options->force));
    if (options->redo)
        al_json_set(input, "redo", al_json_bool(true));
    if (options->own_session)
        al_json_set(input, "own", al_json_bool(true));
    al_json_set(input, "to",
                al_json_string(ctx->way.executions.items[ctx->way.plan.oldest].before));
    /* It counts as an execution of this agent, so that it can be undone like one. */
    r = al_record_open(
        options->journal,
        &(struct al_record_begin){
            .tool = TOOL, .agent = options->agent, .session = options->session, .input = input },
        &ctx->record, err);
    record = record_of(ctx, false);
    return r < 0 ? r : al_record_update(ctx->record, &record, false, err);
}

static void close_record(struct context *ctx, int r, bool changed, const struct al_error *err)
{
    struct al_record_end end = record_of(ctx, changed);
    const char *text = r == 0 ? "Rolled back" : err->message ? err->message : "";

    end.status = r;
    end.text = text;
    end.text_len = strlen(text);
    (void)al_record_close(al_take(&ctx->record), &end);
    free(al_take(&ctx->summary));
}

/* --- Before anything is changed --- */

/* No checkpoint can be taken of a file that git cannot read; the one to go back to may have it. */
static int check_damage(const struct context *ctx, bool looks, struct al_error *err)
{
    const struct al_way *way = &ctx->way;
    const bool put_aside = ctx->options->force && !ctx->options->dry_run;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    const struct al_saved *to;
    int r = al_checkpoint_load(way->store, way->executions.items[way->plan.oldest].before, false,
                               &to, err);

    for (size_t i = 0; r == 0 && i < to->values.count; i++)
        if (to->values.items[i].part == AL_PART_REF)
            al_strv_add(&refs, to->values.items[i].name);
    return r < 0 ? r : al_git_check_damage(way->repo, &refs, looks, put_aside, err);
}

/* Read the present, and find the way back.  Nothing in the store changes: the rollback may still be
 * refused, or be a dry run. */
static int read_present(struct context *ctx, struct al_error *err)
{
    struct al_way *way = &ctx->way;
    struct al_checkpoint_reason reason = { .tool = TOOL,
                                           .operation = OPERATION,
                                           .linked = &way->linked };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int damaged, r = al_way_read_executions(way, err);

    reason.without = way->without;
    if (!ctx->options->dry_run)
        al_keep_give_back(way->store);
    if (r == 0 && !ctx->options->dry_run)
        al_linked_tidy(way->repo, &way->linked);
    if (r < 0)
        return r;
    r = al_checkpoint_create_pending(way->store, &reason, &way->pending, way->present, &why);
    if (r == 0)
        return al_way_find(way, err);
    damaged = check_damage(ctx, true, err);
    return damaged < 0 ? damaged : al_error_pass(r, &why, err);
}

/* Keep the very checkpoint that was compared and checked.  The commits that only the references
 * reach which will move or go are packed with it. */
static int keep_present(struct context *ctx, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv dropped = AL_STRV_INIT;

    for (size_t i = 0; i < ctx->way.changes.count; i++) {
        const struct al_difference *change = &ctx->way.changes.items[i];

        if (change->part == AL_PART_REF && change->from)
            al_strv_add(&dropped, change->name);
    }
    return al_checkpoint_accept(ctx->way.pending, &dropped, err);
}

/* Refuse unless the user has allowed what would be lost. */
static int check_refusals(const struct context *ctx, struct al_error *err)
{
    const struct al_rollback *report = ctx->way.report;

    if (report->unsaved.count)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "files are in the way that no checkpoint has, since they are ignored "
                            "or too large; move them away first");
    if (ctx->options->force)
        return 0;
    if (report->interrupted)
        return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                            "execution %" PRIu64 " was interrupted, so it cannot be told what it "
                            "changed and what was done since; --force rolls back all the same",
                            report->interrupted);
    if (report->meanwhile.count)
        return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                            "%s, ran meanwhile and would go too; --force rolls back all the same",
                            report->meanwhile.items[0]);
    if (!report->lost.count && !report->committed.count)
        return 0;
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED, "%s; --force rolls back all the same",
                        report->lost.count
                            ? "what you or another program changed since would be lost"
                            : "what was staged has been committed since, so going back would "
                              "stage the opposite of that commit");
}

/* A rollback that was killed is continued with the executions that it was about. */
static int check_unfinished(const struct context *ctx, struct al_error *err)
{
    const struct al_executions *executions = &ctx->way.executions;
    const char *wanted = ctx->options->agent, *agent;

    if (!al_executions_unfinished(executions))
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

static int find_executions(struct context *ctx, struct al_error *err)
{
    al_auto(al_freep) char *session = NULL;
    int r =
        al_executions_read(ctx->way.journal_file, ctx->way.repo->at.top, &ctx->way.executions, err);

    ctx->is_consistent = r == 0 && !al_executions_unfinished(&ctx->way.executions);
    if (r == 0)
        r = check_unfinished(ctx, err);
    if (r == 0 && ctx->options->own_session)
        session = al_journal_conversation(ctx->options->journal, ctx->options->session);
    if (r == 0)
        al_executions_absorb(&ctx->way.executions);
    if (session)
        al_executions_mark_undone(&ctx->way.executions);
    if (r == 0) /* a session may have calls under several names */
        al_executions_keep(&ctx->way.executions, session ? NULL : ctx->options->agent, session);
    return r;
}

/* Executions in another repository, whose path this one has now, are none of its history. */
static int check_repository(const struct context *ctx, struct al_error *err)
{
    const struct al_way *way = &ctx->way;
    al_auto(al_freep) char *is = al_store_repository(way->store);
    const struct al_saved *saved;

    for (size_t i = way->plan.oldest; is && !ctx->options->force && i < way->plan.end; i++) {
        const struct al_execution *one = &way->executions.items[i];

        if (al_checkpoint_load(way->store, one->before, false, &saved, NULL) == 0 &&
            !al_store_is_repository(saved->repository, is))
            return al_error_set(err, AL_ERR_EXECUTION,
                                "execution %" PRIu64 " was in another repository, which was here "
                                "before this one; --force rolls back all the same",
                                one->seq);
    }
    return 0;
}

static int prepare(struct context *ctx, struct al_error *err)
{
    int r = find_executions(ctx, err);

    /* A redo that was interrupted is continued like any other rollback. */
    if (r == 0)
        r = al_plan_make(&ctx->way, ctx->options, err);
    if (r == 0)
        r = check_repository(ctx, err);
    if (r == 0)
        r = check_damage(ctx, ctx->options->force, err);
    if (r < 0)
        return r;
    ctx->way.report->count = ctx->way.plan.count;
    ctx->way.report->resumed = ctx->way.plan.resumes;
    if (!ctx->options->dry_run)
        r = open_record(ctx, err);
    if (r == 0)
        r = read_present(ctx, err);
    if (r == 0 && ctx->way.plan.has_command)
        r = al_plan_meanwhile(&ctx->way, err);
    return r < 0 ? r : al_obstacles_check(&ctx->way, err);
}

/* --- Doing it --- */

static int restore(struct context *ctx, struct al_error *err)
{
    struct al_way *way = &ctx->way;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_strv_clear) struct al_strv written = AL_STRV_INIT;
    char after[AL_OID_TEXT];
    int r, taken;

    al_restore_tidy(way, ctx->leftover);
    r = al_restore_apply(way, err);
    if (r < 0)
        al_restore_tidy(way, way->token);
    if (r < 0 && err && !err->remedy)
        err->remedy = "It stopped half way. 'airlock rollback' goes on with it, and 'airlock "
                      "rollback --redo' goes back to how it was before.";
    for (size_t i = 0; i < way->changes.count; i++) {
        const struct al_difference *change = &way->changes.items[i];
        al_auto(al_freep) char *words = al_difference_words(change);

        if (change->part != AL_PART_WORKTREE || al_strv_contains(&way->report->left, words))
            continue;
        al_strv_add(&written, change->name);
        way->report->files += !al_strv_contains(&way->report->kept, words) &&
                              !al_strv_contains(&way->report->lacking, words);
    }
    /* Also after a failure, so that its result can be undone as well. */
    taken = al_checkpoint_create(way->store,
                                 &(struct al_checkpoint_reason){ .tool = TOOL,
                                                                 .operation = OPERATION,
                                                                 .without = way->without,
                                                                 .linked = &way->linked,
                                                                 .writes = &written,
                                                                 .before = way->present },
                                 after, &why);
    /* The rollback did happen, so this is a warning and no error. */
    if (taken < 0)
        al_log_warn("there is no checkpoint of how it is now, so undoing this rollback needs "
                    "--force: %s",
                    why.message);
    return r;
}

static int apply(struct context *ctx, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;
    struct al_record_end record;
    bool changed = false;
    int r;

    al_worktree_tidy(ctx->way.repo, true, &kept); /* after a call that was killed */
    for (size_t i = 0; i < kept.count; i++)
        al_log_warn("a call was killed, and what it had taken away is kept: %s", kept.items[i]);
    r = prepare(ctx, err);
    if (r == 0)
        r = check_refusals(ctx, err);
    if (r == 0)
        r = al_restore_objects(&ctx->way, err);
    if (r == 0)
        r = keep_present(ctx, err);
    record = record_of(ctx, true);
    if (r == 0)
        r = al_record_update(ctx->record, &record, true, err);
    if (r == 0) {
        /* A half restored repository is useless: from here on only SIGKILL stops it. */
        ctx->given = *ctx->way.repo->at.budget;
        *ctx->way.repo->at.budget =
            (struct al_run_limits){ .left_ms = ctx->given.left_ms, .exit_code = -1 };
        ctx->is_consistent = changed = true;
        r = restore(ctx, err);
    }
    close_record(ctx, r, changed, err);
    /* An agent is not told of it, which would take a fifth of the time. */
    if (r == 0 && ctx->way.changes.count && !ctx->way.plan.resumes && !ctx->options->own_session)
        ctx->way.report->further = al_plan_further(&ctx->way);
    return r;
}

static int preview(struct context *ctx, struct al_error *err)
{
    struct al_way *way = &ctx->way;
    char target[AL_OID_TEXT];
    int r = prepare(ctx, err);

    if (r == 0)
        r = al_pending_checkpoint_changed(way->pending, &way->changes, target, err);
    if (r == 0)
        r = al_bare_diff(&way->store->bare, way->present, target, AL_BARE_WORKTREE, STAT_MAX_BYTES,
                         &way->report->stat, err);
    return r < 0 ? r : check_refusals(ctx, err);
}

int al_rollback_run(struct al_repo *repo, const struct al_rollback_options *options,
                    struct al_rollback *rollback, struct al_error *err)
{
    struct context ctx = {
        .options = options,
        .way = { .repo = repo,
                 .report = rollback,
                 .is_agents = options->own_session,
                 .journal_file =
                     options->journal ? al_journal_file(options->journal) : options->journal_file,
                 AL_WAY_INIT },
        .lock_fd = -1,
        .index_lock = AL_LOCKFILE_INIT,
    };
    /* git children cannot begin in a directory that the rollback removes. */
    int r = al_repo_go_to_top(repo, err);

    if (r == 0)
        r = al_store_open(options->settings, repo, false, &ctx.way.store, err);
    if (r == AL_ERR_NOT_FOUND)
        return al_error_set(err, r, "there is nothing to roll back in this repository");
    if (r == 0)
        r = al_location_open_all(&repo->at, &ctx.way.top_fd, &ctx.way.git_fd, &ctx.way.common_fd,
                                 err);
    if (r == 0)
        r = lock_store(&ctx, err);
    if (r == 0 && !options->dry_run)
        r = lock(&ctx, err);
    if (r == 0)
        r = options->dry_run ? preview(&ctx, err) : apply(&ctx, err);
    /* An adopted index.lock stays as long as the repository is half changed. */
    if (*ctx.leftover && !ctx.is_consistent)
        al_lockfile_leave(&ctx.index_lock);
    al_lockfile_release(&ctx.index_lock);
    al_write_lock_release(ctx.way.repo);
    al_close(ctx.lock_fd);
    rollback->changes = ctx.way.changes;
    ctx.way.changes = (struct al_differences){ .items = NULL };
    al_way_clear(&ctx.way);
    al_store_close(ctx.way.store);
    if (ctx.given.left_ms)
        *repo->at.budget = ctx.given;
    return r;
}

/* --- After a call that failed --- */

int al_rollback_put_back(struct al_repo *repo, struct al_store *store, const char *before,
                         const char *after, const struct al_strv *files, struct al_str *ret_left,
                         struct al_error *err)
{
    al_auto(al_rollback_clear) struct al_rollback report = AL_ROLLBACK_INIT;
    struct al_lockfile lock = AL_LOCKFILE_INIT;
    struct al_way way = { .store = store, .repo = repo, .report = &report, AL_WAY_INIT };
    int r = al_location_open_all(&repo->at, &way.top_fd, &way.git_fd, &way.common_fd, err);

    memcpy(way.present, after, strlen(after) + 1);
    if (r == 0)
        r = al_way_to(&way, before, files, err);
    if (r == 0 && al_change_at(&way.changes, AL_PART_LINKED, "") < way.changes.count)
        r = al_error_set(err, AL_ERR_EXECUTION, "a linked worktree came or went");
    if (r == 0)
        al_obstacles_unsaved(&way);
    if (report.unsaved.count)
        r = al_error_set(err, AL_ERR_EXECUTION, "a file is in the way that no checkpoint has");
    al_random_hex((AL_LOCK_TOKEN - 1) / 2, way.token);
    if (r == 0)
        r = al_lockfile_acquire(&lock, way.git_fd, "index.lock", way.token, err);
    if (r == 0)
        r = al_restore_objects(&way, err);
    if (r == 0)
        r = al_restore_apply(&way, err);
    al_lockfile_release(&lock);
    al_way_clear(&way);
    for (size_t i = 0; i < report.left.count; i++)
        al_str_addf(ret_left, "%s%s", i ? ", " : "", report.left.items[i]);
    return r;
}
