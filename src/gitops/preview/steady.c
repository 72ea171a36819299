// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/steady.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gitops/layer.h"
#include "guard/root.h"
#include "guard/text.h"
#include "proc/cancel.h"
#include "util/fs.h"

#define NS_PER_S             ((int64_t)1000000000)
#define NS_PER_MS            ((int64_t)1000000)
#define ALTERNATES_MAX_BYTES 65536u
#define STORES_MAX           64u
#define FANOUTS              256u

/* A time without a fraction is of a file system that keeps no finer one: FAT has every other
 * second. */
#define COARSEST_NS (2 * NS_PER_S)

void al_steady_begin(struct al_steady *steady)
{
    struct timespec now;

    /* The clock that the kernel itself takes these times from: it goes by ticks, and a time of a
     * finer one is never before it. */
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    al_strv_clear(&steady->oids);
    steady->since_ns = now.tv_sec * NS_PER_S + now.tv_nsec - AL_STEADY_MARGIN_MS * NS_PER_MS;
}

void al_steady_wait(const struct al_run_limits *budget)
{
    struct pollfd wait = { .fd = al_cancel_fd(budget->cancel), .events = POLLIN };

    (void)poll(&wait, 1, AL_STEADY_MARGIN_MS);
}

void al_steady_clear(struct al_steady *steady)
{
    al_strv_clear(&steady->oids);
}

/* One look at all of it. */
struct look {
    const struct al_repo *repo;
    int64_t since_ns, until_ns;
    struct al_strv stores; /* directories of objects */
    char *link;            /* the first that is one */
    bool changed;
};

static void look_clear(struct look *look)
{
    al_strv_clear(&look->stores);
    free(look->link);
}

/* A time to come is of a clock that was set back: what changes now gets one that is not. */
static void take(struct look *look, const struct stat *st)
{
    int64_t at = st->st_ctim.tv_sec * NS_PER_S + st->st_ctim.tv_nsec;
    int64_t finest = st->st_ctim.tv_nsec ? 0 : COARSEST_NS;

    look->changed |= at >= look->since_ns - finest && at <= look->until_ns;
}

/* What is not there was not read; that it went shows in its directory. */
static bool look_at(struct look *look, int dir_fd, const char *name)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    take(look, &st);
    if (S_ISLNK(st.st_mode) && !look->link)
        look->link = al_strdup(name);
    return true;
}

static void look_at_packs(struct look *look, int store_fd)
{
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;

    if (!look_at(look, store_fd, "pack") || look->link)
        return;
    dir = al_fs_list(openat(store_fd, "pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)look_at(look, dirfd(dir), entry->d_name);
    look->changed |= !dir; /* it was there just now */
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10) & 0xf;
}

static void look_at_files(struct look *look, int store_fd, const struct al_strv *oids)
{
    bool known[FANOUTS] = { false }, there[FANOUTS] = { false };

    for (size_t i = 0; i < oids->count; i++) {
        const char *oid = oids->items[i];
        const char fanout[] = { oid[0], oid[1], '\0' };
        const unsigned number = digit(oid[0]) << 4 | digit(oid[1]);
        al_auto(al_freep) char *path = NULL;

        if (!known[number])
            there[number] = look_at(look, store_fd, fanout);
        known[number] = true;
        if (!there[number])
            continue;
        path = al_asprintf("%s/%s", fanout, oid + 2);
        (void)look_at(look, store_fd, path);
    }
}

/* The directories that lead to a store, up to a root: another one could get the name for a while.
 * What is above a root is no agent's. */
static void look_at_way(struct look *look, const char *store)
{
    al_auto(al_freep) char *path = al_strdup(store);
    const struct al_roots *roots = look->repo->at.git->roots;
    struct stat st;
    char *slash;

    for (;;) {
        for (size_t i = 0; i < roots->count; i++)
            if (!strcmp(roots->items[i].path, path))
                return;
        slash = strrchr(path, '/');
        if (!slash || slash == path)
            return;
        if (lstat(path, &st) == 0)
            take(look, &st);
        *slash = '\0';
    }
}

/* The stores that this one borrows from; which they may be was looked at when the repository was
 * opened. */
static void add_alternates(struct look *look, const char *store)
{
    al_auto(al_freep) char *path = al_fs_join(store, "info/alternates");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    if (al_fs_read(AT_FDCWD, path, ALTERNATES_MAX_BYTES, &text) < 0)
        return;
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        al_auto(al_freep) char *other = al_fs_join(store, line);
        al_auto(al_closep) int fd = open(other, O_PATH | O_DIRECTORY | O_CLOEXEC);
        al_auto(al_freep) char *abs = fd < 0 ? NULL : al_fs_fd_path(fd);

        look_at_way(look, other);
        if (*line != '#' && abs && !al_strv_contains(&look->stores, abs) &&
            look->stores.count < STORES_MAX)
            al_strv_add(&look->stores, abs);
    }
}

static void look_at_store(struct look *look, const char *store, const struct al_strv *oids)
{
    static const char *const names[] = { "info", "info/alternates" };
    al_auto(al_closep) int fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    look->changed |= fd < 0;
    look_at_way(look, store);
    for (size_t i = 0; fd >= 0 && i < AL_COUNT(names); i++)
        (void)look_at(look, fd, names[i]);
    if (fd < 0)
        return;
    look_at_packs(look, fd);
    look_at_files(look, fd, oids);
    add_alternates(look, store);
}

/* The way there may have a link in it, which belongs to what is looked at. */
static int find_store(struct look *look, struct al_error *err)
{
    al_auto(al_freep) char *path = al_fs_join(look->repo->at.common_dir, "objects");
    al_auto(al_closep) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return al_error_errno(err, errno, "cannot open 'objects' in the git directory");
    take(look, &st);
    al_strv_take(&look->stores, al_fs_fd_path(fd));
    look_at_way(look, look->repo->at.common_dir);
    return 0;
}

int al_steady_check(const struct al_repo *repo, const struct al_steady *steady, bool *ret_steady,
                    struct al_error *err)
{
    al_auto(look_clear) struct look look = { .repo = repo, .since_ns = steady->since_ns };
    struct timespec now;
    int r = 0;

    *ret_steady = true;
    if (!steady->oids.count)
        return 0;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    look.until_ns = now.tv_sec * NS_PER_S + now.tv_nsec;
    r = find_store(&look, err);
    for (size_t i = 0; r == 0 && i < look.stores.count; i++) {
        al_auto(al_freep) char *store = al_strdup(look.stores.items[i]);

        look_at_store(&look, store, &steady->oids);
    }
    if (r == 0 && look.link) {
        al_auto(al_freep) char *word = al_text_sanitize_line(look.link);

        r = al_error_set(err, AL_ERR_EXECUTION,
                         "'%s' among the repository's objects is a link, so that what is shown of "
                         "them cannot be relied on; put the file itself there",
                         word);
    }
    *ret_steady = r == 0 && !look.changed;
    return r;
}
