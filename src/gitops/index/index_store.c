// SPDX-License-Identifier: Apache-2.0
#include "gitops/index/index_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "gitops/index/index_copy.h"
#include "gitops/index/index_stats.h"
#include "util/str.h"

#define FORMAT        "index 2"
#define SECOND_NS     INT64_C(1000000000)
#define HEADER_BYTES  12
#define TOP_MAX_BYTES 4096u

static void pack(const struct al_file_id *id, uint64_t ret_packed[5])
{
    ret_packed[0] = id->dev;
    ret_packed[1] = id->ino;
    ret_packed[2] = id->size;
    ret_packed[3] = (uint64_t)id->mtime_ns;
    ret_packed[4] = (uint64_t)id->ctime_ns;
}

static bool is_same(const struct al_file_id *id, const uint64_t packed[5])
{
    uint64_t now[5];

    pack(id, now);
    return id->exists && !memcmp(now, packed, sizeof(now));
}

static struct al_file_id id_of(const struct al_index_store *store, const char *name)
{
    struct stat st;

    if (fstatat(store->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return (struct al_file_id){ .exists = false };
    return al_file_id_from(&st);
}

/* "" when the kernel does not tell. */
static void boot_id(char ret_id[40])
{
    al_auto(al_closep) int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, ret_id, 39);

    memset(ret_id + (got < 0 ? 0 : got), 0, (size_t)(40 - (got < 0 ? 0 : got)));
}

static int open_in(struct al_index_store *store, bool create)
{
    store->dir_fd = open(store->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (store->dir_fd < 0)
        return -errno;
    if (flock(store->dir_fd, LOCK_SH | LOCK_NB) < 0)
        return -errno; /* it is being removed */
    if (create && ((mkdirat(store->dir_fd, "work", 0700) < 0 && errno != EEXIST) ||
                   (mkdirat(store->dir_fd, "ready", 0700) < 0 && errno != EEXIST)))
        return -errno;
    store->lock_fd = openat(store->dir_fd, "lock",
                            O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
    if (store->lock_fd < 0)
        return -errno;
    (void)futimens(store->lock_fd, NULL); /* the time of the last use */
    return 0;
}

int al_index_store_open(const char *dir, bool create, struct al_index_store *ret_store)
{
    struct al_index_store store = AL_INDEX_STORE_INIT;
    int r = create ? al_fs_mkdirs(dir, 0700) : 0;

    store.dir = al_strdup(dir);
    store.work_dir = al_fs_join(dir, "work");
    store.ready_index = al_fs_join(dir, "ready/index");
    store.work_index = al_fs_join(dir, "work/index");
    if (r == 0)
        r = open_in(&store, create);
    if (r < 0) {
        al_index_store_close(&store);
        return r;
    }
    *ret_store = store;
    return 0;
}

void al_index_store_close(struct al_index_store *store)
{
    free(store->dir);
    free(store->work_dir);
    free(store->ready_index);
    free(store->work_index);
    al_closep(&store->lock_fd);
    al_closep(&store->dir_fd);
    *store = AL_INDEX_STORE_INIT;
}

bool al_index_store_lock(const struct al_index_store *store)
{
    return flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0;
}

void al_index_store_unlock(const struct al_index_store *store)
{
    (void)flock(store->lock_fd, LOCK_UN);
}

bool al_index_store_load(const struct al_index_store *store, struct al_index_record *ret_record)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_index_record record;
    char boot[40];

    if (al_fs_read(store->dir_fd, "record", sizeof(record) + TOP_MAX_BYTES, &text) < 0 ||
        text.len < sizeof(record))
        return false;
    memcpy(&record, text.buf, sizeof(record));
    boot_id(boot);
    if (memcmp(record.format, FORMAT, sizeof(record.format)) != 0 || !*boot ||
        memcmp(record.boot, boot, sizeof(boot)) != 0)
        return false;
    *ret_record = record;
    return true;
}

bool al_index_store_holds(const struct al_index_store *store, const struct al_index_record *record,
                          const struct al_index_source *source)
{
    struct al_file_id ready;

    if (!is_same(&source->id, record->source) ||
        memcmp(source->config, record->config, sizeof(record->config)) != 0)
        return false;
    ready = id_of(store, "ready/index");
    return is_same(&ready, record->ready);
}

bool al_index_store_may_refresh(const struct al_index_store *store,
                                const struct al_index_record *record)
{
    const struct al_file_id work = id_of(store, "work/index");

    return is_same(&work, record->ready);
}

static int write_record(const struct al_index_store *store, const char *top,
                        struct al_index_record *record)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const struct al_file_id ready = id_of(store, "ready/index");

    pack(&ready, record->ready);
    al_str_add(&text, (const char *)record, sizeof(*record));
    al_str_adds(&text, top);
    return al_fs_write_atomic(store->dir_fd, "record", text.buf, text.len, 0600, true);
}

/* Names of an earlier git, and of an airlock that was killed. */
static void remove_leftovers(const struct al_index_store *store)
{
    (void)unlinkat(store->dir_fd, "work/index", 0);
    (void)unlinkat(store->dir_fd, "work/index.lock", 0);
    (void)unlinkat(store->dir_fd, "ready/new", 0);
}

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / SECOND_NS),
                              .tv_nsec = (long)(ns % SECOND_NS) };
}

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* The index of the store, if its stat data is that of airlock's own git, under the configuration of
 * `source`; -1 when it is not. */
