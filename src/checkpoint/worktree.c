// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint/dir_cache.h"
#include "gitops/deadline.h"
#include "guard/text.h"
#include "util/log.h"

#define CHUNK_BYTES  (128u * 1024u)
#define ATTEMPTS_MAX 3
#define WARNINGS_MAX 1000

/** The state of one pass over the list. */
struct walk {
    const struct al_worktree_source *source;
    struct al_worktree_files *worktree;
    size_t capacity;
    struct al_dir_cache dirs;
    char *chunk;
    struct al_error *err;
};

/* The outcomes of reading one file, if no error stopped it. */
enum outcome { FILE_MISSING, FILE_STORED, FILE_LEFT_OUT, FILE_CHANGING };

void al_worktree_files_clear(struct al_worktree_files *worktree)
{
    free(worktree->files);
    free(worktree->stats);
    al_strv_clear(&worktree->left_out);
    *worktree = (struct al_worktree_files){ .files = NULL };
}

static void walk_clear(struct walk *walk)
{
    free(walk->chunk);
    al_dir_cache_clear(&walk->dirs);
}

/* A file is warned about once in the life of a process, so that the log does not repeat it with
 * every call. */
static bool is_new_warning(const char *top, const char *path)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct al_strv warned;
    al_auto(al_freep) char *full = al_fs_join(top, path);
    bool is_new;

    (void)pthread_mutex_lock(&lock);
    is_new = warned.count < WARNINGS_MAX && !al_strv_contains(&warned, full);
    if (is_new)
        al_strv_add(&warned, full);
    (void)pthread_mutex_unlock(&lock);
    return is_new;
}

static enum outcome leave_out(struct walk *walk, const char *path, const char *why)
{
    al_strv_add(&walk->worktree->left_out, path);
    if (is_new_warning(walk->source->top, path)) {
        al_auto(al_freep) char *word = al_text_sanitize_line(path);

        al_log_warn("the checkpoint leaves out '%s': %s", word, why);
    }
    return FILE_LEFT_OUT;
}

static int check_room(const struct walk *walk)
{
    const struct al_worktree_source *source = walk->source;

    if (al_pack_bytes(source->objects->pack) <= source->max_store_bytes)
        return 0;
    return al_error_set(walk->err, AL_ERR_EXECUTION,
                        "a checkpoint of this repository is larger than journal.max_store_bytes "
                        "(%" PRIu64 ")",
                        source->max_store_bytes);
}

