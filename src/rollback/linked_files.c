// SPDX-License-Identifier: Apache-2.0
#include "rollback/linked_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/store.h"
#include "gitops/location.h"
#include "gitops/plumbing/stash_owners.h"
#include "gitops/worktree/add.h"
#include "gitops/worktree/beside.h"
#include "gitops/worktree/find.h"
#include "gitops/worktree/place.h"
#include "gitops/worktree/record.h"
#include "gitops/worktree/submodules.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

#define NO_HEAD "ref: refs/heads/airlock/returning\n"

/* The file of this path; NULL: there is none. */
static const struct al_gitdir_file *find_file(const struct al_linked_saved *saved, const char *path)
{
    for (size_t i = 0; i < saved->files.count; i++)
        if (!strcmp(saved->files.items[i].path, path))
            return &saved->files.items[i];
    return NULL;
}

char *al_linked_branch(const struct al_linked_saved *saved)
{
    static const char prefix[] = "ref: ";
    const struct al_gitdir_file *head = find_file(saved, "HEAD");
    const char *name;

    if (!head || !al_starts_with(head->bytes.buf, "ref: refs/heads/"))
        return NULL;
    name = head->bytes.buf + strlen(prefix);
    return al_strndup(name, strcspn(name, "\n"));
}

/* --- The administrative directory --- */

/* The two directories of a worktree, while it comes back. */
struct halves {
    struct al_worktree_place place;
    int top_fd, admin_fd;
};

static void halves_clear(struct halves *halves)
{
    al_worktree_place_clear(&halves->place);
    al_close(halves->top_fd);
    al_close(halves->admin_fd);
}

/* Make a directory unless it is there, and open it. */
static int make_dir(int parent_fd, const char *name, int *ret_fd)
{
    if (mkdirat(parent_fd, name, 0777) < 0 && errno != EEXIST)
        return -errno;
    *ret_fd = al_nofollow_open(parent_fd, name, O_RDONLY | O_DIRECTORY);
    return *ret_fd < 0 ? *ret_fd : 0;
}

static int open_halves(const struct al_restore *restore, const struct al_linked_change *change,
                       struct halves *halves, struct al_error *err)
{
    al_auto(al_closep) int worktrees_fd = -1;
    int r = al_worktree_place_find(restore->repo, true, &halves->place, err);

    if (r < 0)
        return r;
    r = make_dir(restore->common_fd, "worktrees", &worktrees_fd);
    if (r == 0)
        r = make_dir(worktrees_fd, change->to.id, &halves->admin_fd);
    if (r == 0)
        r = make_dir(halves->place.fd, change->name, &halves->top_fd);
    return r < 0 ? al_error_errno(err, -r, "cannot make the worktree '%s'", change->name) : 0;
}

/* HEAD until the objects are back: otherwise it would name a commit that the repository lacks. */
static const struct al_gitdir_file no_head = {
    .path = (char[]){ "HEAD" },
    .mode = 0644,
    .bytes = { .buf = (char[]){ NO_HEAD }, .len = sizeof(NO_HEAD) - 1 },
};

static int write_file(const struct al_restore *restore, const struct halves *halves,
                      const struct al_gitdir_file *file, struct al_error *err)
{
    al_auto(al_freep) char *temp = al_asprintf(".airlock-%s", restore->token);
    bool is_dot_git = !strcmp(file->path, AL_LINKED_DOT_GIT);
    const struct al_atomic_dir dir = { is_dot_git ? halves->top_fd : halves->admin_fd, "worktree",
                                       temp };

    return al_atomic_file_write(&dir, is_dot_git ? ".git" : file->path, S_IFREG | file->mode,
                                file->bytes.buf, file->bytes.len, err);
}

/* `gitdir` comes first: it says whose the directory is.  Its own references come back with the
 * branch, after the objects, which gc may have removed. */
static int write_admin(const struct al_restore *restore, const struct halves *halves,
                       const struct al_linked_saved *to, struct al_error *err)
{
    int r = 0;

    for (int pass = 0; pass < 2 && r == 0; pass++)
        for (size_t i = 0; i < to->files.count && r == 0; i++) {
            const struct al_gitdir_file *file = &to->files.items[i];
            int its = strcmp(file->path, "gitdir") != 0;
            bool plain =
                !strcmp(file->path, AL_LINKED_DOT_GIT) || al_atomic_file_is_plain(file->path);

            if (its == pass && plain && !(to->checkpoint[0] && al_linked_is_own_ref(file->path)))
                r = write_file(restore, halves,
                               to->checkpoint[0] && !strcmp(file->path, "HEAD") ? &no_head : file,
                               err);
        }
    return r;
}

/* --- Its files, index and branch --- */

