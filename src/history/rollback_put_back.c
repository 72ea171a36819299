// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_put_back.h"

#include <stdio.h>
#include <stdlib.h>

#include "gitops/location.h"
#include "history/rollback_lockfile.h"
#include "history/rollback_restore.h"
#include "history/rollback_way_back.h"
#include "util/mem.h"

static void turn_round(struct al_difference *change)
{
    char *const from = change->from;
    const unsigned from_mode = change->from_mode;

    change->from = change->to;
    change->from_mode = change->to_mode;
    change->to = from;
    change->to_mode = from_mode;
}

/* Turn the changes round, and leave out files that were not written by the operation. */
static void take_back(struct al_differences *changes, const struct al_strv *files)
{
    size_t kept = 0;

    for (size_t i = 0; i < changes->count; i++) {
        struct al_difference *change = &changes->items[i];

        if (files && change->part == AL_PART_WORKTREE &&
            !al_strv_contains_sorted(files, change->name)) {
            free(change->name);
            free(change->from);
            free(change->to);
            continue;
        }
        turn_round(change);
        changes->items[kept++] = *change;
    }
    changes->count = kept;
}

static int find_way(struct al_store *store, const char *before, const char *after,
                    const struct al_strv *files, struct al_run_limits *budget,
                    struct al_way_back *way, struct al_saved_state *from, struct al_saved_state *to,
                    struct al_error *err)
{
    int r = al_checkpoint_changes_of(store, before, after, budget, &way->changes, err);

    take_back(&way->changes, files);
    if (r == 0 && way->changes.index_was_written)
        (void)snprintf(way->index_of, sizeof(way->index_of), "%s", before);
    if (r == 0)
        r = al_checkpoint_state(store, after, budget, from, err);
    return r < 0 ? r : al_way_back_target(store, way, from, budget, to, err);
}

static int check(const struct al_restore *restore, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv unsaved = AL_STRV_INIT;

    for (size_t i = 0; i < restore->changes->count; i++)
        if (restore->changes->items[i].part == AL_PART_LINKED)
            return al_error_set(err, AL_ERR_EXECUTION, "a linked worktree came or went");
    al_restore_check(restore, &unsaved);
    return unsaved.count
               ? al_error_set(err, AL_ERR_EXECUTION, "a file is in the way that no checkpoint has")
               : 0;
}

static int apply(struct al_restore *restore, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;
    struct al_lockfile lock = AL_LOCKFILE_INIT;
    char token[AL_LOCK_TOKEN];
    int r = check(restore, err);

    if (r == 0)
        r = al_lockfile_token(token, err);
    if (r == 0)
        r = al_lockfile_acquire(&lock, restore->git_fd, "index.lock", token, err);
    if (r < 0)
        return r;
    restore->token = token;
    r = al_restore_apply(restore, &kept, err);
    al_lockfile_release(&lock);
    return r;
}

int al_rollback_put_back(struct al_repo *repo, struct al_store *store, const char *before,
                         const char *after, const struct al_strv *files,
                         struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_way_back_clear) struct al_way_back way = { .index_of = "" };
    al_auto(al_saved_state_clear) struct al_saved_state from = { .index = AL_STR_INIT };
    al_auto(al_saved_state_clear) struct al_saved_state to = { .index = AL_STR_INIT };
    al_auto(al_closep) int top = -1, git_dir = -1, common = -1;
    struct al_restore restore = {
        .store = store,
        .repo = repo,
        .changes = &way.changes,
        .from = &from,
        .to = &to,
        .budget = budget,
    };
    int r = find_way(store, before, after, files, budget, &way, &from, &to, err);

    if (r == 0)
        r = al_location_open_top(&repo->at, &top, err);
    if (r == 0)
        r = al_location_open_git_dir(&repo->at, &git_dir, err);
    if (r == 0)
        r = al_location_open_common_dir(&repo->at, &common, err);
    if (r < 0)
        return r;
    restore.keeps_index = !way.index_of[0];
    restore.top_fd = top;
    restore.git_fd = git_dir;
    restore.common_fd = common;
    return apply(&restore, err);
}
