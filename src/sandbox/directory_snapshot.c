// SPDX-License-Identifier: Apache-2.0
/*
 * The object ids of the files in a directory.
 *
 * A file whose stat data is unchanged is taken to have the same content, as git does with its
 * index. A file that changed just before it was read could change again within the same tick of its
 * times, so it is read again the next time.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "guard/nofollow.h"
#include "sandbox/directory.h"

#define TICK_NS        20000000
#define COARSE_TICK_NS 2000000000 /* of a file system without fractions of seconds */
#define TRIES          3

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Note the stat data of a file that was read after `began_ns`. */
static void note_stat(struct al_scanned_file *file, const struct stat *st, int64_t began_ns)
{
    bool coarse = st->st_mtim.tv_nsec == 0 && st->st_ctim.tv_nsec == 0;
    int64_t settled_ns = began_ns - (coarse ? COARSE_TICK_NS : TICK_NS);

    file->id = al_file_id_from(st);
    file->mode = st->st_mode;
    file->racy = file->id.ctime_ns > settled_ns || file->id.mtime_ns > settled_ns;
}

/* The id of a link's target.  0 or -errno; -EAGAIN: it changed. */
static int hash_link(int fd, const struct stat *st, bool sha256, struct al_oid *ret_oid)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(fd, "", target, sizeof(target));

    if (n < 0)
        return -errno;
    if (n != st->st_size)
        return -EAGAIN;
    al_oid_of(sha256, AL_OBJECT_BLOB, target, (size_t)n, ret_oid);
    return 0;
}

/* Hash a file as it is now.  0 or -errno; -EAGAIN: it changed. */
static int hash_file(const struct al_directory *directory, bool sha256,
                     struct al_scanned_file *file)
{
    bool link = S_ISLNK(file->mode);
    al_auto(al_closep) int fd =
        al_nofollow_open(directory->fd, file->path, link ? O_PATH | O_NOFOLLOW : O_RDONLY);
    int64_t began_ns = now_ns();
    struct al_file_id before;
    struct stat st;
    int r;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (link ? !S_ISLNK(st.st_mode) : !S_ISREG(st.st_mode))
        return -ENOENT; /* another file has its name */
    r = link ? hash_link(fd, &st, sha256, &file->oid)
             : al_oid_of_file(fd, (uint64_t)st.st_size, sha256, &file->oid);
    note_stat(file, &st, began_ns);
    before = file->id;
    if (r == 0 && fstat(fd, &st) < 0)
        return -errno;
    file->id = al_file_id_from(&st);
    return r == 0 && !al_file_id_equal(&before, &file->id) ? -EAGAIN : r;
}

static bool is_current(const struct al_scanned_file *seen, const struct al_scanned_file *now)
{
    return !seen->racy && seen->mode == now->mode && al_file_id_equal(&seen->id, &now->id);
}

/* Get the id of a file, from the last snapshot if possible.  `*gone`: there is no such file any
 * more. */
static int identify(struct al_sandbox *sandbox, const struct al_scanned_file *seen,
                    struct al_scanned_file *file, bool *gone, struct al_error *err)
{
    int r = -EAGAIN;

    *gone = false;
    if (seen && is_current(seen, file)) {
        file->oid = seen->oid;
        return 0;
    }
    for (int i = 0; i < TRIES && r == -EAGAIN; i++)
        r = hash_file(sandbox->state, sandbox->sha256, file);
    *gone = r == -ENOENT || r == -ELOOP || r == -ENOTDIR;
    if (r == 0 || *gone)
        return 0;
    if (r == -EAGAIN)
        return al_sandbox_fail(err, AL_ERR_EXECUTION, file->path, "",
                               " changes while it is read; try again when nobody writes it");
    return al_directory_fail(-r, file->path, err);
}

static unsigned mode_of(uint32_t mode)
{
    if (S_ISLNK(mode))
        return AL_SANDBOX_MODE_LINK;
    return mode & S_IXUSR ? AL_SANDBOX_MODE_EXECUTABLE : AL_SANDBOX_MODE_FILE;
}

/* The file of the last snapshot with this path; both are sorted. */
static const struct al_scanned_file *find_seen(const struct al_scan *seen, size_t *at,
                                               const char *path)
{
    while (*at < seen->count && strcmp(seen->items[*at].path, path) < 0)
        (*at)++;
    return *at < seen->count && !strcmp(seen->items[*at].path, path) ? &seen->items[*at] : NULL;
}

/* Give every file its id, and drop the files that are gone. */
static int identify_all(struct al_sandbox *sandbox, struct al_scan *scan, struct al_error *err)
{
    const struct al_directory *directory = sandbox->state;
    size_t at = 0, kept = 0;
    int r = 0;

    for (size_t i = 0; i < scan->count; i++) {
        struct al_scanned_file file = scan->items[i];
        bool gone = false;

        if (r == 0)
            r = identify(sandbox, find_seen(&directory->seen, &at, file.path), &file, &gone, err);
        if (gone)
            free(file.path);
        else
            scan->items[kept++] = file;
    }
    scan->count = kept;
    return r;
}

static int compare_path(const void *path, const void *file)
{
    return strcmp(path, ((const struct al_scanned_file *)file)->path);
}

bool al_directory_is_version(const struct al_sandbox *sandbox, const char *path,
                             const struct stat *st, const struct al_sandbox_version *version)
{
    const struct al_directory *directory = sandbox->state;
    const struct al_scan *scan = &directory->seen;
    const struct al_scanned_file *seen =
        scan->count ? bsearch(path, scan->items, scan->count, sizeof(*scan->items), compare_path)
                    : NULL;
    struct al_scanned_file now = { .path = (char *)(uintptr_t)path,
                                   .id = al_file_id_from(st),
                                   .mode = st->st_mode };

    if (seen && is_current(seen, &now))
        now.oid = seen->oid;
    else if (hash_file(directory, sandbox->sha256, &now) < 0)
        return false;
    return mode_of(now.mode) == version->mode && al_oid_equal(&now.oid, &version->oid);
}

static void copy_files(const struct al_scan *scan, struct al_sandbox_files *ret)
{
    ret->items = al_calloc(scan->count, sizeof(*ret->items));
    for (; ret->count < scan->count; ret->count++) {
        const struct al_scanned_file *file = &scan->items[ret->count];

        ret->items[ret->count] = (struct al_sandbox_file){
            .path = al_strdup(file->path),
            .mode = mode_of(file->mode),
            .oid = file->oid,
            .size = file->id.size,
            .has_size = true,
        };
    }
}

static int snapshot_locked(struct al_sandbox *sandbox, struct al_sandbox_files *ret,
                           struct al_error *err)
{
    struct al_directory *directory = sandbox->state;
    struct al_scan scan;
    int r = al_directory_scan(directory->fd, "", &scan, err);

    if (r < 0)
        return r;
    r = identify_all(sandbox, &scan, err);
    if (r < 0) {
        al_scan_clear(&scan);
        return r;
    }
    al_scan_clear(&directory->seen);
    directory->seen = scan;
    copy_files(&scan, ret);
    return 0;
}

int al_directory_snapshot(struct al_sandbox *sandbox, struct al_sandbox_files *ret,
                          struct al_error *err)
{
    int r;

    (void)pthread_mutex_lock(&sandbox->lock);
    r = snapshot_locked(sandbox, ret, err);
    (void)pthread_mutex_unlock(&sandbox->lock);
    return r;
}
