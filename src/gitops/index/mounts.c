// SPDX-License-Identifier: Apache-2.0
#include "gitops/index/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/str.h"

/* A longer list counts as one that cannot be read. */
#define LIST_MAX_BYTES ((size_t)1 << 20)
#define POINT_FIELD    5 /* the place of the mount point in a line, from 1 */

static struct {
    pthread_mutex_t lock; /* guards what follows */
    int fd;               /* open as long as the process lives: the kernel tells it of changes */
    uint64_t serial;
    bool is_known; /* `points` is the whole list */
    struct al_strv points;
} mounts = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static bool read_list(int fd, struct al_str *text)
{
    char piece[4096];
    ssize_t got;

    if (lseek(fd, 0, SEEK_SET) != 0)
        return false;
    while ((got = read(fd, piece, sizeof(piece))) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || text->len + (size_t)got > LIST_MAX_BYTES)
            return false;
        al_str_add(text, piece, (size_t)got);
    }
    return true;
}

static bool is_octal(const char *at)
{
    return at[0] >= '0' && at[0] <= '3' && at[1] >= '0' && at[1] <= '7' && at[2] >= '0' &&
           at[2] <= '7';
}

/* Spaces, tabs, newlines and backslashes are written as three octal digits. */
static char *unescaped(const char *field, size_t len)
{
    struct al_str out = AL_STR_INIT;

    for (size_t i = 0; i < len; i++) {
        if (field[i] == '\\' && len - i > 3 && is_octal(field + i + 1)) {
            al_str_addc(&out, (char)((field[i + 1] - '0') << 6 | (field[i + 2] - '0') << 3 |
                                     (field[i + 3] - '0')));
            i += 3;
        } else {
            al_str_addc(&out, field[i]);
        }
    }
    return al_str_detach(&out);
}

static void add_point(const char *line, struct al_strv *points)
{
    for (int field = 1; field < POINT_FIELD; field++) {
        line += strcspn(line, " \n");
        if (*line != ' ')
            return;
        line++;
    }
    al_strv_take(points, unescaped(line, strcspn(line, " \n")));
}

/* With the lock held. */
static void read_mounts(void)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    mounts.serial++;
    al_strv_clear(&mounts.points);
    mounts.is_known = read_list(mounts.fd, &text);
    for (const char *line = text.buf; mounts.is_known && line && *line;) {
        const char *end = strchr(line, '\n');

        add_point(line, &mounts.points);
        line = end ? end + 1 : NULL;
    }
}

/* With the lock held.  A change between the poll and the reading is told by the next poll. */
static bool update(void)
{
    struct pollfd polled = { .events = POLLPRI };

    if (mounts.fd < 0) {
        mounts.fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
        if (mounts.fd >= 0)
            read_mounts();
        return mounts.fd >= 0 && mounts.is_known;
    }
    polled.fd = mounts.fd;
    if (poll(&polled, 1, 0) != 0)
        read_mounts();
    return mounts.is_known;
}

uint64_t al_mounts_serial(void)
{
    uint64_t serial;

    (void)pthread_mutex_lock(&mounts.lock);
    serial = update() ? mounts.serial : 0;
    (void)pthread_mutex_unlock(&mounts.lock);
    return serial;
}

bool al_mounts_below(const char *dir)
{
    bool found;

    (void)pthread_mutex_lock(&mounts.lock);
    found = !update();
    for (size_t i = 0; !found && i < mounts.points.count; i++) {
        const char *rest = al_fs_beneath(dir, mounts.points.items[i]);

        found = rest && *rest;
    }
    (void)pthread_mutex_unlock(&mounts.lock);
    return found;
}

enum al_file_times al_file_times_of(const char *path)
{
    /* The numbers of <linux/magic.h>, which has not all of them.  ZFS and bcachefs are not there
     * because nobody has tried them here. */
    static const struct {
        uint32_t magic;
        enum al_file_times times;
    } known[] = {
        { 0x0000ef53, AL_TIMES_OF_DIRS }, /* ext2, ext3, ext4 */
        { 0x58465342, AL_TIMES_OF_DIRS }, /* XFS */
        { 0x9123683e, AL_TIMES_OF_DIRS }, /* Btrfs */
        { 0xf2f52010, AL_TIMES_OF_DIRS }, /* F2FS */
        { 0x01021994, AL_TIMES_OF_DIRS }, /* tmpfs */
        { 0x794c7630, AL_TIMES_LOCAL },   /* overlayfs: directories are merged from several */
    };
    struct statfs fs;

    if (statfs(path, &fs) < 0)
        return AL_TIMES_UNKNOWN;
    for (size_t i = 0; i < AL_COUNT(known); i++)
        if ((uint32_t)fs.f_type == known[i].magic)
            return known[i].times;
    return AL_TIMES_UNKNOWN;
}
