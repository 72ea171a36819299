// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_restore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/oid.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "history/gitdir.h"
#include "history/rollback_in_the_way.h"
#include "history/rollback_linked.h"
#include "history/store.h"
#include "util/fs.h"

#define INDEX_MODE (S_IFREG | 0644u)
#define NS         1000000000

/* The directory that a file of the working tree or of the git directory is relative to. */
static struct al_atomic_dir dir_of(const struct al_restore *restore, const char *temp,
                                   const struct al_difference *change)
{
    if (change->part == AL_PART_WORKTREE)
        return (struct al_atomic_dir){ restore->top_fd, restore->repo->at.top, temp };
    if (al_gitdir_is_common(change->name))
        return (struct al_atomic_dir){ restore->common_fd, restore->repo->at.common_dir, temp };
    return (struct al_atomic_dir){ restore->git_fd, restore->repo->at.git_dir, temp };
}

static char *temp_name(const struct al_restore *restore)
{
    return al_asprintf(".airlock-%s", restore->token);
}

/* The part of a split index that the index names. */
static bool is_shared_index(const struct al_difference *change)
{
    return change->part == AL_PART_STATE && al_starts_with(change->name, "sharedindex.");
}

static bool is_state(const struct al_difference *change)
{
    return change->part == AL_PART_STASH ||
           (change->part == AL_PART_STATE && strcmp(change->name, "HEAD") != 0 &&
            !is_shared_index(change));
}

/* The git directory at the top is not part of the working tree, whatever a checkpoint says. */
static bool is_worktree(const struct al_difference *change)
{
    return change->part == AL_PART_WORKTREE && strcmp(change->name, ".git") != 0 &&
           !al_starts_with(change->name, ".git/") && al_atomic_file_is_plain(change->name);
}

/* --- What no checkpoint has --- */

