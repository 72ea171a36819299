// SPDX-License-Identifier: Apache-2.0
/*
 * Putting back what checkpoints have.
 *
 * A file is written without a name, gets a temporary one, and is then exchanged with what has its
 * place.  The file that comes out is looked at: if it is not what was expected, somebody else saved
 * it meanwhile, and both are exchanged again.  So nothing is written over that nobody has a copy
 * of.  A file to be removed is moved to the temporary name and looked at in the same way, and a new
 * file is placed where nothing is.  No symbolic link is followed, so nothing outside the directory
 * is touched, whatever is in it.
 *
 * Source: openat2(2) RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, renameat2(2) RENAME_EXCHANGE,
 * gitrepository-layout(5), git's api-lockfile.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/failure.h"
#include "git/oid.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/gitdir.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/snapshot.h"
#include "git/plumbing/stash_owners.h"
#include "git/refs.h"
#include "guard/nofollow.h"
#include "history/keep.h"
#include "history/rescue.h"
#include "history/rollback_private.h"
#include "verbs/worktree/add.h"
#include "verbs/worktree/submodules.h"

#define TEMP_PREFIX ".airlock-"
#define NEW_INDEX   ".airlock-index"
#define PERMISSIONS 0777u
#define NS          1000000000
#define LEFT        1 /* somebody else changed the file, and it stays as it is */
#define STATE_OIDS_MAX                                                                             \
    100000u /* so many ids in the files of unfinished operations are looked for */

/* --- Replacing one file --- */

/* Whether a file may go: it is what it was when the present was saved, or what it becomes, and
 * nobody writes it. */
static bool may_go(const struct al_way *way, const struct al_difference *change, int parent_fd,
                   const char *name)
{
    const bool sha256 = way->store->sha256;
    struct al_look look;

    al_look_at(parent_fd, name, sha256, &look);
    if (look.is_open)
        return false;
    return al_look_has(&look, sha256, change->to) ||
           (al_look_has(&look, sha256, change->from) &&
            (look.mode & S_IFMT) == (change->from_mode & S_IFMT) &&
            (S_ISLNK(look.mode) || change->part != AL_PART_WORKTREE || /* git chose those */
             !((look.mode ^ change->from_mode) & PERMISSIONS)));
}

/* Remove what came out of its place.  A file that nobody has a copy of goes back or, if there is
 * another one by now, gets a name that stays. */
static int settle(const struct al_way *way, const struct al_difference *change, int parent_fd,
                  const char *temp, const char *name)
{
    al_auto(al_freep) char *kept = al_asprintf("%s%s", name, temp);
    int r;

    if (may_go(way, change, parent_fd, temp))
        return unlinkat(parent_fd, temp, 0) < 0 ? -errno : 0;
    r = al_fs_rename_new(parent_fd, temp, parent_fd, name);
    if (r == -EEXIST)
        r = al_fs_rename_new(parent_fd, temp, parent_fd, kept);
    return r < 0 ? r : LEFT;
}

static int take_out(const struct al_way *way, const struct al_difference *change, int parent_fd,
                    const char *temp, const char *name)
{
    if (renameat(parent_fd, name, parent_fd, temp) < 0)
        return errno == ENOENT ? 0 : -errno;
    return settle(way, change, parent_fd, temp, name);
}

/* Put a new file in the place of the one that is expected there, or where nothing is. */
static int replace(const struct al_way *way, const struct al_difference *change, int parent_fd,
                   const char *temp, const char *name)
{
    al_auto(al_freep) char *out = al_asprintf("%s-", temp);
    int r = 0;

    if (change->from && renameat2(parent_fd, temp, parent_fd, name, RENAME_EXCHANGE) < 0)
        r = -errno;
    if (change->from && r == 0) {
        if (may_go(way, change, parent_fd, temp))
            return unlinkat(parent_fd, temp, 0) < 0 ? -errno : 0;
        (void)renameat2(parent_fd, temp, parent_fd, name, RENAME_EXCHANGE);
        r = settle(way, change, parent_fd, temp, name);
        return r < 0 ? r : LEFT;
    }
    if (r == -EINVAL) /* the file system cannot: for a moment nothing is there */
        r = take_out(way, change, parent_fd, out, name);
    else if (r == -ENOENT)
        r = LEFT; /* somebody removed it */
    if (r == 0)
        r = al_fs_rename_new(parent_fd, temp, parent_fd, name);
    if (r == -EEXIST) {
        al_fs_remove_empty(parent_fd, name);
        r = al_fs_rename_new(parent_fd, temp, parent_fd, name);
    }
    if (r == -EEXIST)
        r = may_go(way, change, parent_fd, name) ? 0 : LEFT;
    (void)unlinkat(parent_fd, temp, 0); /* it is the new one still */
    return r;
}

