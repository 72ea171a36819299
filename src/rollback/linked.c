// SPDX-License-Identifier: Apache-2.0
#include "rollback/linked.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint/store.h"
#include "gitops/location.h"
#include "gitops/worktree/find.h"
#include "gitops/worktree/list.h"
#include "gitops/worktree/place.h"
#include "gitops/worktree/remove.h"
#include "gitops/worktree/submodules.h"
#include "guard/text.h"
#include "history/journal.h"
#include "rollback/linked_files.h"
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

static bool goes(const struct al_linked_change *change)
{
    return !change->is_lock && change->from.exists && !change->to.exists;
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
    const char *repository = al_json_get_string(call, "repository");
    const char *tool = al_json_get_string(call, "tool");

    if (!running->words && repository && tool && !strcmp(repository, running->top))
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

/* Somebody has locked it since. */
static int check_lock(const struct al_linked_changes *linked, const struct al_linked_change *change,
                      struct al_repo *repo, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    int r = al_worktree_place_find(repo, false, &place, err);

    if (r == 0)
        r = al_worktree_find(repo, &place, change->name, &found, err);
    if (r < 0 || !found.locked || unlocks(linked, change->name))
        return r;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the rollback would remove the worktree '%s', which is locked; unlock it "
                        "first",
                        change->name);
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
static int check_branch(const struct al_linked_change *change, struct al_repo *repo,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *branch = al_linked_branch(&change->to);
    al_auto(al_freep) char *path = NULL;
    int r = branch ? al_worktree_find_branch(repo, branch, budget, &path, err) : 0;

    if (r < 0 || !path)
        return r;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the worktree '%s' cannot come back: its branch '%s' is checked out in "
                        "'%s'; switch that to another branch first",
                        change->name, branch + strlen("refs/heads/"), path);
}

/* Whether the directory is one of a worktree.  git makes `locked` first and then `gitdir`; what has
 * neither is the rest of a removal that was interrupted. */
static bool is_of_a_worktree(const char *dir)
{
    al_auto(al_freep) char *locked = al_fs_join(dir, "locked");
    al_auto(al_freep) char *gitdir = al_fs_join(dir, "gitdir");
    struct stat st;

    return lstat(dir, &st) == 0 &&
           (!S_ISDIR(st.st_mode) || lstat(locked, &st) == 0 || lstat(gitdir, &st) == 0);
}

/* Git may have made another worktree under the name that this one had below worktrees/. */
static int check_id(const struct al_linked_change *change, const struct al_repo *repo,
                    struct al_error *err)
{
    al_auto(al_freep) char *file =
        al_asprintf("%s/worktrees/%s", repo->at.common_dir, change->to.id);

    if (!is_of_a_worktree(file))
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the worktree '%s' cannot come back: another one has its place '%s' in the "
                        "repository; remove that with 'git worktree remove' first",
                        change->name, change->to.id);
}

static int check_return(const struct al_linked_change *change, struct al_repo *repo,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_freep) char *top = al_text_sanitize_line(change->to.top);
    int r = al_worktree_place_find(repo, false, &place, err);

    if (r == 0)
        r = al_worktree_find(repo, &place, change->name, &found, err);
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
    if (!found.id)
        r = check_id(change, repo, err);
    return r < 0 || found.id ? r : check_branch(change, repo, budget, err);
}

static bool comes_back(const struct al_linked_changes *linked, const char *name)
{
    for (size_t i = 0; i < linked->count; i++)
        if (!linked->items[i].is_lock && linked->items[i].to.exists &&
            !strcmp(linked->items[i].name, name))
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
    al_auto(al_freep) char *of = NULL, *id = NULL;
    struct al_linked_lock lock;
    int r;

    if (!al_linked_parse_lock(&change->to_text, &lock))
        return 0;
    of = lock.of;
    if (comes_back(linked, change->name))
        return 0;
    r = al_worktree_place_find(repo, false, &place, err);
    if (r == 0)
        r = al_worktree_find(repo, &place, change->name, &found, err);
    if (r == 0 && !found.id)
        al_strv_addf(ret_lost, "the lock of the worktree '%s', which is gone", change->name);
    if (r < 0 || !found.id || !of)
        return r;
    id = al_linked_identity(repo, change->name, &found);
    if (!id || strcmp(id, of) != 0)
        al_strv_addf(ret_lost, "the lock of the worktree '%s', which was made again since",
                     change->name);
    return 0;
}

/* What somebody did in its submodules since is in no checkpoint. */
static int check_submodules(const struct al_linked_change *change, struct al_repo *repo,
                            struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    int r = al_worktree_place_find(repo, false, &place, err);

    if (r == 0)
        r = al_worktree_find(repo, &place, change->name, &found, err);
    if (r < 0 || !found.is_whole)
        return r;
    return al_worktree_check_submodules(
        &(struct al_worktree_half){ .repo = repo, .top = found.top, .git_dir = found.git_dir },
        change->name, budget, err);
}

int al_linked_check(const struct al_linked_changes *linked, struct al_repo *repo,
                    const char *journal_file, struct al_run_limits *budget,
                    struct al_strv *ret_lost, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < linked->count && r == 0; i++) {
        const struct al_linked_change *change = &linked->items[i];

        if (goes(change))
            r = check_lock(linked, change, repo, err);
        if (r == 0 && goes(change))
            r = check_removal(change, journal_file, err);
        if (r == 0 && goes(change))
            r = check_submodules(change, repo, budget, err);
        else if (r == 0 && !change->is_lock && change->to.exists)
            r = check_return(change, repo, budget, err);
        else if (r == 0 && change->is_lock && ret_lost)
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
    int r = al_worktree_place_find(restore->repo, false, &place, err);

    if (r == 0)
        r = al_worktree_find(restore->repo, &place, change->name, &found, err);
    /* Without its administrative directory it is no worktree, but somebody's directory. */
    if (r < 0 || !found.id)
        return r;
    return al_worktree_remove(restore->repo, &place, &found, change->name, err);
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

int al_linked_restore(const struct al_restore *restore, const struct al_linked_changes *linked,
                      struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < linked->count && r == 0; i++)
        if (!linked->items[i].is_lock && linked->items[i].to.exists)
            r = al_linked_restore_one(restore, &linked->items[i], err);
    for (size_t i = 0; i < linked->count && r == 0; i++)
        if (linked->items[i].is_lock)
            r = al_linked_restore_lock(restore, &linked->items[i],
                                       comes_back(linked, linked->items[i].name), err);
    return r;
}
