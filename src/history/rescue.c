// SPDX-License-Identifier: Apache-2.0
#include "history/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "history/aside.h"
#include "history/store.h"

#define HELD_MAX  32u /* files that git has open at once */
#define TRIES_MAX 8u  /* of somebody who makes a file again and again */

/* --- Looking at one file --- */

/* Files that cannot be opened: a link, a socket, one that nobody may read. */
static void look_from_outside(int dir_fd, const char *name, bool sha256, struct al_look *look)
{
    char target[PATH_MAX];
    struct stat st;
    ssize_t len;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        look->mode = st.st_mode;
    if (!S_ISLNK(look->mode))
        return;
    len = readlinkat(dir_fd, name, target, sizeof(target));
    if (len >= 0)
        al_oid_of(sha256, AL_OBJECT_BLOB, target, (size_t)len, &look->oid);
}

void al_look_at(int dir_fd, const char *name, bool sha256, struct al_look *ret_look)
{
    static const struct al_oid none;
    al_auto(al_closep) int fd =
        openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct al_look look = { .mode = 0 };
    struct stat st;

    if (fd < 0) {
        look_from_outside(dir_fd, name, sha256, &look);
    } else {
        /* Before its content is read.  The lease ends when the descriptor is closed. */
        look.is_open = fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
        if (fstat(fd, &st) == 0)
            look.mode = st.st_mode;
        if (S_ISREG(look.mode) && al_oid_of_file(fd, (uint64_t)st.st_size, sha256, &look.oid) < 0)
            look.oid = none;
    }
    *ret_look = look;
}

bool al_look_has(const struct al_look *look, bool sha256, const char *blob)
{
    struct al_oid oid;

    return blob && (S_ISREG(look->mode) || S_ISLNK(look->mode)) &&
           al_oid_parse(blob, sha256, &oid) && al_oid_equal(&oid, &look->oid);
}

/* A new file that git is writing.  The lease keeps others out. */
struct held {
    pid_t pid;
    int fd, number; /* ours, and git's */
};

struct al_rescue {
    const struct al_location *at;
    int top_fd;
    struct al_watch watch;
    struct al_aside_entry aside; /* begun with the first thing */
    struct al_strv touched;
    char *removed; /* what git removed last, absolute */
    struct held held[HELD_MAX];
    size_t nheld;
    int giving_fd; /* for given(); -1: none */
    bool giving_lease;
};

/* --- Taking --- */

/* Move a file aside.  0 or an errno. */
static int take(struct al_rescue *rescue, int parent_fd, const char *name, const char *path)
{
    al_auto(al_closep) int common_fd = -1;
    int r = rescue->aside.fd >= 0 ? 0 : al_location_open_common_dir(rescue->at, &common_fd, NULL);

    if (r == 0 && rescue->aside.fd < 0)
        r = al_aside_begin(common_fd, NULL, rescue->top_fd, &rescue->aside, NULL);
    if (r == 0)
        r = al_aside_move(&rescue->aside, parent_fd, name, path, NULL);
    return r == 0 ? 0 : r == AL_ERR_NOT_FOUND ? ENOENT : EACCES;
}

/* --- Files that git is writing --- */

/* Whether the process has it open under that number still. */
static bool is_being_written(const struct held *held)
{
    char name[64];
    struct stat ours, its;

    (void)snprintf(name, sizeof(name), "/proc/%d/fd/%d", (int)held->pid, held->number);
    return stat(name, &its) == 0 && fstat(held->fd, &ours) == 0 && its.st_dev == ours.st_dev &&
           its.st_ino == ours.st_ino;
}

/* Let others open what git has closed. */
static void release(struct al_rescue *rescue)
{
    for (size_t i = rescue->nheld; i > 0; i--) {
        if (is_being_written(&rescue->held[i - 1]))
            continue;
        al_close(rescue->held[i - 1].fd); /* with the lease */
        rescue->held[i - 1] = rescue->held[--rescue->nheld];
    }
}

/* git has a file under this number.  The file that had it before is closed. */
static void given(void *payload, pid_t pid, int number)
{
    struct al_rescue *rescue = payload;
    const int fd = rescue->giving_fd;

    for (size_t i = 0; i < rescue->nheld; i++) {
        struct held *held = &rescue->held[i];

        if (held->pid != pid || held->number != number)
            continue;
        al_close(held->fd);
        *held = rescue->held[--rescue->nheld];
        break;
    }
    rescue->giving_fd = -1;
    if (number < 0 || !rescue->giving_lease)
        al_close(fd);
    else
        rescue->held[rescue->nheld++] = (struct held){ pid, fd, number };
}

/* --- Deciding --- */

/* The part of a path below the top; NULL: it is none of the working tree's files. */
static const char *below_top(const struct al_rescue *rescue, const char *path)
{
    const struct al_location *at = rescue->at;
    const bool is_plain = !strstr(path, "/../") && !strstr(path, "/./") && !strstr(path, "//");
    const char *below = is_plain ? al_fs_beneath(at->top, path) : NULL;

    if (!below || !*below || !strcmp(below, ".git") || !strncmp(below, ".git/", 5) ||
        al_fs_beneath(at->git_dir, path) || al_fs_beneath(at->common_dir, path))
        return NULL;
    return below;
}