/* --- Files below a directory --- */

bool al_change_is_shared_index(const struct al_difference *change)
{
    return change->part == AL_PART_STATE && al_starts_with(change->name, "sharedindex.");
}

static bool is_state(const struct al_difference *change)
{
    return change->part == AL_PART_STASH ||
           (change->part == AL_PART_STATE && strcmp(change->name, "HEAD") != 0 &&
            !al_change_is_shared_index(change));
}

/* A state that is in a file. */
static bool is_state_file(const struct al_way *way, const struct al_difference *change)
{
    return is_state(change) && !al_gitdir_is_stored(&way->repo->at, change->name);
}

static bool is_ignore_file(const struct al_difference *change)
{
    return al_change_is_file(change) &&
           (!strcmp(change->name, ".gitignore") || al_ends_with(change->name, "/.gitignore"));
}

/* The directory that a file is relative to. */
static int dir_of(const struct al_way *way, const struct al_difference *change)
{
    return change->part == AL_PART_WORKTREE    ? way->top_fd
           : al_gitdir_is_common(change->name) ? way->common_fd
                                               : way->git_fd;
}

static int open_parent(int dir_fd, const char *path, bool make, const char **ret_name)
{
    return al_path_is_plain(path) ? al_nofollow_open_parent(dir_fd, path, make, ret_name) : -EINVAL;
}

/* Note what was left as it is. */
static int note(const struct al_way *way, const struct al_difference *change, int r,
                const char *what, struct al_error *err)
{
    al_auto(al_freep) char *words = r ? al_difference_words(change) : NULL;

    if (r < 0)
        return al_error_errno(err, -r, "cannot %s '%s'", what, words);
    if (r == LEFT)
        al_strv_take(&way->report->left, al_take(&words));
    return 0;
}

/* Remove a file, if it is the one that was seen, and the directories that become empty. */
static int remove_file(const struct al_way *way, const struct al_difference *change,
                       struct al_error *err)
{
    al_auto(al_freep) char *temp = al_asprintf(TEMP_PREFIX "%s", way->token);
    const char *name;
    al_auto(al_closep) int parent_fd = open_parent(dir_of(way, change), change->name, false, &name);
    int r = parent_fd;