/* The state of the worktree now and then, and what differs. */
struct comeback {
    struct al_worktree_beside beside;
    struct al_store *store;
    struct al_pending_checkpoint *pending;
    struct al_saved_state from, to;
    struct al_differences changes;
    int top_fd, git_fd, common_fd;
};

static void comeback_clear(struct comeback *back)
{
    al_saved_state_clear(&back->from);
    al_saved_state_clear(&back->to);
    al_differences_clear(&back->changes);
    al_pending_checkpoint_free(back->pending);
    al_store_close(back->store);
    al_worktree_beside_clear(&back->beside);
    al_close(back->top_fd);
    al_close(back->git_fd);
    al_close(back->common_fd);
}

/* What all worktrees share is not this one's to change, but its branch is, if it is gone. */
static void keep_own(struct comeback *back, const char *branch)
{
    struct al_differences *changes = &back->changes;
    size_t kept = 0;

    for (size_t i = 0; i < changes->count; i++) {
        struct al_difference *change = &changes->items[i];
        bool shared = change->part == AL_PART_STASH ||
                      (change->part == AL_PART_STATE && al_gitdir_is_common(change->name)) ||
                      (change->part == AL_PART_REF && !al_linked_is_own_ref(change->name) &&
                       (!branch || change->from || strcmp(change->name, branch) != 0));

        if (!shared) {
            changes->items[kept++] = *change;
            continue;
        }
        free(change->name);
        free(change->from);
        free(change->to);
    }
    changes->count = kept;
}

static void keep_ref(struct al_saved_state *state, const char *branch)
{
    size_t kept = 0;

    for (size_t i = 0; i < state->nrefs; i++) {
        if (al_linked_is_own_ref(state->refs[i].name) ||
            (branch && !strcmp(state->refs[i].name, branch))) {
            state->refs[kept++] = state->refs[i];
            continue;
        }
        free(state->refs[i].name);
        free(state->refs[i].value);
    }
    state->nrefs = kept;
}

static int compare(const struct al_restore *restore, const struct al_linked_change *change,
                   struct comeback *back, struct al_error *err)
{
    const struct al_checkpoint_reason reason = { .tool = "rollback", .operation = "restore" };
    const char *branch = NULL;
    al_auto(al_freep) char *head = NULL;
    char present[AL_OID_TEXT];
    int r = al_worktree_open_beside(restore->repo, change->to.top, NULL, restore->budget,
                                    &back->beside, err);

    if (r == 0)
        r = al_store_open(restore->store->settings, back->beside.repo, false, restore->budget,
                          &back->store, err);
    if (r == 0)
        r = al_checkpoint_create_pending(back->store, &reason, restore->budget, &back->pending,
                                         present, err);
    if (r == 0)
        r = al_checkpoint_compare(back->store, present, change->to.checkpoint, restore->budget,
                                  &back->changes, err);
    if (r == 0)
        r = al_checkpoint_state(back->store, present, restore->budget, &back->from, err);
    if (r == 0)
        r = al_checkpoint_state(back->store, change->to.checkpoint, restore->budget, &back->to,
                                err);
    if (r < 0)
        return r;
    if (al_starts_with(back->to.head, "ref: "))
        head = al_strdup(back->to.head + strlen("ref: "));
    branch = head;
    keep_own(back, branch);
    keep_ref(&back->to, branch);
    al_pending_checkpoint_free(back->pending); /* its quarantine would get the packs made below */
    back->pending = NULL;
    return 0;
}

static int open_dirs(struct comeback *back, struct al_error *err)
{
    const struct al_location *at = &back->beside.repo->at;
    int r = al_location_open_top(at, &back->top_fd, err);

    if (r == 0)
        r = al_location_open_git_dir(at, &back->git_fd, err);
    return r < 0 ? r : al_location_open_common_dir(at, &back->common_fd, err);
}

static int restore_files(const struct al_restore *restore, const struct al_linked_change *change,
                         struct al_error *err)
{
    al_auto(comeback_clear) struct comeback back = { .beside = AL_WORKTREE_BESIDE_INIT,
                                                     .from = { .index = AL_STR_INIT },
                                                     .to = { .index = AL_STR_INIT },
                                                     .top_fd = -1,
                                                     .git_fd = -1,
                                                     .common_fd = -1 };
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;
    int r = compare(restore, change, &back, err);

    if (r == 0)
        r = open_dirs(&back, err);
    if (r < 0)
        return r;
    if (change->to.owner)
        al_stash_owners_inherit(back.beside.repo, change->to.owner);
    return al_restore_apply(&(struct al_restore){ .store = back.store,
                                                  .repo = back.beside.repo,
                                                  .changes = &back.changes,
                                                  .from = &back.from,
                                                  .to = &back.to,
                                                  .token = restore->token,
                                                  .budget = restore->budget,
                                                  .top_fd = back.top_fd,
                                                  .git_fd = back.git_fd,
                                                  .common_fd = back.common_fd },
                            &kept, err);
}