/* Fill the chunk from a file.  The number of bytes, 0 at the end of the file, or -errno. */
static ssize_t read_chunk(const struct walk *walk, int fd)
{
    size_t len = 0;

    while (len < CHUNK_BYTES) {
        ssize_t n = read(fd, walk->chunk + len, CHUNK_BYTES - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

/* A file that does not fit into the chunk is packed while it is read, and taken out of the pack
 * again if the store had it already. *ret_read is the number of bytes read, or `size` + 1 when the
 * file grew. */
static int pack_file(struct walk *walk, int fd, uint64_t size, uint64_t *ret_read,
                     struct al_oid *ret_oid)
{
    struct al_objects *objects = walk->source->objects;
    ssize_t n;
    int r = al_pack_begin(objects->pack, AL_OBJECT_BLOB, size, walk->err);

    *ret_read = 0;
    while (r == 0 && (n = read_chunk(walk, fd)) != 0) {
        if (n < 0 || *ret_read + (uint64_t)n > size) {
            *ret_read = size + 1;
            break;
        }
        *ret_read += (uint64_t)n;
        r = al_pack_add(objects->pack, walk->chunk, (size_t)n, walk->err);
        if (r == 0)
            r = check_room(walk);
        if (r == 0)
            r = al_deadline_check(walk->source->deadline, walk->err);
    }
    if (r < 0)
        return r;
    if (*ret_read != size)
        return al_pack_undo(objects->pack, walk->err);
    r = al_pack_end(objects->pack, ret_oid, walk->err);
    if (r == 0 && al_objects_has(objects, ret_oid))
        return al_pack_undo(objects->pack, walk->err);
    if (r == 0)
        al_objects_know(objects, ret_oid);
    return r;
}

static int put_small(struct walk *walk, int fd, uint64_t size, uint64_t *ret_read,
                     struct al_oid *ret_oid)
{
    ssize_t n = read_chunk(walk, fd);

    *ret_read = n < 0 ? size + 1 : (uint64_t)n;
    if (*ret_read != size)
        return 0;
    return al_objects_put(walk->source->objects, AL_OBJECT_BLOB, walk->chunk, (size_t)size, ret_oid,
                          walk->err);
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    struct al_file_id ids[2] = { al_file_id_from(a), al_file_id_from(b) };

    return al_file_id_equal(&ids[0], &ids[1]);
}

/* Read a regular file once.  `last` is the object that the try before found, zero at first.  If two
 * tries found the same object, the content held still even if the file's times did not. */
static int read_once(struct walk *walk, const char *name, const char *path,
                     const struct al_oid *last, struct al_stat_cache_file *file,
                     enum outcome *ret_outcome)
{
    int64_t began_ns = al_stat_cache_now_ns();
    al_auto(al_closep) int fd =
        openat(walk->dirs.fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat before, after;
    uint64_t size, got;
    int r;

    if (fd < 0) {
        *ret_outcome = errno == EACCES || errno == EPERM
                           ? leave_out(walk, path, "it cannot be read")
                           : FILE_CHANGING;
        return 0;
    }
    *ret_outcome = FILE_CHANGING;
    if (fstat(fd, &before) < 0 || !S_ISREG(before.st_mode))
        return 0;
    size = (uint64_t)before.st_size;
    if (size > walk->source->max_file_bytes) {
        *ret_outcome = leave_out(walk, path, "it is larger than journal.max_file_bytes");
        return 0;
    }
    r = size < CHUNK_BYTES ? put_small(walk, fd, size, &got, &file->oid)
                           : pack_file(walk, fd, size, &got, &file->oid);
    if (r < 0)
        return r;
    if (got != size || fstat(fd, &after) < 0) {
        file->oid = (struct al_oid){ .bytes = { 0 } };
        return 0;
    }
    if (is_unchanged(&before, &after) || al_oid_equal(last, &file->oid)) {
        al_stat_cache_fill(file, &before, began_ns);
        file->racy |= !is_unchanged(&before, &after);
        *ret_outcome = FILE_STORED;
    }
    return 0;
}

static int read_link(struct walk *walk, const char *name, struct al_stat_cache_file *file,
                     enum outcome *ret_outcome)
{
    int64_t began_ns = al_stat_cache_now_ns();
    char target[PATH_MAX];
    struct stat before, after;
    ssize_t len;

    *ret_outcome = FILE_CHANGING;
    if (fstatat(walk->dirs.fd, name, &before, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISLNK(before.st_mode))
        return 0;
    len = readlinkat(walk->dirs.fd, name, target, sizeof(target));
    if (len < 0 || fstatat(walk->dirs.fd, name, &after, AT_SYMLINK_NOFOLLOW) < 0 ||
        !is_unchanged(&before, &after))
        return 0;
    al_stat_cache_fill(file, &before, began_ns);
    *ret_outcome = FILE_STORED;
    return al_objects_put(walk->source->objects, AL_OBJECT_BLOB, target, (size_t)len, &file->oid,
                          walk->err);
}

/* A file that changes while it is read is read again, and left out when that happens every time. */
static int read_file(struct walk *walk, const char *name, const char *path,
                     struct al_stat_cache_file *file, enum outcome *ret_outcome)
{
    *file = (struct al_stat_cache_file){ .racy = false };
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const struct al_oid last = file->oid;
        struct stat st;
        int r = 0;

        *ret_outcome = FILE_MISSING;
        if (fstatat(walk->dirs.fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return 0;
        if (S_ISREG(st.st_mode))
            r = read_once(walk, name, path, &last, file, ret_outcome);
        else if (S_ISLNK(st.st_mode))
            r = read_link(walk, name, file, ret_outcome);
        if (r < 0 || *ret_outcome != FILE_CHANGING)
            return r < 0 ? r : check_room(walk);
    }
    *ret_outcome = leave_out(walk, path, "it changes while it is read");
    return 0;
}

/* Whether a file is as the cache says and its object is in the store. */
static bool is_current(struct walk *walk, const char *path, struct al_stat_cache_file *file)
{
    const struct al_worktree_source *source = walk->source;
    size_t number;
    struct stat st;

    if (!al_stat_cache_find(source->cache, path, file, &number))
        return false;
    if (!source->prefetch || !al_prefetch_is_current(source->prefetch, number)) {
        const char *name = al_dir_cache_enter(&walk->dirs, path);

        if (walk->dirs.fd < 0 || fstatat(walk->dirs.fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !al_stat_cache_is_current(file, &st))
            return false;
    }
    return source->cache_is_valid || al_objects_has(source->objects, &file->oid);
}

static void add_file(struct walk *walk, const char *path, const struct al_stat_cache_file *file)
{
    struct al_worktree_files *worktree = walk->worktree;

    if (worktree->count == walk->capacity) {
        walk->capacity = walk->capacity ? 2 * walk->capacity : walk->source->names->count;
        worktree->files =
            al_reallocarray(worktree->files, walk->capacity, sizeof(*worktree->files));
        worktree->stats =
            al_reallocarray(worktree->stats, walk->capacity, sizeof(*worktree->stats));
    }
    worktree->files[worktree->count++] =
        (struct al_tree_file){ .path = path, .mode = file->mode, .oid = file->oid };
    worktree->stats[worktree->count - 1] = *file;
}

static int add_path(struct walk *walk, const char *path)
{
    struct al_stat_cache_file file;
    enum outcome outcome;
    const char *name;
    int r;

    if (is_current(walk, path, &file)) {
        add_file(walk, path, &file);
        return 0;
    }
    name = al_dir_cache_enter(&walk->dirs, path);
    if (walk->dirs.fd < 0)
        return 0;
    r = read_file(walk, name, path, &file, &outcome);
    if (r == 0 && outcome == FILE_STORED) {
        *walk->source->changed = true;
        add_file(walk, path, &file);
    }
    return r;
}

int al_worktree_read(const struct al_worktree_source *source,
                     struct al_worktree_files *ret_worktree, struct al_error *err)
{
    al_auto(walk_clear) struct walk walk = { .source = source,
                                             .worktree = ret_worktree,
                                             .dirs = AL_DIR_CACHE_INIT(source->top_fd),
                                             .err = err };
    const struct al_file_list *names = source->names;
    int r = 0;

    *ret_worktree = (struct al_worktree_files){ .files = NULL };
    walk.chunk = al_malloc(CHUNK_BYTES);
    for (size_t i = 0; i < names->count && r == 0; i++) {
        r = add_path(&walk, al_file_list_path(names, &names->items[i]));
        if (r == 0)
            r = al_deadline_step(source->deadline, err);
    }
    if (ret_worktree->count != source->cache->nfiles)
        *source->changed = true;
    return r;
}