    if (parent_fd == -ENOENT || parent_fd == -ENOTDIR)
        return 0;
    if (parent_fd >= 0 && change->part == AL_PART_STASH)
        r = unlinkat(parent_fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
    else if (parent_fd >= 0)
        r = take_out(way, change, parent_fd, temp, name);
    if (r == 0)
        al_nofollow_remove_parents(dir_of(way, change), change->name);
    return note(way, change, r, "remove", err);
}

/* Files that are written one after the other, in the order of their blobs. */
struct writer {
    const struct al_way *way;
    const struct al_difference **changes;
    char *temp;
    int parent_fd; /* of the one that is being written; -1: none */
    const char *name;
    struct al_new_file file;
    struct al_str target; /* of a link */
};

static void writer_clear(struct writer *writer)
{
    al_new_file_clear(&writer->file);
    al_close(writer->parent_fd);
    al_str_clear(&writer->target);
    free(writer->changes);
    free(writer->temp);
}

static int begin(struct writer *writer, const struct al_difference *change)
{
    writer->parent_fd = open_parent(dir_of(writer->way, change), change->name, true, &writer->name);
    return writer->parent_fd < 0      ? writer->parent_fd
           : S_ISLNK(change->to_mode) ? 0
                                      : al_new_file_open(&writer->file, writer->parent_fd, 0600);
}

/* The permissions that the new file gets.  In the git directory they are those of the file in its
 * place: the configuration may be the user's alone. */
static mode_t permissions(const struct writer *writer, const struct al_difference *change)
{
    struct stat st;
    const bool is_kept = change->part != AL_PART_WORKTREE &&
                         fstatat(writer->parent_fd, writer->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                         S_ISREG(st.st_mode);

    return ((is_kept ? st.st_mode : change->to_mode) & 0666) | (change->to_mode & 0111);
}

/* Put the complete file in place.  git has just added a line to the stash's log: it does not
 * matter. */
static int commit(struct writer *writer, const struct al_difference *change)
{
    const bool is_log = change->part == AL_PART_STASH;
    const char *name = is_log ? writer->name : writer->temp;
    const int parent_fd = writer->parent_fd;
    int r;

    if (S_ISLNK(change->to_mode))
        r = symlinkat(writer->target.buf, parent_fd, name) < 0 ? -errno : 0;
    else if (fchmod(writer->file.fd, permissions(writer, change)) < 0)
        r = -errno;
    else
        r = al_new_file_name(&writer->file, parent_fd, name, is_log);
    if (r == 0 && !is_log)
        r = replace(writer->way, change, parent_fd, name, writer->name);
    al_closep(&writer->parent_fd);
    al_str_reset(&writer->target);
    return r;
}

static int write_piece(void *payload, size_t which, const char *data, size_t len, bool last,
                       struct al_error *err)
{
    struct writer *writer = payload;
    const struct al_difference *change = writer->changes[which];
    int r = writer->parent_fd < 0 ? begin(writer, change) : 0;

    if (r == 0 && writer->file.fd >= 0)
        r = al_write_all(writer->file.fd, data, len);
    else if (r == 0 && writer->target.len + len > PATH_MAX)
        r = -ENAMETOOLONG;
    else if (r == 0)
        al_str_add(&writer->target, data, len);
    if (r == 0 && last)
        r = commit(writer, change);
    return note(writer->way, change, r, "write", err);
}

typedef bool wanted_fn(const struct al_difference *change);

/* Write the changed files that `wanted` chooses. */
static int write_files(const struct al_way *way, wanted_fn *wanted, struct al_error *err)
{
    const struct al_differences *changes = &way->changes;
    al_auto(al_freep) const char **oids = al_calloc(changes->count + 1, sizeof(*oids));
    al_auto(writer_clear) struct writer writer = {
        .way = way,
        .changes = al_calloc(changes->count + 1, sizeof(struct al_difference *)),
        .temp = al_asprintf(TEMP_PREFIX "%s", way->token),
        .parent_fd = -1,
        .file = AL_NEW_FILE_INIT,
        .target = AL_STR_INIT,
    };
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++) {
        if (!changes->items[i].to || !wanted(&changes->items[i]) ||
            (is_state(&changes->items[i]) && !is_state_file(way, &changes->items[i])))
            continue;
        writer.changes[count] = &changes->items[i];
        oids[count++] = changes->items[i].to;
    }
    return al_bare_read(&way->store->bare, oids, count, write_piece, &writer, err);
}

/* --- The working tree --- */

/* Whether a file that goes is where another one, or its directory, comes. */
static bool makes_way(const struct al_way *way, const char *path)
{
    for (size_t i = 0; i < way->changes.count; i++) {
        const struct al_difference *change = &way->changes.items[i];

        if (change->part == AL_PART_WORKTREE && change->to && strcmp(change->name, path) != 0 &&
            (al_fs_beneath(change->name, path) || al_fs_beneath(path, change->name)))
            return true;
    }
    return false;
}

/* Whether an execution is known to have made a file: its operation writes certain files, and over
 * none that is untracked.  Other files that are ignored may have been there before. */
static bool is_made(const struct al_way *way, const char *name)
{
    for (size_t i = way->plan.oldest; i < way->plan.end; i++) {
        const struct al_execution *execution = &way->executions.items[i];
        const struct al_saved *saved;

        if (al_change_find(&execution->changes, AL_PART_WORKTREE, name))
            return al_checkpoint_load(way->store, execution->before, false, &saved, NULL) == 0 &&
                   !saved->writes_all;
    }
    return false;
}

static int remove_files(const struct al_way *way, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv gone = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv ignored = AL_STRV_INIT;
    int r;

    for (size_t i = 0; i < way->changes.count; i++)
        if (al_change_is_file(&way->changes.items[i]) && !way->changes.items[i].to)
            al_strv_add(&gone, way->changes.items[i].name);
    r = al_git_ignored_paths(way->repo, way->top_fd, &gone, &ignored, err);
    al_strv_sort(&ignored);
    for (size_t i = 0; i < gone.count && r == 0; i++) {
        const char *name = gone.items[i];
        const struct al_difference *change = al_change_find(&way->changes, AL_PART_WORKTREE, name);

        if (change->was_left_out)
            al_strv_take(&way->report->lacking, al_difference_words(change));
        else if (al_strv_contains_sorted(&ignored, name) && !makes_way(way, name) &&
                 !is_made(way, name))
            al_strv_take(&way->report->kept, al_difference_words(change));
        else
            r = remove_file(way, change, err);
    }
    return r;
}

/* git knows no git directory without these two directories, and a checkpoint has files alone. */
static void complete_nested(const struct al_way *way, const struct al_difference *change)
{
    const char *found = change->part == AL_PART_WORKTREE ? strstr(change->name, "/.git/") : NULL;
    al_auto(al_freep) char *dir =
        found ? al_strndup(change->name, (size_t)(found - change->name) + strlen("/.git")) : NULL;
    al_auto(al_closep) int fd =
        dir ? al_nofollow_open(way->top_fd, dir, O_RDONLY | O_DIRECTORY) : -1;

    if (fd >= 0 && faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        (void)mkdirat(fd, "objects", 0777);
        (void)mkdirat(fd, "refs", 0777);
    }
}

static int restore_worktree(const struct al_way *way, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r;

    /* The ignore rules of the target first: files that they ignore are not in the target and must
     * not be removed.  A .gitignore whose directory is still a file is written with the others. */
    for (size_t i = 0; i < way->changes.count; i++)
        if (is_ignore_file(&way->changes.items[i]) && !way->changes.items[i].to)
            (void)remove_file(way, &way->changes.items[i], &why);
    (void)write_files(way, is_ignore_file, &why);
    r = remove_files(way, err);
    if (r == 0)
        r = write_files(way, al_change_is_file, err);
    for (size_t i = 0; i < way->changes.count; i++)
        complete_nested(way, &way->changes.items[i]);
    return r;
}

static int restore_state(const struct al_way *way, struct al_error *err)
{
    struct al_lockfile lock = AL_LOCKFILE_INIT;
    int r = 0;

    if (al_change_find(&way->changes, AL_PART_STATE, "config"))
        r = al_lockfile_acquire(&lock, way->common_fd, "config.lock", way->token, err);
    for (size_t i = 0; r == 0 && i < way->changes.count; i++) {
        const struct al_difference *change = &way->changes.items[i];

        if (is_state_file(way, change) && !change->to && change->was_left_out)
            al_strv_take(&way->report->lacking, al_difference_words(change));
        else if (is_state_file(way, change) && !change->to)
            r = remove_file(way, change, err);
    }
    if (r == 0)
        r = write_files(way, is_state, err);
    al_lockfile_release(&lock);
    return r;
}

/* --- References --- */

static int restore_refs(const struct al_way *way, struct al_error *err)
{
    const struct al_differences *changes = &way->changes;
    al_auto(al_freep) struct al_ref_move *moves = al_calloc(changes->count + 1, sizeof(*moves));
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].part == AL_PART_REF)
            moves[count++] = (struct al_ref_move){ changes->items[i].name, changes->items[i].from,
                                                   changes->items[i].to };
    return al_git_move_refs(way->repo, moves, count, err);
}