/* Whether it is there already.  A git directory without an index, which comes last, is what a
 * rollback has left that was killed, and goes. */
static bool has_submodule(const struct halves *halves, const struct al_worktree_submodule *one)
{
    al_auto(al_freep) char *index = al_fs_join(one->dir, "index");
    al_auto(al_closep) int fd = al_nofollow_open(halves->admin_fd, index, O_PATH);
    al_auto(al_closep) int parent_fd = -1;
    const char *name;

    if (fd >= 0)
        return true;
    parent_fd = al_nofollow_open_parent(halves->admin_fd, one->dir, false, &name);
    if (parent_fd >= 0)
        al_fs_remove_tree_at(parent_fd, name);
    return false;
}

/* Its submodules are made of what is there, as when the worktree was made. */
static int restore_submodules(const struct al_restore *restore,
                              const struct al_linked_change *change, const struct halves *halves,
                              struct al_error *err)
{
    al_auto(al_freep) char *git_dir =
        al_asprintf("%s/worktrees/%s", restore->repo->at.common_dir, change->to.id);
    const struct al_worktree_half half = {
        .repo = restore->repo, .top = change->to.top, .git_dir = git_dir, .has_files = true
    };
    size_t files_left = AL_WORKTREE_SUBMODULE_FILES_MAX;
    int r = 0;

    for (size_t i = 0; i < change->to.files.count && r == 0; i++) {
        al_auto(al_worktree_submodule_clear) struct al_worktree_submodule one = { .path = NULL };
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
        al_auto(al_freep) char *path = NULL;

        if (!al_linked_parse_submodule(&change->to.files.items[i], &one) ||
            !al_atomic_file_is_plain(one.path) || !al_atomic_file_is_plain(one.dir) ||
            has_submodule(halves, &one))
            continue;
        path = al_text_sanitize_line(one.path);
        r = al_worktree_make_submodule(&half, &one, &files_left, restore->budget, &why);
        if (r < 0)
            r = al_error_set(err, r, "the submodule '%s' of the worktree '%s' cannot come back: %s",
                             path, change->name, why.message);
    }
    return r;
}

static int write_record(const struct al_restore *restore, const struct al_linked_change *change,
                        int top_fd, struct al_error *err)
{
    al_auto(al_freep) char *tree = al_worktree_tree_id(top_fd);
    const struct al_worktree_record record = {
        .path = change->to.top,
        .from = change->to.from,
        .agent = change->to.agent,
        .tree = tree,
        .born = change->to.born,
    };

    return record.from && tree ? al_worktree_record_write(restore->repo, change->name, &record, err)
                               : 0;
}

int al_linked_restore_one(const struct al_restore *restore, const struct al_linked_change *change,
                          struct al_error *err)
{
    al_auto(halves_clear) struct halves halves = { .place = AL_WORKTREE_PLACE_INIT,
                                                   .top_fd = -1,
                                                   .admin_fd = -1 };
    const struct al_gitdir_file *log;
    int r;

    r = open_halves(restore, change, &halves, err);
    if (r == 0)
        r = write_admin(restore, &halves, &change->to, err);
    if (r == 0 && change->to.checkpoint[0])
        r = restore_files(restore, change, err);
    if (r == 0 && change->to.checkpoint[0])
        r = restore_submodules(restore, change, &halves, err);
    log = find_file(&change->to, "logs/HEAD");
    if (r == 0 && log) /* git writes to it when the branch comes back */
        r = write_file(restore, &halves, log, err);
    return r < 0 ? r : write_record(restore, change, halves.top_fd, err);
}

/* Whether the worktree is another one than that which was locked. */
static bool is_another(const struct al_repo *repo, const char *name,
                       const struct al_worktree_found *found, const char *of)
{
    al_auto(al_freep) char *id = of ? al_linked_identity(repo, name, found) : NULL;

    return of && (!id || strcmp(id, of) != 0);
}

int al_linked_restore_lock(const struct al_restore *restore, const struct al_linked_change *change,
                           bool is_back, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    struct al_linked_lock lock = { .of = NULL };
    const bool locks = al_linked_parse_lock(&change->to_text, &lock);
    al_auto(al_freep) char *of = lock.of;
    al_auto(al_closep) int fd = -1;
    int r = al_worktree_place_find(restore->repo, false, &place, err);

    if (r == 0)
        r = al_worktree_find(restore->repo, &place, change->name, &found, err);
    if (r < 0 || !found.id || (!is_back && is_another(restore->repo, change->name, &found, of)))
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