/* Open the directory of a path; -1: let the kernel go on. */
static int open_parent(const struct al_rescue *rescue, const char *path, const char **ret_name)
{
    const char *below = below_top(rescue, path);

    return below ? al_nofollow_open_parent(rescue->top_fd, below, false, ret_name) : -1;
}

/* 0: there is nothing. */
static mode_t mode_of(int dir_fd, const char *name)
{
    struct stat st;

    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode;
}

static void decide_remove(struct al_rescue *rescue, const struct al_watch_event *event,
                          struct al_watch_answer *answer)
{
    const char *name;
    al_auto(al_closep) int fd = open_parent(rescue, event->path, &name);
    const mode_t mode = fd < 0 ? 0 : mode_of(fd, name);

    if (!mode || S_ISDIR(mode))
        return;
    answer->is_done = true;
    answer->error = take(rescue, fd, name, event->path);
    if (answer->error)
        return;
    free(rescue->removed);
    rescue->removed = al_strdup(event->path);
}

/* Rename over a file, which is kept.  Both are where they were if it cannot be kept: the caller
 * removes the file at the first path. */
static int rename_over(struct al_rescue *rescue, int from_fd, const char *from, int to_fd,
                       const char *to, const char *to_path)
{
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        int error = -al_fs_rename_new(from_fd, from, to_fd, to);

        if (error != EEXIST)
            return error;
        if (renameat2(from_fd, from, to_fd, to, RENAME_EXCHANGE) == 0) {
            error = take(rescue, from_fd, from, to_path);
            if (error)
                (void)renameat2(from_fd, from, to_fd, to, RENAME_EXCHANGE);
            return error;
        }
        error = errno != EINVAL ? errno : take(rescue, to_fd, to, to_path); /* it cannot exchange */
        if (error && error != ENOENT)
            return error;
    }
    return EBUSY;
}

/* git removes a file before it makes it anew. */
static void touch(struct al_rescue *rescue, const char *path)
{
    struct al_strv *touched = &rescue->touched;
    const char *below = path ? below_top(rescue, path) : NULL;

    if (below && (!touched->count || strcmp(touched->items[touched->count - 1], below) != 0))
        al_strv_add(touched, below);
}

int al_rescue_unlink(const struct al_watch *watch, int parent_fd, const char *name,
                     const char *path)
{
    if (!watch)
        return unlinkat(parent_fd, name, 0) < 0 ? -errno : 0;
    touch(watch->payload, path);
    return -take(watch->payload, parent_fd, name, path);
}

int al_rescue_rename(const struct al_watch *watch, int parent_fd, const char *from, const char *to,
                     const char *path)
{
    if (!watch)
        return renameat(parent_fd, from, parent_fd, to) < 0 ? -errno : 0;
    touch(watch->payload, path);
    return -rename_over(watch->payload, parent_fd, from, parent_fd, to, path);
}

static void decide_rename(struct al_rescue *rescue, const struct al_watch_event *event,
                          struct al_watch_answer *answer)
{
    const char *from, *to;
    al_auto(al_closep) int from_fd = open_parent(rescue, event->path, &from);
    al_auto(al_closep) int to_fd = open_parent(rescue, event->to, &to);
    mode_t mode;

    if (to_fd < 0 || from_fd < 0 || event->flags)
        return;
    mode = mode_of(from_fd, from);
    if (!mode || S_ISDIR(mode) || S_ISDIR(mode_of(to_fd, to)))
        return;
    answer->is_done = true;
    answer->error = rename_over(rescue, from_fd, from, to_fd, to, event->to);
}

/* Open a new file in place of one that was taken.  -errno on failure. */
static int create(struct al_rescue *rescue, int parent_fd, const char *name,
                  const struct al_watch_event *event, bool takes)
{
    const int flags = event->flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        int fd = openat(parent_fd, name, flags, event->mode & 07777), error;

        if (fd >= 0 || errno != EEXIST || !takes)
            return fd < 0 ? -errno : fd;
        error = take(rescue, parent_fd, name, event->path);
        if (error && error != ENOENT)
            return -error;
    }
    return -EEXIST;
}

static void decide_create(struct al_rescue *rescue, const struct al_watch_event *event,
                          struct al_watch_answer *answer)
{
    const bool is_new = event->flags & O_EXCL;
    const char *name;
    al_auto(al_closep) int parent_fd = open_parent(rescue, event->path, &name);
    const mode_t mode = parent_fd < 0 || is_new ? 0 : mode_of(parent_fd, name);
    int fd;

