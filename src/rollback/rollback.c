// SPDX-License-Identifier: Apache-2.0
#include "rollback/rollback.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "checkpoint/refs.h"
#include "checkpoint/store.h"
#include "gitops/command.h"
#include "gitops/deadline.h"
#include "gitops/location.h"
#include "gitops/plumbing/bare.h"
#include "gitops/repo/write_lock.h"
#include "guard/effects.h"
#include "guard/root.h"
#include "journal/recorded.h"
#include "rollback/lockfile.h"
#include "rollback/plan.h"
#include "rollback/restore.h"
#include "util/log.h"

#define TOOL           "rollback"
#define OPERATION      "restore"
#define STAT_MAX_BYTES (64u << 10)

/* Everything a rollback holds while it runs. */
struct run {
    const struct al_rollback_options *options;
    struct al_repo *repo;
    struct al_run_limits *budget;
    struct al_run_limits restoring; /* of what nothing but SIGKILL stops */
    struct al_rollback *report;

    struct al_recorded recorded;
    int alone_fd; /* locked: one rollback at a time, so that what a killed one left can be told */
    struct al_lockfile index_lock;
    bool adopted;  /* it is the one a killed rollback left */
    bool is_whole; /* no rollback left the repository half done, or this one took over */
    char token[AL_LOCK_TOKEN];
    char leftover[AL_LOCK_TOKEN]; /* token of one that was killed; "" */
    int top_fd, git_fd, common_fd;

    struct al_store *store;
    struct al_executions executions;
    struct al_plan plan;
    struct al_saved_state from, to;
    char present[AL_OID_TEXT];
};

void al_rollback_clear(struct al_rollback *rollback)
{
    al_strv_clear(&rollback->lost);
    al_strv_clear(&rollback->unsaved);
    al_strv_clear(&rollback->kept);
    al_differences_clear(&rollback->changes);
    al_str_clear(&rollback->stat);
    *rollback = AL_ROLLBACK_INIT;
}

/* --- Being alone --- */

static int open_dirs(struct run *run, struct al_error *err)
{
    int r = al_location_open_top(&run->repo->at, &run->top_fd, err);

    if (r == 0)
        r = al_location_open_git_dir(&run->repo->at, &run->git_fd, err);
    return r < 0 ? r : al_location_open_common_dir(&run->repo->at, &run->common_fd, err);
}

static int be_alone(struct run *run, struct al_error *err)
{
    int r;

    run->alone_fd = openat(run->store->dir_fd, "rollback.lock",
                           O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (run->alone_fd < 0)
        return al_error_errno(err, errno, "cannot lock the store of checkpoints");
    do
        r = flock(run->alone_fd, LOCK_EX | LOCK_NB);
    while (r < 0 && errno == EINTR);
    if (r == 0)
        return 0;
    if (errno != EWOULDBLOCK)
        return al_error_errno(err, errno, "cannot lock the store of checkpoints");
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                             "another rollback of this repository is at work");
}

/* Which rollback was killed: the first lock of it says so, for as long as it is there. */
static void find_leftover(struct run *run)
{
    (void)al_lockfile_find(run->git_fd, "HEAD.lock", run->leftover);
    (void)al_lockfile_find(run->common_fd, "config.lock", run->leftover);
    (void)al_lockfile_find(run->git_fd, "index.lock", run->leftover);
}

static void remove_leftover_locks(const struct run *run)
{
    al_lockfile_remove(run->git_fd, "HEAD.lock");
    al_lockfile_remove(run->common_fd, "config.lock");
    al_lockfile_tidy(run->git_fd);
    al_lockfile_tidy(run->common_fd);
}

static int take_index_lock(struct run *run, struct al_error *err)
{
    struct al_run_limits wait = { .cancel = run->budget->cancel,
                                  .left_ms = run->options->lock_wait_ms,
                                  .waits = run->budget->waits,
                                  .exit_code = -1 };
    int r = al_lockfile_token(run->token, err);

    if (r == 0)
        r = al_write_lock_acquire_with_index(run->repo, &wait, err);
    return r < 0 ? r
                 : al_lockfile_take(&run->index_lock, run->git_fd, "index.lock", run->token, err);
}