/* The state that is kept with references which are in no files. */
static int restore_stored(const struct al_way *way, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < way->changes.count && r == 0; i++) {
        const struct al_difference *change = &way->changes.items[i];
        al_auto(al_str_clear) struct al_str from = AL_STR_INIT, to = AL_STR_INIT;

        if (!is_state(change) || is_state_file(way, change))
            continue;
        r = al_way_read_blob(way, change->to, &to, err);
        if (r == 0)
            r = al_way_read_blob(way, change->from, &from, err);
        al_str_trim_end(&to);
        al_str_trim_end(&from);
        if (r == 0 && change->part == AL_PART_STASH)
            r = al_git_store_stash(way->repo, to.buf, err);
        else if (r == 0)
            r = al_git_move_refs(way->repo,
                                 &(struct al_ref_move){ change->name, from.len ? from.buf : NULL,
                                                        to.len ? to.buf : NULL },
                                 1, err);
    }
    return r;
}

static int restore_head(const struct al_way *way, struct al_error *err)
{
    const struct al_difference *change = al_change_find(&way->changes, AL_PART_HEAD, "HEAD");
    al_auto(al_freep) char *now = change ? al_ref_read_head(&way->repo->at) : NULL;
    struct al_ref_move move = { .name = "HEAD", .to = change ? change->to : NULL };

    if (!change)
        return 0;
    if (!now || strcmp(now, change->from) != 0)
        return al_error_set(err, AL_ERR_EXECUTION, "HEAD was moved by another process just now");
    if (!al_starts_with(change->to, "ref: "))
        move.from = ""; /* no old value is given: HEAD may be symbolic, which has none */
    return al_git_move_refs(way->repo, &move, 1, err);
}

