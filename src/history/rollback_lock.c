// SPDX-License-Identifier: Apache-2.0
/* The locks of a rollback, and those that a killed one left. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "gitops/location.h"
#include "gitops/repo/write_lock.h"
#include "history/gitdir.h"
#include "history/rollback_atomic_file.h"
#include "history/rollback_context.h"
#include "history/worktree.h"
#include "util/mem.h"

static int open_dirs(struct al_rollback_context *ctx, struct al_error *err)
{
    int r = al_location_open_top(&ctx->repo->at, &ctx->top_fd, err);

    if (r == 0)
        r = al_location_open_git_dir(&ctx->repo->at, &ctx->git_fd, err);
    return r < 0 ? r : al_location_open_common_dir(&ctx->repo->at, &ctx->common_fd, err);
}

static int lock_store(struct al_rollback_context *ctx, struct al_error *err)
{
    int r;

    ctx->lock_fd = openat(ctx->store->dir_fd, "rollback.lock",
                          O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (ctx->lock_fd < 0)
        return al_error_errno(err, errno, "cannot lock the store of checkpoints");
    do
        r = flock(ctx->lock_fd, LOCK_EX | LOCK_NB);
    while (r < 0 && errno == EINTR);
    if (r == 0)
        return 0;
    if (errno != EWOULDBLOCK)
        return al_error_errno(err, errno, "cannot lock the store of checkpoints");
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                             "another rollback of this repository is at work");
}

/* Find out which rollback was killed.  Each lock that it left has its token. */
static void find_leftover(struct al_rollback_context *ctx)
{
    (void)al_lockfile_find(ctx->git_fd, "HEAD.lock", ctx->leftover);
    (void)al_lockfile_find(ctx->common_fd, "config.lock", ctx->leftover);
    (void)al_lockfile_find(ctx->git_fd, "index.lock", ctx->leftover);
}

static struct al_run_limits limits_of_wait(const struct al_rollback_context *ctx)
{
    return (struct al_run_limits){ .cancel = ctx->budget->cancel,
                                   .left_ms = ctx->options->lock_wait_ms,
                                   .on_lock_wait = ctx->budget->on_lock_wait,
                                   .caller = "rollback",
                                   .exit_code = -1 };
}

static int take_index_lock(struct al_rollback_context *ctx, struct al_error *err)
{
    struct al_run_limits wait = limits_of_wait(ctx);
    int r = al_lockfile_token(ctx->token, err);

    if (r == 0)
        r = al_write_lock_acquire_with_index(ctx->repo, &wait, err);
    return r < 0
               ? r
               : al_lockfile_acquire(&ctx->index_lock, ctx->git_fd, "index.lock", ctx->token, err);
}

/* Make airlock's and git's other writers wait.  A lock that a killed rollback left is adopted and
 * not released in between, because the repository may be half changed. */
static int lock_repository(struct al_rollback_context *ctx, struct al_error *err)
{
    struct al_run_limits wait = limits_of_wait(ctx);

    ctx->adopted = *ctx->leftover &&
                   al_lockfile_adopt(&ctx->index_lock, ctx->git_fd, "index.lock", ctx->leftover);
    if (!ctx->adopted)
        return take_index_lock(ctx, err);
    memcpy(ctx->token, ctx->leftover, sizeof(ctx->token));
    return al_write_lock_acquire(ctx->repo, &wait, err);
}

int al_rollback_lock(struct al_rollback_context *ctx, struct al_error *err)
{
    int r = open_dirs(ctx, err);

    if (r == 0)
        r = lock_store(ctx, err);
    if (r == 0) {
        al_worktree_tidy(ctx->repo, true, NULL);
        find_leftover(ctx);
    }
    if (r == 0 && !ctx->options->dry_run)
        r = lock_repository(ctx, err);
    return r;
}

static void remove_leftover_locks(const struct al_rollback_context *ctx)
{
    al_lockfile_remove(ctx->git_fd, "HEAD.lock");
    al_lockfile_remove(ctx->common_fd, "config.lock");
    al_lockfile_tidy(ctx->git_fd);
    al_lockfile_tidy(ctx->common_fd);
}

static void remove_leftover_files(const struct al_rollback_context *ctx)
{
    al_auto(al_freep) char *name = al_asprintf(".airlock-%s", ctx->leftover);
    const struct al_atomic_dir top = { ctx->top_fd, ctx->repo->at.top, "" };
    const struct al_atomic_dir git = { ctx->git_fd, ctx->repo->at.git_dir, "" };
    const struct al_atomic_dir common = { ctx->common_fd, ctx->repo->at.common_dir, "" };

    for (size_t i = 0; *ctx->leftover && i < ctx->report->changes.count; i++) {
        const struct al_difference *change = &ctx->report->changes.items[i];

        if (change->part == AL_PART_WORKTREE)
            al_atomic_file_clean(&top, change->name, name);
        else if (change->part == AL_PART_STASH || change->part == AL_PART_STATE)
            al_atomic_file_clean(al_gitdir_is_common(change->name) ? &common : &git, change->name,
                                 name);
    }
}

void al_rollback_remove_leftovers(const struct al_rollback_context *ctx)
{
    remove_leftover_locks(ctx);
    remove_leftover_files(ctx);
}

void al_rollback_unlock(struct al_rollback_context *ctx)
{
    if (ctx->adopted && !ctx->is_consistent)
        al_lockfile_leave(&ctx->index_lock);
    al_lockfile_release(&ctx->index_lock);
    al_write_lock_release(ctx->repo);
    al_close(ctx->lock_fd);
    al_close(ctx->top_fd);
    al_close(ctx->git_fd);
    al_close(ctx->common_fd);
}