static int hash_file(int fd, uint64_t size, bool sha256, struct al_oid *ret_oid)
{
    struct al_hash hash;
    char piece[65536];
    ssize_t n;

    al_hash_init_object(&hash, sha256, AL_OBJECT_BLOB, size);
    while ((n = read(fd, piece, sizeof(piece))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        al_hash_add(&hash, piece, (size_t)n);
    }
    al_hash_end(&hash, ret_oid);
    return 0;
}

/* Whether a file has the content that the checkpoint would write. */
static bool has_content(const void *payload, int parent_fd, const char *name,
                        const struct al_difference *change)
{
    const struct al_restore *restore = payload;
    bool sha256 = restore->store->sha256;
    struct al_oid wanted, found;
    char target[PATH_MAX];
    struct stat st;

    if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        (st.st_mode & S_IFMT) != (change->to_mode & S_IFMT) ||
        !al_oid_parse(change->to, sha256, &wanted))
        return false;
    if (S_ISLNK(st.st_mode)) {
        ssize_t len = readlinkat(parent_fd, name, target, sizeof(target));

        if (len < 0)
            return false;
        al_oid_of(sha256, AL_OBJECT_BLOB, target, (size_t)len, &found);
    } else {
        al_auto(al_closep) int fd =
            openat(parent_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (fd < 0 || hash_file(fd, (uint64_t)st.st_size, sha256, &found) < 0)
            return false;
    }
    return al_oid_equal(&wanted, &found);
}

void al_restore_check(const struct al_restore *restore, struct al_strv *ret_unsaved)
{
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;

    for (size_t i = 0; i < restore->changes->count; i++) {
        const struct al_difference *change = &restore->changes->items[i];

        if (is_worktree(change) && change->to && !change->from)
            al_find_in_the_way(restore->top_fd, restore->changes, change, has_content, restore,
                               &found);
    }
    for (size_t i = 0; i < found.count; i++) /* the same for all files of a directory */
        if (!i || strcmp(found.items[i], found.items[i - 1]) != 0)
            al_strv_add(ret_unsaved, found.items[i]);
}

/* --- Files --- */

struct writer {
    const struct al_restore *restore;
    const char *temp;
    const struct al_difference **changes; /* in the order of the blobs */
    struct al_atomic_dir dir;
    struct al_atomic_file file;
    bool open;
};

static int write_piece(void *payload, size_t which, const char *data, size_t len, bool last,
                       struct al_error *err)
{
    struct writer *writer = payload;
    const struct al_difference *change = writer->changes[which];
    int r = 0;

    if (!writer->open) {
        writer->dir = dir_of(writer->restore, writer->temp, change);
        r = al_atomic_file_begin(&writer->file, &writer->dir, change->name, change->to_mode, err);
        writer->open = true;
    }
    if (r == 0)
        r = al_atomic_file_add(&writer->file, data, len, err);
    if (r < 0 || !last)
        return r;
    writer->open = false;
    return al_atomic_file_commit(&writer->file, err);
}

typedef bool wanted_fn(const struct al_difference *change);

/* Write the changed files that `wanted` chooses. */
static int write_files(const struct al_restore *restore, wanted_fn *wanted, struct al_error *err)
{
    const struct al_differences *changes = restore->changes;
    al_auto(al_freep) const struct al_difference **chosen =
        al_calloc(changes->count + 1, sizeof(*chosen));
    al_auto(al_freep) const char **oids = al_calloc(changes->count + 1, sizeof(*oids));
    al_auto(al_freep) char *temp = temp_name(restore);
    struct writer writer = {
        .restore = restore, .temp = temp, .changes = chosen, .file = AL_ATOMIC_FILE_INIT
    };
    size_t count = 0;
    int r;

    for (size_t i = 0; i < changes->count; i++) {
        if (!changes->items[i].to || !wanted(&changes->items[i]))
            continue;
        chosen[count] = &changes->items[i];
        oids[count++] = changes->items[i].to;
    }
    r = al_checkpoint_read(restore->store, oids, count, write_piece, &writer, restore->budget, err);
    al_atomic_file_clear(&writer.file);
    return r;
}

static bool is_ignore_file(const struct al_difference *change)
{
    return is_worktree(change) &&
           (!strcmp(change->name, ".gitignore") || al_ends_with(change->name, "/.gitignore"));
}

/* Restore the ignore rules of the target first.  Files that they ignore are not in the target and
 * must not be removed. */
static void restore_ignore_rules(const struct al_restore *restore)
{
    const struct al_atomic_dir dir = { restore->top_fd, restore->repo->at.top, "" };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    for (size_t i = 0; i < restore->changes->count; i++) {
        const struct al_difference *change = &restore->changes->items[i];

        if (is_ignore_file(change) && !change->to)
            (void)al_atomic_file_remove(&dir, change->name, &err);
    }
    /* A .gitignore whose directory is still a file is written with the other files. */
    (void)write_files(restore, is_ignore_file, &err);
}

static int remove_files(const struct al_restore *restore, struct al_strv *ret_kept,
                        struct al_error *err)
{
    const struct al_atomic_dir dir = { restore->top_fd, restore->repo->at.top, "" };
    al_auto(al_strv_clear) struct al_strv gone = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv ignored = AL_STRV_INIT;
    struct al_strv *left_out = &restore->to->left_out;
    size_t next = 0;
    int r;

    al_strv_sort(left_out);
    for (size_t i = 0; i < restore->changes->count; i++) {
        const struct al_difference *change = &restore->changes->items[i];

        if (is_worktree(change) && !change->to)
            al_strv_add(&gone, change->name);
    }
    r = al_git_ignored_paths(restore->repo, restore->top_fd, &gone, restore->budget, &ignored, err);
    for (size_t i = 0; i < gone.count && r == 0; i++) {
        bool is_ignored = next < ignored.count && !strcmp(ignored.items[next], gone.items[i]);

        next += is_ignored; /* git answers in the order of the question */
        if ((is_ignored && !al_is_in_the_way(restore->changes, gone.items[i])) ||
            al_strv_contains_sorted(left_out, gone.items[i]))
            al_strv_add(ret_kept, gone.items[i]);
        else
            r = al_atomic_file_remove(&dir, gone.items[i], err);
    }
    return r;
}

static int restore_worktree(const struct al_restore *restore, struct al_strv *ret_kept,
                            struct al_error *err)
{
    int r;

    restore_ignore_rules(restore);
    r = remove_files(restore, ret_kept, err);
    for (size_t i = 0; r == 0 && i < restore->changes->count; i++) {
        const struct al_difference *change = &restore->changes->items[i];

        if (is_worktree(change) && change->to && !change->from)
            al_remove_empty_directories(restore->top_fd, change->name);
    }
    return r < 0 ? r : write_files(restore, is_worktree, err);
}

static int remove_state(const struct al_restore *restore, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < restore->changes->count && r == 0; i++) {
        const struct al_difference *change = &restore->changes->items[i];
        const struct al_atomic_dir dir = dir_of(restore, "", change);

        if (is_state(change) && !change->to)
            r = al_atomic_file_remove(&dir, change->name, err);
    }
    return r;
}

static bool changes_config(const struct al_restore *restore)
{
    for (size_t i = 0; i < restore->changes->count; i++)
        if (restore->changes->items[i].part == AL_PART_STATE &&
            !strcmp(restore->changes->items[i].name, "config"))
            return true;
    return false;
}