/* --- Linked worktrees --- */

static int remove_worktrees(const struct al_way *way, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < way->nworktrees && r == 0; i++) {
        const struct al_linked_change *change = &way->worktrees[i];

        /* A worktree without its administrative directory is none, but somebody's directory. */
        if (change->goes && change->found.id)
            r = al_worktree_put_aside(way->repo, &change->place, &change->found, change->name, true,
                                      err);
    }
    return r;
}

/* Lock or unlock a worktree as it was; one that was made again under its name is left alone. */
static int restore_lock(const struct al_way *way, const struct al_linked_change *change,
                        struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_freep) char *is = NULL;
    const char *reason = change->text.buf + strcspn(change->text.buf, "\n");
    int r = al_linked_find(way->repo, change->top, &place, &found, err);

    is = al_worktree_identity(&found);
    if (r < 0 || !is || (change->to && strcmp(is, change->to) != 0))
        return r;
    if (found.locked)
        r = al_worktree_set_lock(way->repo, &found, change->name, false, NULL, err);
    free(al_take(&found.locked));
    if (r == 0 && change->to)
        r = al_worktree_set_lock(way->repo, &found, change->name, true,
                                 *reason && reason[1] ? reason + 1 : NULL, err);
    return r;
}

static int restore_worktrees(const struct al_way *way, struct al_error *err)
{
    int r = 0;

    for (size_t i = way->nworktrees; i-- > 0 && r == 0;) /* the locks are first in the order */
        if (way->worktrees[i].is_lock)
            r = restore_lock(way, &way->worktrees[i], err);
        else if (way->worktrees[i].returns)
            r = al_worktree_bring_back(way->repo, &way->worktrees[i].place, way->worktrees[i].name,
                                       way->worktrees[i].to, err);
    return r;
}

/* --- Objects that the repository has lost --- */

