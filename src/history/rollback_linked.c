// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_linked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/location.h"
#include "gitops/worktree/find.h"
#include "gitops/worktree/list.h"
#include "gitops/worktree/place.h"
#include "gitops/worktree/remove.h"
#include "guard/text.h"
#include "history/journal.h"
#include "history/store.h"
#include "history/worktree.h"
#include "util/fs.h"
#include "util/json.h"

void al_linked_changes_clear(struct al_linked_changes *linked)
{
    for (size_t i = 0; i < linked->count; i++) {
        struct al_linked_change *change = &linked->items[i];

        free(change->name);
        al_str_clear(&change->from_text);
        al_str_clear(&change->to_text);
        al_linked_saved_clear(&change->from);
        al_linked_saved_clear(&change->to);
    }
    free(linked->items);
    *linked = (struct al_linked_changes){ .items = NULL };
}

static void add_name(struct al_strv *names, const char *name)
{
    if (!al_strv_contains(names, name))
        al_strv_add(names, name);
}

static bool is_linked(const char *path)
{
    return al_starts_with(path, AL_LINKED_PREFIX) || al_starts_with(path, AL_LINKED_LOCK_PREFIX);
}

/* An execution that was interrupted may have changed everything that its checkpoint has. */
static int add_interrupted(struct al_store *store, const char *before, struct al_run_limits *budget,
                           struct al_strv *ret_names, struct al_error *err)
{
    struct al_saved_state state = { .index = AL_STR_INIT };
    int r = al_checkpoint_state(store, before, budget, &state, err);

    for (size_t i = 0; i < state.files.count; i++)
        if (is_linked(state.files.items[i].path))
            add_name(ret_names, state.files.items[i].path);
    al_saved_state_clear(&state);
    return r;
}

int al_linked_touched(struct al_store *store, const struct al_touched *touched,
                      struct al_run_limits *budget, struct al_strv *ret_names, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < touched->count && r == 0; i++) {
        const struct al_differences *changes = &touched->each[i];

        for (size_t k = 0; k < changes->count; k++)
            if (changes->items[k].part == AL_PART_LINKED)
                add_name(ret_names, changes->items[k].name);
        if (touched->interrupted[i])
            r = add_interrupted(store, touched->executions->items[touched->first + i].before,
                                budget, ret_names, err);
    }
    return r;
}

/* --- Reading --- */

static int add_bytes(void *payload, size_t which, const char *data, size_t len, bool last,
                     struct al_error *err)
{
    (void)which;
    (void)last;
    (void)err;
    al_str_add(payload, data, len);
    return 0;
}

static int read_side(struct al_store *store, const char *oid, bool is_lock,
                     struct al_run_limits *budget, struct al_str *text,
                     struct al_linked_saved *saved, struct al_error *err)
{
    int r = oid ? al_checkpoint_read(store, &oid, 1, add_bytes, text, budget, err) : 0;

    if (r < 0 || !oid || is_lock)
        return r;
    return al_linked_parse(text, saved)
               ? 0
               : al_error_set(err, AL_ERR_EXECUTION,
                              "the checkpoint has a worktree in a form airlock does not read");
}

int al_linked_changes_read(struct al_store *store, const struct al_differences *changes,
                           struct al_run_limits *budget, struct al_linked_changes *ret_linked,
                           struct al_error *err)
{
    int r = 0;

    al_linked_changes_clear(ret_linked);
    ret_linked->items = al_calloc(changes->count + 1, sizeof(*ret_linked->items));
    for (size_t i = 0; i < changes->count && r == 0; i++) {
        const struct al_difference *change = &changes->items[i];
        struct al_linked_change *item = &ret_linked->items[ret_linked->count];
        const char *slash = strchr(change->name, '/');

        if (change->part != AL_PART_LINKED || !slash ||
            al_worktree_check_name("name", slash + 1, NULL) < 0)
            continue;
        ret_linked->count++;
        *item = (struct al_linked_change){ .name = al_strdup(slash + 1),
                                           .is_lock =
                                               al_starts_with(change->name, AL_LINKED_LOCK_PREFIX),
                                           .from_text = AL_STR_INIT,
                                           .to_text = AL_STR_INIT };
        r = read_side(store, change->from, item->is_lock, budget, &item->from_text, &item->from,
                      err);
        if (r == 0)
            r = read_side(store, change->to, item->is_lock, budget, &item->to_text, &item->to, err);
    }
    return r;
}

