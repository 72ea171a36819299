// SPDX-License-Identifier: Apache-2.0
#include "guard/nofollow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

#define LINKS_MAX    40   /* as many as the kernel follows */
#define DEPTH_MAX    200u /* each level has a descriptor */
#define ATTEMPTS_MAX 128  /* RESOLVE_BENEATH fails on `..` while anything, anywhere, is renamed */

int al_beneath_open(int dir_fd, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
        .mode = flags & O_CREAT ? 0666 : 0,
        .resolve = resolve | RESOLVE_NO_MAGICLINKS,
    };

    for (int attempt = 0;; attempt++) {
        long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

        if (fd >= 0)
            return (int)fd;
        if (errno != EINTR && (errno != EAGAIN || attempt >= ATTEMPTS_MAX))
            return -errno;
    }
}

int al_beneath_missing(struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "openat2(2) is not available: airlock needs Linux 5.6 or later");
}

/* The next component of *at, NULL at the end.  Moves *at past it, and skips '.' and '//'. */
static const char *next_component(const char **at, size_t *ret_len)
{
    for (;;) {
        const char *name = *at + strspn(*at, "/");
        size_t len = strcspn(name, "/");

        *at = name + len;
        *ret_len = len;
        if (len == 0)
            return NULL;
        if (len != 1 || *name != '.')
            return name;
    }
}

static void add_component(struct al_str *path, const char *name, size_t len)
{
    al_str_addc(path, '/');
    al_str_add(path, name, len);
}

char *al_beneath_join(const char *base, const char *given)
{
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;
    al_auto(al_freep) char *joined = al_fs_join(base, given);
    const char *at = joined, *name;
    size_t len;

    while ((name = next_component(&at, &len)))
        add_component(&path, name, len);
    if (!path.len)
        al_str_addc(&path, '/');
    return al_str_detach(&path);
}

/* The state of a walk along a path.  `done` is canonical, empty for "/"; `todo` continues at `at`.
 */
struct walk {
    struct al_str done;
    char *todo;
    const char *at;
    int nlinks;
    bool missing; /* the rest does not exist */
};

static void walk_clear(struct walk *walk)
{
    al_str_clear(&walk->done);
    free(walk->todo);
}

static int follow(struct walk *walk, const char *target, size_t parent_len, struct al_strv *links)
{
    char *todo;

    if (++walk->nlinks > LINKS_MAX)
        return -ELOOP;
    if (links)
        al_strv_add(links, walk->done.buf);
    al_str_truncate(&walk->done, *target == '/' ? 0 : parent_len);
    todo = al_asprintf("%s/%s", target, walk->at);
    free(walk->todo);
    walk->todo = todo;
    walk->at = todo;
    return 0;
}

static int step(struct walk *walk, const char *name, size_t len, struct al_strv *links)
{
    char target[PATH_MAX];
    size_t parent_len = walk->done.len;
    ssize_t n;

    if (len == 2 && !strncmp(name, "..", 2)) {
        const char *slash = strrchr(walk->done.buf, '/');

        if (walk->missing)
            return -ENOENT;
        al_str_truncate(&walk->done, slash ? (size_t)(slash - walk->done.buf) : 0);
        return 0;
    }
    if (len > NAME_MAX || parent_len + 1 + len >= PATH_MAX)
        return -ENAMETOOLONG;
    add_component(&walk->done, name, len);
    if (walk->missing)
        return 0;
    n = readlink(walk->done.buf, target, sizeof(target) - 1);
    if (n < 0 && errno == EINVAL)
        return 0;
    if (n < 0) {
        walk->missing = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
        return walk->missing ? 0 : -errno;
    }
    target[n] = '\0';
    return follow(walk, target, parent_len, links);
}

int al_beneath_trace(const char *path, char **ret_path, struct al_strv *links)
{
    al_auto(walk_clear) struct walk walk = { .done = AL_STR_INIT, .todo = al_strdup(path) };
    const char *name;
    size_t len;

    walk.at = walk.todo;
    while ((name = next_component(&walk.at, &len))) {
        int r = step(&walk, name, len, links);

        if (r < 0)
            return r;
    }
    if (!walk.done.len)
        al_str_addc(&walk.done, '/');
    *ret_path = al_str_detach(&walk.done);
    return 0;
}