/* The objects named by references, entries and the files of unfinished operations of the target. */
static int add_named(const struct al_way *way, struct al_strv *ids, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < way->entries.count; i++)
        if (way->entries.items[i].to && !strstr(way->entries.items[i].to, " 160000 "))
            al_oids_in(way->entries.items[i].to, way->store->sha256, STATE_OIDS_MAX, ids);
    /* The entries of a split or sparse index are not known. */
    for (size_t i = 0; way->index && i < way->index->staged.count; i++)
        al_strv_add(ids, way->index->staged.items[i]);
    for (size_t i = 0; r == 0 && i < way->changes.count; i++) {
        const struct al_difference *change = &way->changes.items[i];
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        if (!change->to)
            continue;
        if (change->part == AL_PART_REF || change->part == AL_PART_HEAD)
            al_oids_in(change->to, way->store->sha256, STATE_OIDS_MAX, ids);
        else if (is_state(change) && !al_gitdir_is_setting(change->name) &&
                 S_ISREG(change->to_mode))
            r = al_way_read_blob(way, change->to, &text, err);
        al_oids_in(text.buf, way->store->sha256, STATE_OIDS_MAX, ids);
    }
    return r;
}

/* Add a line for each object that the store has or borrows, with `before` in front. */
static int add_existing(const struct al_way *way, const struct al_strv *ids, const char *before,
                        struct al_str *lines, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    int r = al_git_find_objects(&way->store->bare, ids, false, &found, NULL, err);

    for (size_t i = 0; i < found.count; i++)
        al_str_addf(lines, "%s%s\n", before, found.items[i]);
    return r;
}

int al_restore_objects(const struct al_way *way, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT, lost = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv present = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    bool gone = false;
    int r = add_named(way, &ids, err);

    if (r == 0)
        r = al_git_find_objects(&way->repo->at, &ids, false, NULL, &lost, err);
    if (r == 0)
        r = add_existing(way, &lost, "", &lines, err);
    if (r < 0)
        return r;
    /* Whether a reference of the target would lead to an object that is gone for good. */
    for (size_t i = 0; i < way->changes.count; i++) {
        const struct al_difference *change = &way->changes.items[i];

        gone |= (change->part == AL_PART_HEAD || change->part == AL_PART_REF) && change->to &&
                al_strv_contains(&lost, change->to) && !strstr(lines.buf, change->to);
    }
    for (size_t i = al_change_at(&way->from->values, AL_PART_HEAD, "");
         i < way->from->values.count && way->from->values.items[i].part <= AL_PART_REF; i++)
        al_oids_in(way->from->values.items[i].to, way->store->sha256, STATE_OIDS_MAX, &present);
    if (!gone && lines.len) {
        r = add_existing(way, &present, "^", &lines, err);
        r = r < 0 ? r : al_keep_return(way->store, way->repo, &lines, err);
        gone = al_git_exited_with_error(r, way->repo->at.budget);
    }
    return !gone ? r
                 : al_error_set(err, AL_ERR_EXECUTION,
                                "the repository has lost objects that the rollback needs, and the "
                                "checkpoints do not have them");
}

/* --- The index --- */

/* Write the new index beside its place: as a whole, or the present one with entries that change. It
 * keeps its time: git compares the content of a file that
 * is not older than the index, since the file may have changed after git looked at it. */
static int write_index(const struct al_way *way, struct al_error *err)
{
    const struct al_saved *index = way->index ? way->index : way->from;
    const struct timespec times[] = { { .tv_nsec = UTIME_OMIT },
                                      { .tv_sec = (time_t)(index->index_mtime_ns / NS),
                                        .tv_nsec = (long)(index->index_mtime_ns % NS) } };
    const size_t count = way->entries.count;
    al_auto(al_freep) char *path = al_fs_join(way->repo->at.git_dir, NEW_INDEX);
    al_auto(al_freep) struct al_entry_lines *entries = al_calloc(count + 1, sizeof(*entries));
    int r = 0;

    for (size_t i = 0; i < count; i++)
        entries[i] =
            (struct al_entry_lines){ way->entries.items[i].name + 1, way->entries.items[i].to };
    (void)unlinkat(way->git_fd, NEW_INDEX ".lock", 0); /* of a git that was killed */
    if (index->pieces.count)
        r = al_fs_write_atomic(way->git_fd, NEW_INDEX, index->index.buf, index->index.len, 0644,
                               true);
    if (r < 0)
        return al_error_errno(err, -r, "cannot write '" NEW_INDEX "' in the git directory");
    if (index->index_mtime_ns > 0)
        (void)utimensat(way->git_fd, NEW_INDEX, times, AT_SYMLINK_NOFOLLOW);
    return way->index ? 0 : al_git_put_entries(way->repo, way->top_fd, path, entries, count, err);
}