/* The repository's writers wait from here on, airlock's and others.  The lock that a killed
 * rollback left is never let go of in between: what it guards may be half of two states. */
static int lock_repository(struct run *run, struct al_error *err)
{
    run->adopted = *run->leftover &&
                   al_lockfile_adopt(&run->index_lock, run->git_fd, "index.lock", run->leftover);
    if (!run->adopted)
        return take_index_lock(run, err);
    memcpy(run->token, run->leftover, sizeof(run->token));
    return al_write_lock_acquire(run->repo, run->budget->cancel, err);
}

/* --- The journal --- */

static char *summary_of(const struct run *run)
{
    return al_asprintf("Roll back %zu execution%s", run->plan.count,
                       run->plan.count == 1 ? "" : "s");
}

/* `begun` tells that the repository may have been changed. */
static struct al_record_end known_of(const struct run *run, const char *summary, bool begun)
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

static int open_record(struct run *run, struct al_error *err)
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

static void close_record(struct run *run, int r, bool begun, const struct al_error *err)
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
static int find_dropped(struct run *run, struct al_strv *ret_names, struct al_error *err)
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

static int look_at_present(struct run *run, struct al_error *err)
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

static struct al_restore restore_of(struct run *run)
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

static int find_conflicts(struct run *run, struct al_error *err)
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
static int judge(const struct run *run, struct al_error *err)
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
static int make_plan(struct run *run, struct al_error *err)
{
    const struct al_executions *executions = &run->executions;
    bool goes_on =
        al_plan_is_unfinished(executions) && executions->items[executions->count - 1].redo;

    if (run->options->redo && !goes_on)
        return al_plan_redo(run->store, executions, run->budget, &run->plan, err);
    return al_plan_make(run->store, executions, run->options->count, run->budget, &run->plan, err);
}

static int prepare(struct run *run, struct al_error *err)
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

static void remove_leftovers(const struct run *run)
{
    al_auto(al_freep) char *name = al_asprintf(".airlock-%s", run->leftover);
    const struct al_atomic_dir place = { run->top_fd, run->repo->at.top, "" };

    for (size_t i = 0; *run->leftover && i < run->report->changes.count; i++)
        if (run->report->changes.items[i].part == AL_PART_WORKTREE)
            al_atomic_file_clean(&place, run->report->changes.items[i].name, name);
}

static int restore(struct run *run, struct al_error *err)
{
    struct al_restore restore = restore_of(run);
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char after[AL_OID_TEXT];
    int r, taken;

    remove_leftover_locks(run);
    remove_leftovers(run);
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

static int note(struct run *run, struct al_error *err)
{
    al_auto(al_freep) char *summary = summary_of(run);
    const struct al_record_end known = known_of(run, summary, true);

    return al_recorded_note(&run->recorded, &known, err);
}

static int go_back(struct run *run, struct al_error *err)
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

static int look(struct run *run, struct al_error *err)
{
    int r = prepare(run, err);

    if (r == 0)
        r = al_bare_diff(&run->store->bare, run->present, run->plan.target, false, STAT_MAX_BYTES,
                         run->budget, &run->report->stat, err);
    return r < 0 ? r : judge(run, err);
}

static void release(struct run *run)
{
    if (run->adopted && !run->is_whole)
        al_lockfile_leave(&run->index_lock);
    al_lockfile_release(&run->index_lock);
    al_write_lock_release(run->repo);
    al_saved_state_clear(&run->from);
    al_saved_state_clear(&run->to);
    al_executions_clear(&run->executions);
    al_store_close(run->store);
    al_close(run->alone_fd);
    al_close(run->top_fd);
    al_close(run->git_fd);
    al_close(run->common_fd);
}

int al_rollback_run(struct al_repo *repo, const struct al_rollback_options *options,
                    struct al_run_limits *budget, struct al_rollback *rollback,
                    struct al_error *err)
{
    struct run run = {
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
        r = open_dirs(&run, err);
    if (r == 0)
        r = be_alone(&run, err);
    if (r == 0)
        find_leftover(&run);
    if (r == 0 && !options->dry_run)
        r = lock_repository(&run, err);
    if (r == 0)
        r = options->dry_run ? look(&run, err) : go_back(&run, err);
    release(&run);
    return r;
}
