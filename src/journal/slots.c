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
#include "util/log.h"

/** Idle files kept open for the next calls; more calls than this at once pay for theirs. */
#define IDLE_MAX 64u

/** A larger file is emptied before the next call, which would have to write all of it. */
#define KEEP_MAX_BYTES 4096u

/** What ends a line: the space is what becomes the newline before the empty line. */
#define LINE_END       " \n"
#define LINE_END_BYTES 2u

struct al_slot {
    struct al_slot *next; /* idle ones */
    int fd;
    size_t size; /* of the file; SIZE_MAX when nobody knows */
    bool hidden; /* it has its name with a dot before it */
    bool synced; /* a name of it is on the disk; another one does as well */
    char dotted[48];
};

/* "<pid>-<n>", or with the dot while it is hidden. */
static const char *name_of(const struct al_slot *slot)
{
    return slot->dotted + !slot->hidden;
}

struct al_slots {
    int dir_fd;
    pthread_mutex_t lock;
    unsigned serial;
    struct al_slot *idle;
    size_t nidle;
};

void al_slots_leave(struct al_slot *slot)
{
    al_close(slot->fd);
    free(slot);
}

/* False when somebody removed it: the name may be another's then. */
static bool has_name(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

static void discard(struct al_slots *slots, struct al_slot *slot)
{
    if (has_name(slot->fd))
        (void)unlinkat(slots->dir_fd, name_of(slot), 0);
    al_slots_leave(slot);
}

/* Give it its other name, unless that is somebody's.  0 or -errno. */
static int rename_slot(struct al_slots *slots, struct al_slot *slot, bool hidden)
{
    const char *to = slot->dotted + !hidden;

    if (slot->hidden == hidden)
        return 0;
    if (renameat2(slots->dir_fd, name_of(slot), slots->dir_fd, to, RENAME_NOREPLACE) < 0)
        return -errno;
    slot->hidden = hidden;
    return 0;
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

/* A process that ends gives up its locks, however it ends.  0; -EEXIST when somebody else has it,
 * or when the file has no name any more; another -errno when the file system cannot tell. */
static int lock(int fd)
{
    int r;

    do
        r = flock(fd, LOCK_EX | LOCK_NB);
    while (r < 0 && errno == EINTR);
    if (r < 0)
        return errno == EWOULDBLOCK ? -EEXIST : -errno;
    return has_name(fd) ? 0 : -EEXIST;
}

static int create(struct al_slots *slots, struct al_slot **ret_slot)
{
    struct al_slot *slot = al_calloc(1, sizeof(*slot));
    int r;

    do {
        unsigned n;

        (void)pthread_mutex_lock(&slots->lock);
        n = slots->serial++;
        (void)pthread_mutex_unlock(&slots->lock);
        (void)snprintf(slot->dotted, sizeof(slot->dotted), ".%ld-%u", (long)getpid(), n);
        slot->fd = openat(slots->dir_fd, name_of(slot),
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (slot->fd < 0 && errno == EEXIST);
    if (slot->fd < 0) {
        r = -errno;
        free(slot);
        return r;
    }
    r = lock(slot->fd);
    if (r == 0)
        *ret_slot = slot;
    else if (r == -EEXIST)
        al_slots_leave(slot); /* another process collects just now and took it for a dead one's */
    else
        discard(slots, slot);
    return r;
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

/* All of it at this place.  0 or -errno. */
static int write_at(int fd, const struct al_str *text, size_t at)
{
    size_t done = 0;

    while (done < text->len) {
        ssize_t n = pwrite(fd, text->buf + done, text->len - done, (off_t)(at + done));

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            done += (size_t)n;
    }
    return 0;
}

/* Make `len` bytes at least `min_bytes` of line, its end included. */
static void add_end(struct al_str *line, size_t len, size_t min_bytes)
{
    size_t spaces = min_bytes > len + LINE_END_BYTES ? min_bytes - len - LINE_END_BYTES : 0;

    al_str_truncate(line, len);
    al_str_reserve(line, spaces + LINE_END_BYTES);
    memset(line->buf + line->len, ' ', spaces);
    line->len += spaces;
    al_str_adds(line, LINE_END);
}

static int fill(struct al_slot *slot, const struct al_str *line)
{
    int r;

    slot->size = line->len;
    r = write_at(slot->fd, line, 0);
    if (r == 0 && !has_name(slot->fd)) /* after a sweep from where our number means nothing */
        r = -ENOENT;
    return r;
}

static int take(struct al_slots *slots, struct al_str *line, bool seen, struct al_slot **ret_slot)
{
    const size_t len = line->len;

    for (;;) {
        struct al_slot *slot = NULL;
        int r;

        r = find(slots, &slot);
        if (r == -EEXIST)
            continue;
        if (r < 0)
            return r;
        add_end(line, len, slot->size);
        r = fill(slot, line);
        if (r == 0 && seen)
            r = rename_slot(slots, slot, false);
        if (r == 0) {
            *ret_slot = slot;
            return 0;
        }
        discard(slots, slot);
        /* Another process of our number had the name, or swept here where it means nothing. */
        if (r != -ENOENT && r != -EEXIST)
            return r;
    }
}

int al_slots_take(struct al_slots *slots, struct al_str *line, struct al_slot **ret_slot)
{
    return take(slots, line, true, ret_slot);
}

int al_slots_take_unseen(struct al_slots *slots, struct al_str *line, struct al_slot **ret_slot)
{
    return take(slots, line, false, ret_slot);
}

void al_slots_show(struct al_slots *slots, struct al_slot *slot)
{
    (void)rename_slot(slots, slot, false);
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

/* Make the last line an empty one. */
static bool make_idle(struct al_slot *slot)
{
    if (slot->size <= KEEP_MAX_BYTES)
        return pwrite(slot->fd, "\n", 1, (off_t)(slot->size - LINE_END_BYTES)) == 1;
    slot->size = 0;
    return ftruncate(slot->fd, 0) == 0;
}

void al_slots_give_back(struct al_slots *slots, struct al_slot *slot)
{
    if (!make_idle(slot) || !keep(slots, slot))
        discard(slots, slot);
}

/* An idle one that is seen, which is nobody else's then; NULL when there is none. */
static struct al_slot *find_seen(struct al_slots *slots)
{
    struct al_slot **at, *slot;

    (void)pthread_mutex_lock(&slots->lock);
    for (at = &slots->idle; *at && (*at)->hidden; at = &(*at)->next)
        continue;
    slot = *at;
    if (slot) {
        *at = slot->next;
        slots->nidle--;
    }
    (void)pthread_mutex_unlock(&slots->lock);
    return slot;
}

/* The next call may come any moment, and is not to wait for a rename. */
void al_slots_hide_idle(struct al_slots *slots)
{
    struct al_slot *slot;

    while ((slot = find_seen(slots))) {
        if (rename_slot(slots, slot, true) < 0 || !keep(slots, slot))
            discard(slots, slot);
    }
}

int al_slots_extend(struct al_slot *slot, struct al_str *line)
{
    int r;

    add_end(line, line->len, 0);
    r = slot->size == SIZE_MAX ? -EIO : write_at(slot->fd, line, slot->size);
    slot->size = r == 0 ? slot->size + line->len : SIZE_MAX;
    return r;
}

int al_slots_sync(const struct al_slots *slots, struct al_slot *slot)
{
    if (fdatasync(slot->fd) < 0 || (!slot->synced && fsync(slots->dir_fd) < 0))
        return -errno;
    slot->synced = true;
    return 0;
}

/* "<pid>-<n>", with a dot before it when it is hidden. */
static bool is_slot_name(const char *name)
{
    unsigned n;
    int pid, used = 0;

    name += name[0] == '.';
    return sscanf(name, "%d-%u%n", &pid, &n, &used) == 2 && !name[used] && pid > 0;
}

static bool is_idle(const struct al_str *text)
{
    return text->len == 0 || al_ends_with(text->buf, "\n\n");
}

/* One file in the directory.  Only what nobody has locked is looked into.  A file that cannot be
 * read stays: it may be all that names the checkpoint of a call that was interrupted. */
static void collect_one(struct al_slots *slots, const char *name, al_slots_left_fn *left,
                        void *context)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;
    int r;

    if (!is_slot_name(name))
        return;
    fd = openat(slots->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || lock(fd) < 0)
        return;
    r = al_fs_read_fd(fd, AL_SLOT_MAX_BYTES, &text);
    if (r < 0 && r != -EFBIG) {
        al_log_warn("the record of a call that was interrupted stays open: cannot read '%s': %s",
                    name, strerrordesc_np(-r));
        return;
    }
    if (r == -EFBIG || is_idle(&text) || left(context, text.buf, text.len) == 0)
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