static int place_index(const struct al_way *way, struct al_error *err)
{
    int r = way->index && !way->index->pieces.count
                ? unlinkat(way->git_fd, "index", 0)
                : renameat(way->git_fd, NEW_INDEX, way->git_fd, "index");

    return r < 0 && errno != ENOENT ? al_error_errno(err, errno, "cannot write the index") : 0;
}

/* --- All of it --- */

/* A submodule without files has an empty directory, which went with the last of them. */
static void make_submodule_dirs(const struct al_way *way)
{
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules all =
        AL_WORKTREE_SUBMODULES_INIT;
    al_auto(al_strv_clear) struct al_strv unnamed = AL_STRV_INIT;

    if (way->top_fd < 0 || !al_repo_index_facts(&way->repo->at).gitlinks)
        return;
    (void)al_worktree_list_submodules(way->repo, "", "", NULL, &all, &unnamed, NULL);
    for (size_t i = 0; i < all.count; i++) {
        const char *name;
        al_auto(al_closep) int fd = open_parent(way->top_fd, all.items[i].path, true, &name);

        if (fd >= 0)
            (void)mkdirat(fd, name, 0777);
    }
}

int al_restore_apply(struct al_way *way, struct al_error *err)
{
    static int (*const steps[])(const struct al_way *way, struct al_error *err) = {
        remove_worktrees, restore_refs,   restore_head,      restore_worktree,
        restore_state,    restore_stored, restore_worktrees,
    };
    const bool has_index = way->index || way->entries.count;
    /* An index needs its shared part at all times. */
    int r = write_files(way, al_change_is_shared_index, err);

    if (r == 0 && has_index)
        r = write_index(way, err);
    for (size_t i = 0; r == 0 && i < AL_COUNT(steps); i++)
        r = steps[i](way, err);
    if (r == 0 && has_index)
        r = place_index(way, err);
    (void)unlinkat(way->git_fd, NEW_INDEX, 0);
    if (r == 0)
        make_submodule_dirs(way);
    return r;
}

/* --- What a killed one left --- */

/* A leftover file beside others is one that was to go, or to come.  A leftover without a copy was
 * saved by somebody just then: it gets another name. */
static void tidy_beside(const struct al_way *way, const struct al_differences *changes,
                        const char *temp)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct al_difference *change = &changes->items[i];
        al_auto(al_freep) char *kept = NULL;
        struct al_look look = { .mode = 0 };
        const char *name;
        bool has = false;
        al_auto(al_closep) int fd =
            al_change_is_file(change) || is_state_file(way, change)
                ? open_parent(dir_of(way, change), change->name, false, &name)
                : -1;

        if (fd >= 0)
            al_look_at(fd, temp, way->store->sha256, &look);
        if (!look.mode)
            continue;
        (void)al_store_has_blobs(way->store, &look.oid, 1, &has, NULL);
        kept = al_asprintf("%s%s", name, temp);
        (void)(has ? unlinkat(fd, temp, 0) : al_fs_rename_new(fd, temp, fd, kept));
    }
}

void al_restore_tidy(const struct al_way *way, const char *token)
{
    al_auto(al_freep) char *temp = al_asprintf(TEMP_PREFIX "%s", token);
    char any[AL_LOCK_TOKEN];
    struct al_lockfile lock = AL_LOCKFILE_INIT;

    if (al_lockfile_take_over(&lock, way->common_fd, "config.lock", any))
        al_lockfile_release(&lock);
    for (size_t i = way->plan.oldest; *token && i < way->plan.end; i++)
        tidy_beside(way, &way->executions.items[i].changes, temp);
    if (*token)
        tidy_beside(way, &way->changes, temp);
}