int al_nofollow_open(int dir_fd, const char *path, int flags)
{
    int extra = flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK;

    return al_beneath_open(dir_fd, *path ? path : ".", flags | extra,
                           RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

static bool is_name(const char *name)
{
    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int al_nofollow_open_parent(int dir_fd, const char *path, bool make, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    al_auto(al_freep) char *parents = al_strndup(path, slash ? (size_t)(slash - path) : 0);
    al_auto(al_closep) int fd = -1;
    char *save = NULL;

    if (!is_name(name))
        return -EINVAL;
    if (*path == '/' || al_path_goes_up(parents))
        return -EXDEV;
    *ret_name = name;
    fd = al_nofollow_open(dir_fd, parents, O_PATH | O_DIRECTORY);
    if (fd != -ENOENT || !make)
        return al_take_fd(&fd);
    fd = al_nofollow_open(dir_fd, "", O_PATH | O_DIRECTORY);
    for (char *part = strtok_r(parents, "/", &save); part && fd >= 0;
         part = strtok_r(NULL, "/", &save)) {
        int next = mkdirat(fd, part, 0777) < 0 && errno != EEXIST
                       ? -errno
                       : al_nofollow_open(fd, part, O_PATH | O_DIRECTORY);

        al_close(fd);
        fd = next;
    }
    return al_take_fd(&fd);
}

void al_nofollow_remove_parents(int dir_fd, const char *path)
{
    al_auto(al_freep) char *at = al_strdup(path);
    char *slash;

    while ((slash = strrchr(at, '/'))) {
        const char *name;
        int fd, r;

        *slash = '\0';
        fd = al_nofollow_open_parent(dir_fd, at, false, &name);
        r = fd < 0 ? fd : unlinkat(fd, name, AT_REMOVEDIR);
        al_close(fd);
        if (r < 0)
            return;
    }
}

char *al_nofollow_blocked(int dir_fd, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *part = al_strndup(path, (size_t)(slash - path));
        struct stat st;

        if (fstatat(dir_fd, part, &st, AT_SYMLINK_NOFOLLOW) < 0 ? errno != ENOENT
                                                                : !S_ISDIR(st.st_mode))
            return al_take(&part);
    }
    return NULL;
}

static char *find_file(int parent_fd, const char *name, const char *path,
                       bool (*is_left)(const void *payload, const char *path), const void *payload,
                       unsigned depth)
{
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(parent_fd, name, O_RDONLY | O_DIRECTORY));
    const struct dirent *entry;
    char *found = NULL;

    if (!dir || depth == DEPTH_MAX)
        return al_strdup(path);
    while ((entry = readdir(dir))) {
        al_auto(al_freep) char *below = al_fs_join(path, entry->d_name), *file = NULL;
        struct stat st;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            file = find_file(dirfd(dir), entry->d_name, below, is_left, payload, depth + 1);
        else if (!is_left(payload, below))
            file = al_take(&below);
        if (file && (!found || strcmp(file, found) < 0)) {
            free(found);
            found = al_take(&file);
        }
    }
    return found;
}

char *al_nofollow_find_file(int parent_fd, const char *name, const char *path,
                            bool (*is_left)(const void *payload, const char *path),
                            const void *payload)
{
    return find_file(parent_fd, name, path, is_left, payload, 0);
}

bool al_path_goes_up(const char *path)
{
    for (; *path; path += strcspn(path, "/"), path += *path == '/')
        if (strcspn(path, "/") == 2 && !strncmp(path, "..", 2))
            return true;
    return false;
}

bool al_path_is_plain(const char *path)
{
    for (;; path++) {
        const size_t len = strcspn(path, "/");

        if (!len || (path[0] == '.' && (len == 1 || (len == 2 && path[1] == '.'))))
            return false;
        path += len;
        if (!*path)
            return true;
    }
}
