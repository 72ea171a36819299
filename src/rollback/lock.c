// SPDX-License-Identifier: Apache-2.0
/* The locks of a rollback, and those that a killed one left. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "gitops/location.h"
#include "gitops/repo/write_lock.h"
#include "rollback/atomic_file.h"
#include "rollback/context.h"
#include "util/mem.h"

static int open_dirs(struct al_rollback_context *run, struct al_error *err)
{
    int r = al_location_open_top(&run->repo->at, &run->top_fd, err);

    if (r == 0)
        r = al_location_open_git_dir(&run->repo->at, &run->git_fd, err);
    return r < 0 ? r : al_location_open_common_dir(&run->repo->at, &run->common_fd, err);
}

static int be_alone(struct al_rollback_context *run, struct al_error *err)
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
static void find_leftover(struct al_rollback_context *run)
{
    (void)al_lockfile_find(run->git_fd, "HEAD.lock", run->leftover);
    (void)al_lockfile_find(run->common_fd, "config.lock", run->leftover);
    (void)al_lockfile_find(run->git_fd, "index.lock", run->leftover);
}

static int take_index_lock(struct al_rollback_context *run, struct al_error *err)
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
static int lock_repository(struct al_rollback_context *run, struct al_error *err)
{
    run->adopted = *run->leftover &&
                   al_lockfile_adopt(&run->index_lock, run->git_fd, "index.lock", run->leftover);
    if (!run->adopted)
        return take_index_lock(run, err);
    memcpy(run->token, run->leftover, sizeof(run->token));
    return al_write_lock_acquire(run->repo, run->budget->cancel, err);
}

int al_rollback_lock(struct al_rollback_context *run, struct al_error *err)
{
    int r = open_dirs(run, err);

    if (r == 0)
        r = be_alone(run, err);
    if (r == 0)
        find_leftover(run);
    if (r == 0 && !run->options->dry_run)
        r = lock_repository(run, err);
    return r;
}

static void remove_leftover_locks(const struct al_rollback_context *run)
{
    al_lockfile_remove(run->git_fd, "HEAD.lock");
    al_lockfile_remove(run->common_fd, "config.lock");
    al_lockfile_tidy(run->git_fd);
    al_lockfile_tidy(run->common_fd);
}

static void remove_leftover_files(const struct al_rollback_context *run)
{
    al_auto(al_freep) char *name = al_asprintf(".airlock-%s", run->leftover);
    const struct al_atomic_dir place = { run->top_fd, run->repo->at.top, "" };

    for (size_t i = 0; *run->leftover && i < run->report->changes.count; i++)
        if (run->report->changes.items[i].part == AL_PART_WORKTREE)
            al_atomic_file_clean(&place, run->report->changes.items[i].name, name);
}

void al_rollback_remove_leftovers(const struct al_rollback_context *run)
{
    remove_leftover_locks(run);
    remove_leftover_files(run);
}

void al_rollback_unlock(struct al_rollback_context *run)
{
    if (run->adopted && !run->is_whole)
        al_lockfile_leave(&run->index_lock);
    al_lockfile_release(&run->index_lock);
    al_write_lock_release(run->repo);
    al_close(run->alone_fd);
    al_close(run->top_fd);
    al_close(run->git_fd);
    al_close(run->common_fd);
}