static int restore_state(const struct al_restore *restore, struct al_error *err)
{
    struct al_lockfile lock = AL_LOCKFILE_INIT;
    int r = 0;

    if (changes_config(restore))
        r = al_lockfile_acquire(&lock, restore->common_fd, "config.lock", restore->token, err);
    if (r == 0)
        r = remove_state(restore, err);
    if (r == 0)
        r = write_files(restore, is_state, err);
    al_lockfile_release(&lock);
    return r;
}

/* --- References --- */

static int restore_refs(const struct al_restore *restore, struct al_error *err)
{
    const struct al_differences *changes = restore->changes;
    al_auto(al_freep) struct al_ref_move *moves = al_calloc(changes->count + 1, sizeof(*moves));
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].part == AL_PART_REF)
            moves[count++] = (struct al_ref_move){ changes->items[i].name, changes->items[i].from,
                                                   changes->items[i].to };
    return al_git_move_refs(restore->repo, moves, count, restore->budget, err);
}

static bool is_head(const struct al_restore *restore, const char *value)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (al_fs_read(restore->git_fd, "HEAD", PATH_MAX, &text) < 0)
        return false;
    al_str_trim_end(&text);
    return !strcmp(text.buf, value);
}

static int restore_head(const struct al_restore *restore, struct al_error *err)
{
    al_auto(al_freep) char *temp = temp_name(restore);
    const struct al_atomic_dir dir = { restore->git_fd, restore->repo->at.git_dir, temp };
    al_auto(al_freep) char *line = al_asprintf("%s\n", restore->to->head);
    struct al_lockfile lock = AL_LOCKFILE_INIT;
    int r;

    if (!strcmp(restore->from->head, restore->to->head))
        return 0;
    r = al_lockfile_acquire(&lock, restore->git_fd, "HEAD.lock", restore->token, err);
    if (r == 0 && !is_head(restore, restore->from->head))
        r = al_error_set(err, AL_ERR_EXECUTION, "HEAD was moved by another process just now");
    if (r == 0)
        r = al_atomic_file_write(&dir, "HEAD", INDEX_MODE, line, strlen(line), err);
    al_lockfile_release(&lock);
    return r;
}

/* --- The index --- */

/* Write the index beside its place.  It keeps its time: git compares the content of a file that is
 * not older than the index, since the file may have changed after git looked at it. */
static int write_index(const struct al_restore *restore, const struct al_atomic_dir *dir,
                       const char *name, struct al_error *err)
{
    const struct al_saved_state *to = restore->to;
    const struct timespec times[] = { { .tv_nsec = UTIME_OMIT },
                                      { .tv_sec = (time_t)(to->index_mtime_ns / NS),
                                        .tv_nsec = (long)(to->index_mtime_ns % NS) } };
    int r = al_atomic_file_write(dir, name, INDEX_MODE, to->index.buf, to->index.len, err);

    if (r < 0 || to->index_mtime_ns <= 0)
        return r;
    return utimensat(restore->git_fd, name, times, AT_SYMLINK_NOFOLLOW) < 0
               ? al_error_errno(err, errno, "cannot write the index")
               : 0;
}

/* --- All of it --- */

int al_restore_apply(const struct al_restore *restore, struct al_strv *ret_kept,
                     struct al_error *err)
{
    const struct al_saved_state *to = restore->to;
    al_auto(al_freep) char *name = al_asprintf(".airlock-index-%s", restore->token);
    al_auto(al_freep) char *temp = temp_name(restore);
    al_auto(al_freep) char *path = al_fs_join(restore->repo->at.git_dir, name);
    const struct al_atomic_dir dir = { restore->git_fd, restore->repo->at.git_dir, temp };
    bool writes_index = !restore->keeps_index && to->has_index;
    /* An index needs its shared part at all times. */
    int r = write_files(restore, is_shared_index, err);

    if (r == 0 && writes_index)
        r = write_index(restore, &dir, name, err);
    if (r == 0)
        r = al_restore_objects(restore, writes_index ? path : NULL, err);
    if (r == 0 && restore->linked)
        r = al_linked_remove(restore, restore->linked, err);
    if (r == 0)
        r = restore_refs(restore, err);
    if (r == 0)
        r = restore_head(restore, err);
    if (r == 0)
        r = restore_worktree(restore, ret_kept, err);
    if (r == 0)
        r = restore_state(restore, err);
    if (r == 0 && restore->linked)
        r = al_linked_restore(restore, restore->linked, err);
    if (r == 0 && writes_index && renameat(restore->git_fd, name, restore->git_fd, "index") < 0)
        r = al_error_errno(err, errno, "cannot write the index");
    if (r == 0 && !restore->keeps_index && !to->has_index)
        r = al_atomic_file_remove(&dir, "index", err);
    (void)unlinkat(restore->git_fd, name, 0);
    return r;
}