/* The same worktree has no state that a rollback gives it. */
static bool is_same(const struct al_linked_change *change)
{
    return change->from.exists && change->to.exists && !strcmp(change->from.is, change->to.is);
}

static bool goes(const struct al_linked_change *change)
{
    return !change->is_lock && change->from.exists && !is_same(change);
}

static bool returns(const struct al_linked_change *change)
{
    return !change->is_lock && change->to.exists && !is_same(change);
}

static int find(struct al_repo *repo, const char *name, struct al_worktree_place *place,
                struct al_worktree_found *found, struct al_error *err)
{
    int r = al_worktree_place_find(repo, false, place, err);

    return r < 0 ? r : al_worktree_find(repo, place, name, found, err);
}

bool al_linked_will_go(const struct al_linked_changes *linked, const char *id)
{
    for (size_t i = 0; i < linked->count; i++)
        if (goes(&linked->items[i]) && !strcmp(linked->items[i].from.id, id))
            return true;
    return false;
}

/* --- Refusals --- */

/* A call that runs in a worktree. */
struct running {
    const char *top;
    char *words; /* NULL: none was found */
};

static void find_running(void *payload, long pid, const json_t *call)
{
    struct running *running = payload;
    const char *tool = al_json_get_string(call, "tool");

    if (!running->words && tool && al_journal_is_about(call, running->top))
        running->words = al_asprintf("%s (process %ld)", tool, pid);
}

/* Whether the rollback unlocks a worktree as well. */
static bool unlocks(const struct al_linked_changes *linked, const char *name)
{
    for (size_t i = 0; i < linked->count; i++)
        if (linked->items[i].is_lock && !strcmp(linked->items[i].name, name))
            return true;
    return false;
}

/* Somebody has locked it since, or put something else into its place. */
static int check_found(const struct al_linked_changes *linked,
                       const struct al_linked_change *change, struct al_repo *repo,
                       struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    int r = find(repo, change->name, &place, &found, err);

    if (r < 0 || !found.id)
        return r;
    if (found.locked && !unlocks(linked, change->name))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the rollback would remove the worktree '%s', which is locked; unlock "
                            "it first",
                            change->name);
    return found.locked ? 0 : al_worktree_check_removable(&place, &found, change->name, err);
}

static int check_removal(const struct al_linked_change *change, const char *journal_file,
                         struct al_error *err)
{
    struct running running = { .top = change->from.top };
    al_auto(al_freep) char *words = NULL;

    (void)al_journal_running(journal_file, find_running, &running);
    words = al_take(&running.words);
    return words ? al_error_set(err, AL_ERR_EXECUTION,
                                "the rollback would remove the worktree '%s', in which %s runs",
                                change->name, words)
                 : 0;
}

/* git lets no two worktrees have one branch checked out. */
static int check_branch(const struct al_linked_change *change, const char *branch,
                        struct al_repo *repo, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    int r = branch ? al_worktree_find_branch(repo, branch, budget, &path, err) : 0;

    if (r < 0 || !path)
        return r;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the worktree '%s' cannot come back: its branch '%s' is checked out in "
                        "'%s'; switch that to another branch first",
                        change->name, branch + strlen("refs/heads/"), path);
}

/* Git may have made another worktree under the name that this one had below worktrees/. */
static int check_id(const struct al_linked_change *change, const struct al_repo *repo,
                    struct al_error *err)
{
    al_auto(al_freep) char *dir =
        al_asprintf("%s/worktrees/%s", repo->at.common_dir, change->to.id);
    struct stat st;

    if (lstat(dir, &st) < 0)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the worktree '%s' cannot come back: another one has its place '%s' in the "
                        "repository; remove that with 'git worktree remove' first",
                        change->name, change->to.id);
}

static int check_aside(const struct al_linked_change *change, struct al_repo *repo,
                       const struct al_worktree_place *place, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_freep) char *branch = NULL;

    if (al_worktree_find_aside(repo, place, change->name, change->to.is, &branch) < 0)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the worktree '%s' cannot come back: what was moved aside of it is "
                            "gone for good",
                            change->name);
    return check_branch(change, branch, repo, budget, err);
}

