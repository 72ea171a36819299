// SPDX-License-Identifier: Apache-2.0
#include "journal/slots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"

/** Idle files kept open for the next calls; more calls than this at once pay for theirs. */
#define IDLE_MAX 16u

/** A larger file is not kept: the next call would pay for its blocks. */
#define KEEP_MAX_BYTES (64u << 10)

struct al_slot {
    struct al_slot *next; /* idle ones */
    int fd;
    size_t size;
    char name[48]; /* ".<pid>-<n>"; without the dot while a call runs */
};

struct al_slots {
    int dir_fd;
    pthread_mutex_t lock;
    unsigned serial;
    struct al_slot *idle;
    size_t nidle;
};

static const char *shown_name(const struct al_slot *slot)
{
    return slot->name + 1;
}

void al_slots_leave(struct al_slot *slot)
{
    al_close(slot->fd);
    free(slot);
}

static void discard(struct al_slots *slots, struct al_slot *slot)
{
    (void)unlinkat(slots->dir_fd, slot->name, 0);
    al_slots_leave(slot);
}

int al_slots_open(const char *path, struct al_slots **ret_slots, struct al_error *err)
{
    al_auto(al_closep) int dir_fd = -1;
    struct al_slots *slots;
    int r;

    r = al_fs_mkdirs(path, 0700);
    if (r < 0)
        return al_error_errno(err, -r, "cannot create '%s'", path);
    dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir_fd < 0)
        return al_error_errno(err, errno, "cannot open '%s'", path);
    slots = al_calloc(1, sizeof(*slots));
    slots->dir_fd = al_take_fd(&dir_fd);
    (void)pthread_mutex_init(&slots->lock, NULL);
    *ret_slots = slots;
    return 0;
}

void al_slots_free(struct al_slots *slots)
{
    if (!slots)
        return;
    while (slots->idle) {
        struct al_slot *slot = slots->idle;

        slots->idle = slot->next;
        discard(slots, slot);
    }
    (void)pthread_mutex_destroy(&slots->lock);
    al_close(slots->dir_fd);
    free(slots);
}

/* A process that ends gives up its locks, however it ends.  False when somebody else has it, or
 * when the file has no name any more. */
static bool lock(int fd)
{
    struct stat st;

    return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0;
}

static int create(struct al_slots *slots, struct al_slot **ret_slot)
{
    struct al_slot *slot = al_calloc(1, sizeof(*slot));

    do {
        unsigned n;

        (void)pthread_mutex_lock(&slots->lock);
        n = slots->serial++;
        (void)pthread_mutex_unlock(&slots->lock);
        (void)snprintf(slot->name, sizeof(slot->name), ".%ld-%u", (long)getpid(), n);
        slot->fd = openat(slots->dir_fd, slot->name,
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (slot->fd < 0 && errno == EEXIST);
    if (slot->fd < 0) {
        int r = -errno;

        free(slot);
        return r;
    }
    if (!lock(slot->fd)) {
        al_slots_leave(slot); /* whoever collects just now took it for a dead one's */
        return -EEXIST;
    }
    *ret_slot = slot;
    return 0;
}

static int find(struct al_slots *slots, struct al_slot **ret_slot)
{
    struct al_slot *slot;

    (void)pthread_mutex_lock(&slots->lock);
    slot = slots->idle;
    if (slot) {
        slots->idle = slot->next;
        slots->nidle--;
    }
    (void)pthread_mutex_unlock(&slots->lock);
    if (!slot)
        return create(slots, ret_slot);
    *ret_slot = slot;
    return 0;
}

static int fill(struct al_slot *slot, const void *data, size_t len)
{
    int r;

    if (lseek(slot->fd, 0, SEEK_SET) < 0)
        return -errno;
    r = al_write_all(slot->fd, data, len);
    if (r == 0 && slot->size > len && ftruncate(slot->fd, (off_t)len) < 0)
        r = -errno;
    slot->size = len;
    return r;
}

int al_slots_take(struct al_slots *slots, const void *data, size_t len, struct al_slot **ret_slot)
{
    for (;;) {
        struct al_slot *slot = NULL;
        int r;

        r = find(slots, &slot);
        if (r == -EEXIST)
            continue;
        if (r < 0)
            return r;
        r = fill(slot, data, len);
        if (r == 0 && renameat2(slots->dir_fd, slot->name, slots->dir_fd, shown_name(slot),
                                RENAME_NOREPLACE) < 0)
            r = -errno;
        if (r == 0) {
            *ret_slot = slot;
            return 0;
        }
        discard(slots, slot);
        /* Either name can be another's doing: a record from an earlier process of our number, or a
         * sweep from where our number means nothing.  The next file has other names. */
        if (r != -EEXIST && r != -ENOENT)
            return r;
    }
}

/* Put it with the idle ones, unless there are enough of them. */
static bool keep(struct al_slots *slots, struct al_slot *slot)
{
    bool room;

    (void)pthread_mutex_lock(&slots->lock);
    room = slots->nidle < IDLE_MAX;
    if (room) {
        slot->next = slots->idle;
        slots->idle = slot;
        slots->nidle++;
    }
    (void)pthread_mutex_unlock(&slots->lock);
    return room;
}

void al_slots_give_back(struct al_slots *slots, struct al_slot *slot)
{
    if (renameat(slots->dir_fd, shown_name(slot), slots->dir_fd, slot->name) < 0) {
        (void)unlinkat(slots->dir_fd, shown_name(slot),
                       0); /* at worst it looks like a call that never ended */
        al_slots_leave(slot);
    } else if (slot->size > KEEP_MAX_BYTES || !keep(slots, slot)) {
        discard(slots, slot);
    }
}

int al_slots_extend(struct al_slot *slot, const void *data, size_t len)
{
    int r = al_write_all(slot->fd, data, len);

    slot->size += len; /* no less than is there */
    return r;
}

/* "<pid>-<n>", with a dot before it when the file is idle. */
static bool is_slot_name(const char *name, bool *ret_idle)
{
    unsigned n;
    int pid, used = 0;

    *ret_idle = name[0] == '.';
    return sscanf(name + *ret_idle, "%d-%u%n", &pid, &n, &used) == 2 &&
           !name[*ret_idle + (size_t)used] && pid > 0;
}

/* One file in the directory.  Only what nobody has locked is looked into. */
static void collect_one(struct al_slots *slots, const char *name, al_slots_left_fn *left,
                        void *context)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;
    bool idle;

    if (!is_slot_name(name, &idle))
        return;
    fd = openat(slots->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || !lock(fd))
        return;
    if (idle || al_fs_read_fd(fd, AL_SLOT_MAX_BYTES, &text) < 0 || !text.len ||
        left(context, text.buf, text.len) == 0)
        (void)unlinkat(slots->dir_fd, name, 0);
}

void al_slots_collect(struct al_slots *slots, al_slots_left_fn *left, void *context)
{
    int fd = openat(slots->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!dir) {
        al_close(fd);
        return;
    }
    while ((entry = readdir(dir)))
        collect_one(slots, entry->d_name, left, context);
    (void)closedir(dir);
}