static int open_known(const struct al_index_store *store, const struct al_index_source *source)
{
    struct al_index_record record;
    struct al_file_id id;
    struct stat st;
    al_auto(al_closep) int fd =
        openat(store->dir_fd, "ready/index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &st) < 0 || !al_index_store_load(store, &record))
        return -1;
    id = al_file_id_from(&st);
    if (!record.has_own_stats || !is_same(&id, record.ready) ||
        memcmp(record.config, source->config, sizeof(record.config)) != 0)
        return -1;
    return al_take_fd(&fd);
}

/* An index with a time to come would make git believe more of it than later. */
static int set_time(int fd, const struct al_index_source *source)
{
    const int64_t now = now_ns();
    const struct timespec then = time_of(source->id.mtime_ns < now ? source->id.mtime_ns : now);

    return futimens(fd, (const struct timespec[]){ then, then }) < 0 ? -errno : 0;
}

static int copy_to(int fd, int from_fd, bool sha256, const struct al_index_source *source,
                   uint32_t *ret_entries)
{
    struct stat st;
    struct al_file_id id;
    int r = al_index_copy(from_fd, fd, sha256, ret_entries);

    if (r < 0)
        return r;
    if (fstat(from_fd, &st) < 0)
        return -errno;
    id = al_file_id_from(&st);
    return al_file_id_equal(&id, &source->id) ? 0 : -EAGAIN;
}

int al_index_store_fill(const struct al_index_store *store, int from_fd, bool sha256, bool is_stale,
                        const struct al_index_source *source, const char *top,
                        struct al_index_record *ret_record)
{
    struct al_index_record record = { .format = FORMAT };
    al_auto(al_closep) int known_fd = open_known(store, source);
    al_auto(al_closep) int fd = -1;
    uint32_t entries = 0;
    int r;

    remove_leftovers(store);
    fd = openat(store->dir_fd, "ready/new", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                0600);
    if (fd < 0)
        return -errno;
    record.has_own_stats = is_stale || known_fd >= 0;
    r = copy_to(fd, from_fd, sha256, source, &entries);
    if (r == 0 && record.has_own_stats)
        r = al_index_set_stats(fd, known_fd, sha256);
    if (r == 0)
        r = set_time(fd, source);
    if (r == 0 && linkat(store->dir_fd, "ready/new", store->dir_fd, "work/index", 0) < 0)
        r = -errno;
    if (r == 0 && renameat(store->dir_fd, "ready/new", store->dir_fd, "ready/index") < 0)
        r = -errno;
    if (r < 0) {
        remove_leftovers(store);
        return r;
    }
    boot_id(record.boot);
    pack(&source->id, record.source);
    memcpy(record.config, source->config, sizeof(record.config));
    record.entries = entries;
    r = write_record(store, top, &record);
    if (r == 0)
        *ret_record = record;
    return r;
}

/* What git writes has as many entries as what it read. */
static bool is_sound(const struct al_index_store *store, const struct al_index_record *record)
{
    al_auto(al_closep) int fd =
        openat(store->dir_fd, "work/index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    unsigned char head[HEADER_BYTES];
    struct stat st;

    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_size <= 2 * AL_INDEX_COPY_MAX_BYTES &&
           pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) && !memcmp(head, "DIRC", 4) &&
           ((uint64_t)head[8] << 24 | (uint64_t)head[9] << 16 | (uint64_t)head[10] << 8 |
            head[11]) == record->entries;
}

int al_index_store_publish(const struct al_index_store *store, int64_t began_ns, const char *top,
                           struct al_index_record *record)
{
    const struct al_file_id work = id_of(store, "work/index");
    const struct timespec then = time_of(began_ns - AL_INDEX_MARGIN_S * SECOND_NS);

    (void)unlinkat(store->dir_fd, "work/index.lock", 0); /* of a git that was killed */
    if (is_same(&work, record->ready))
        return 0;
    if (!work.exists || !is_sound(store, record))
        return -EINVAL;
    if (utimensat(store->dir_fd, "work/index", (const struct timespec[]){ then, then },
                  AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    (void)unlinkat(store->dir_fd, "ready/new", 0);
    if (linkat(store->dir_fd, "work/index", store->dir_fd, "ready/new", 0) < 0 ||
        renameat(store->dir_fd, "ready/new", store->dir_fd, "ready/index") < 0)
        return -errno;
    return write_record(store, top, record);
}