    /* A truncation empties no device and no fifo, and follows a link elsewhere. */
    if (parent_fd < 0 || (event->flags & O_ACCMODE) == O_RDONLY || rescue->nheld == HELD_MAX ||
        (mode && !S_ISREG(mode)) || (!is_new && !mode && !(event->flags & O_CREAT)))
        return;
    fd = create(rescue, parent_fd, name, event,
                !is_new || (rescue->removed && !strcmp(rescue->removed, event->path)));
    answer->is_done = true;
    if (fd < 0) {
        answer->error = -fd;
        return;
    }
    if (mode)
        (void)fchmod(fd, mode & 07777);
    rescue->giving_fd = answer->fd = fd;
    rescue->giving_lease = fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
}

static void decide(void *payload, const struct al_watch_event *event,
                   struct al_watch_answer *ret_answer)
{
    struct al_rescue *rescue = payload;

    if (rescue->nheld == HELD_MAX)
        release(rescue);
    touch(rescue, event->path);
    touch(rescue, event->to);
    switch (event->kind) {
    case AL_WATCH_REMOVE:
        decide_remove(rescue, event, ret_answer);
        break;
    case AL_WATCH_RENAME:
        decide_rename(rescue, event, ret_answer);
        break;
    case AL_WATCH_CREATE:
        decide_create(rescue, event, ret_answer);
        break;
    case AL_WATCH_LINK: /* replaces nothing */
        break;
    }
}

static bool idle(void *payload)
{
    struct al_rescue *rescue = payload;

    release(rescue);
    return rescue->nheld > 0;
}

/* --- Beginning and ending --- */

int al_rescue_begin(const struct al_location *at, bool is_required, struct al_rescue **ret_rescue,
                    struct al_error *err)
{
    struct al_rescue *rescue;
    int top_fd, r = al_location_open_top(at, &top_fd, err);

    if (r < 0)
        return r;
    rescue = al_calloc(1, sizeof(*rescue));
    *rescue = (struct al_rescue){ .at = at,
                                  .top_fd = top_fd,
                                  .watch = { decide, given, idle, rescue, is_required },
                                  .aside = AL_ASIDE_ENTRY_INIT,
                                  .giving_fd = -1 };
    *ret_rescue = rescue;
    return 0;
}

const struct al_watch *al_rescue_watch(struct al_rescue *rescue)
{
    return &rescue->watch;
}

bool al_rescue_take_touched(struct al_rescue *rescue, struct al_strv *ret_files)
{
    if (!al_watch_is_possible())
        return false;
    al_strv_clear(ret_files);
    *ret_files = rescue->touched;
    rescue->touched = AL_STRV_INIT;
    al_strv_sort(ret_files);
    return true;
}

void al_rescue_free(struct al_rescue *rescue)
{
    if (!rescue)
        return;
    for (size_t i = 0; i < rescue->nheld; i++)
        al_close(rescue->held[i].fd);
    if (rescue->aside.fd >= 0)
        (void)al_aside_end(&rescue->aside, NULL);
    al_aside_entry_clear(&rescue->aside);
    al_close(rescue->top_fd);
    al_strv_clear(&rescue->touched);
    free(rescue->removed);
    free(rescue);
}

static void keep(const struct al_rescue *rescue, size_t item, bool is_open,
                 struct al_strv *ret_kept)
{
    const char *path = rescue->aside.items.items[item];
    const char *below = al_fs_beneath(rescue->at->top, path);
    char number[32];
    al_auto(al_freep) char *name = al_text_sanitize_line(below ? below : path);
    al_auto(al_freep) char *dir = al_fs_fd_path(al_aside_folder_of(&rescue->aside, item, number));
    al_auto(al_freep) char *safe = al_text_sanitize_line(dir ? dir : "?");

    al_strv_addf(ret_kept, "%s: %s/%s%s", name, safe, number,
                 is_open ? " (still being written)" : "");
}

int al_rescue_end(struct al_rescue *rescue, struct al_store *store, struct al_strv *ret_kept,
                  struct al_error *err)
{
    struct al_aside_entry *aside = &rescue->aside;
    const size_t count = aside->items.count;
    al_auto(al_freep) struct al_look *looks = al_calloc(count + 1, sizeof(*looks));
    al_auto(al_freep) struct al_oid *oids = al_calloc(count + 1, sizeof(*oids));
    al_auto(al_freep) bool *is_there = al_calloc(count + 1, sizeof(*is_there));
    char name[32];
    int r;

    release(rescue);
    if (!count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const int dir_fd = al_aside_folder_of(aside, i, name);

        if (dir_fd >= 0)
            al_look_at(dir_fd, name, store->sha256, &looks[i]);
        oids[i] = looks[i].oid;
    }
    r = al_store_has_blobs(store, oids, count, is_there, err);
    for (size_t i = 0; i < count; i++) {
        const bool is_file = S_ISREG(looks[i].mode) || S_ISLNK(looks[i].mode);

        if (r == 0 && is_file && is_there[i] && !looks[i].is_open)
            (void)unlinkat(al_aside_folder_of(aside, i, name), name, 0);
        else if (looks[i].mode)
            keep(rescue, i, looks[i].is_open, ret_kept);
    }
    if (ret_kept->count)
        return r < 0 ? r : al_aside_end(aside, err);
    al_aside_remove(aside);
    return r;
}