/* Where another worktree goes first, its place is free then. */
static int check_return(const struct al_linked_change *change, struct al_repo *repo,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_freep) char *top = al_text_sanitize_line(change->to.top);
    int r = find(repo, change->name, &place, &found, err);

    if (r < 0)
        return r;
    if (strcmp(found.top, change->to.top) != 0)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the worktree '%s' was at '%s', and worktrees.dir is another directory "
                            "now",
                            change->name, top);
    if (found.has_top && !found.id)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "something else is at '%s', where the worktree was; move it away", top);
    r = found.id ? 0 : check_id(change, repo, err);
    return r < 0 ? r : check_aside(change, repo, &place, budget, err);
}

static bool comes_back(const struct al_linked_changes *linked, const char *name)
{
    for (size_t i = 0; i < linked->count; i++)
        if (returns(&linked->items[i]) && !strcmp(linked->items[i].name, name))
            return true;
    return false;
}

/* A worktree is locked again that somebody else removed since; it may have been made again. */
static int check_locked(const struct al_linked_changes *linked,
                        const struct al_linked_change *change, struct al_repo *repo,
                        struct al_strv *ret_lost, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_freep) char *of = NULL;
    al_auto(al_freep) char *id = NULL;
    struct al_linked_lock lock;
    int r;

    if (!al_linked_parse_lock(&change->to_text, &lock))
        return 0;
    of = lock.of;
    if (comes_back(linked, change->name))
        return 0;
    r = find(repo, change->name, &place, &found, err);
    if (r == 0 && !found.id)
        al_strv_addf(ret_lost, "the lock of the worktree '%s', which is gone", change->name);
    if (r < 0 || !found.id)
        return r;
    id = al_worktree_identity(&found);
    if (!id || strcmp(id, of) != 0)
        al_strv_addf(ret_lost, "the lock of the worktree '%s', which was made again since",
                     change->name);
    return 0;
}

int al_linked_check(const struct al_linked_changes *linked, struct al_repo *repo,
                    const char *journal_file, struct al_run_limits *budget,
                    struct al_strv *ret_lost, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < linked->count && r == 0; i++) {
        const struct al_linked_change *change = &linked->items[i];

        if (goes(change))
            r = check_found(linked, change, repo, err);
        if (r == 0 && goes(change))
            r = check_removal(change, journal_file, err);
        if (r == 0 && returns(change))
            r = check_return(change, repo, budget, err);
        if (r == 0 && change->is_lock && ret_lost)
            r = check_locked(linked, change, repo, ret_lost, err);
    }
    return r;
}

/* --- Doing it --- */

static int remove_one(const struct al_restore *restore, const struct al_linked_change *change,
                      struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    int r = find(restore->repo, change->name, &place, &found, err);

    /* Without its administrative directory it is no worktree, but somebody's directory. */
    return r < 0 || !found.id ? r
                              : al_worktree_put_aside(restore->repo, &place, &found, change->name,
                                                      true, restore->budget, err);
}

int al_linked_remove(const struct al_restore *restore, const struct al_linked_changes *linked,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < linked->count && r == 0; i++)
        if (goes(&linked->items[i]))
            r = remove_one(restore, &linked->items[i], err);
    return r;
}

/* Lock or unlock a worktree as it was; one that was made again under its name is left alone. */
static int restore_lock(const struct al_restore *restore, const struct al_linked_change *change,
                        struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    struct al_linked_lock lock = { .of = NULL };
    const bool locks = al_linked_parse_lock(&change->to_text, &lock);
    al_auto(al_freep) char *of = lock.of;
    al_auto(al_freep) char *is = NULL;
    al_auto(al_closep) int fd = -1;
    int r = find(restore->repo, change->name, &place, &found, err);

    is = al_worktree_identity(&found);
    if (r < 0 || !is || (locks && strcmp(is, of) != 0))
        return r;
    fd = open(found.git_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        r = -errno;
    else if (!locks)
        r = unlinkat(fd, "locked", 0) < 0 && errno != ENOENT ? -errno : 0;
    else
        r = al_fs_write_atomic(fd, "locked", lock.bytes, lock.len, 0644, true);
    return r < 0 ? al_error_errno(err, -r, "cannot lock or unlock the worktree '%s'", change->name)
                 : 0;
}

int al_linked_restore(const struct al_restore *restore, const struct al_linked_changes *linked,
                      struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < linked->count && r == 0; i++)
        if (returns(&linked->items[i]))
            r = al_worktree_bring_back(restore->repo, linked->items[i].name, linked->items[i].to.is,
                                       restore->budget, err);
    for (size_t i = 0; i < linked->count && r == 0; i++)
        if (linked->items[i].is_lock)
            r = restore_lock(restore, &linked->items[i], err);
    return r;
}
