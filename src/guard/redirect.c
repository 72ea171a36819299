// SPDX-License-Identifier: Apache-2.0
#include "guard/redirect.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/text.h"

#define NOWHERE  "/dev/null"
#define DIRECTLY (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)

static int outside(const char *what, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    return al_error_set(err, AL_ERR_SANDBOX, "%s outside the working directory: '%s'", what, safe);
}

/* The path relative to the root; NULL for a path outside of it. */
static const char *below(const struct al_root *root, const char *given)
{
    size_t len = strlen(root->path);

    if (given[0] != '/')
        return given;
    if (strncmp(given, root->path, len) != 0 || given[len] != '/')
        return NULL;
    return given + len + strspn(given + len, "/");
}

int al_redirect_check(const struct al_root *root, const char *given, struct al_error *err)
{
    const char *name = below(root, given);

    if (!*given)
        return al_error_set(err, AL_ERR_BAD_ARGS, "A redirect needs the name of a file");
    if (!strcmp(given, NOWHERE))
        return 0;
    if (!name || !*name || al_path_goes_up(name))
        return outside("Redirect", given, err);
    return al_path_has_dot_git(name) ? al_path_refuse_dot_git(given, err) : 0;
}

static int cannot(const char *given, int errno_value, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    if (errno_value == ELOOP || errno_value == EXDEV)
        return al_error_set(err, AL_ERR_SANDBOX, "Redirect through a link: '%s'", safe);
    return al_error_errno(err, errno_value, "cannot open '%s'", safe);
}

void al_redirect_clear(struct al_redirect *redirect)
{
    al_close(redirect->dir_fd);
    *redirect = AL_REDIRECT_INIT;
}

/* Refuse a link and a git directory before anything is opened. */
static int check_place(const struct al_redirect *redirect, struct al_error *err)
{
    struct stat st;

    if (al_gitdir_contains(redirect->dir_fd, redirect->name))
        return al_gitdir_refuse(redirect->given, err);
    if (fstatat(redirect->dir_fd, redirect->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(st.st_mode))
        return cannot(redirect->given, ELOOP, err);
    return 0;
}

int al_redirect_find(const struct al_root *root, const char *given,
                     struct al_redirect *ret_redirect, struct al_error *err)
{
    al_auto(al_redirect_clear) struct al_redirect found = AL_REDIRECT_INIT;
    al_auto(al_freep) char *dir = NULL;
    const char *name, *slash;
    int r = al_redirect_check(root, given, err);

    if (r < 0)
        return r;
    found.given = given;
    if (strcmp(given, NOWHERE) != 0) {
        name = below(root, given);
        slash = strrchr(name, '/');
        dir = slash ? al_strndup(name, (size_t)(slash - name)) : al_strdup(".");
        found.name = !slash ? name : slash[1] ? slash + 1 : ".";
        found.dir_fd = al_beneath_open(root->fd, dir, O_PATH | O_DIRECTORY, DIRECTLY);
        if (found.dir_fd < 0 && found.dir_fd != -ENOENT && found.dir_fd != -ENOTDIR)
            return cannot(given, -al_take_fd(&found.dir_fd), err);
        r = found.dir_fd >= 0 ? check_place(&found, err) : 0;
    }
    if (r < 0)
        return r;
    *ret_redirect = found;
    found = AL_REDIRECT_INIT;
    return 0;
}

/* Open the file without truncating it: its type has to be checked first. */
static int open_file(const struct al_redirect *redirect, int how, struct al_error *err)
{
    int fd, r = 0;

    if (redirect->name && redirect->dir_fd < 0)
        return cannot(redirect->given, -redirect->dir_fd, err);
    if (redirect->name)
        r = check_place(redirect, err);
    if (r < 0)
        return r;
    fd = redirect->name ? al_beneath_open(redirect->dir_fd, redirect->name, how, DIRECTLY)
                        : al_beneath_open(AT_FDCWD, NOWHERE, how & ~O_CREAT, 0);
    return fd < 0 ? cannot(redirect->given, -fd, err) : fd;
}

int al_redirect_open(const struct al_redirect *redirect, enum al_redirect_mode mode, int *ret_fd,
                     struct al_error *err)
{
    static const int flags[] = {
        [AL_REDIRECT_READ] = O_RDONLY,
        [AL_REDIRECT_WRITE] = O_WRONLY | O_CREAT,
        [AL_REDIRECT_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
    };
    /* A fifo must not block us, and a terminal must not become our controlling terminal. */
    al_auto(al_closep) int fd = open_file(redirect, flags[mode] | O_NONBLOCK | O_NOCTTY, err);
    const char *given = redirect->given;
    struct stat st;

    if (fd < 0)
        return al_take_fd(&fd);
    if (fstat(fd, &st) < 0)
        return cannot(given, errno, err);
    if (redirect->name && !S_ISREG(st.st_mode))
        return cannot(given, S_ISDIR(st.st_mode) ? EISDIR : EINVAL, err);
    if (mode == AL_REDIRECT_WRITE && S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0)
        return cannot(given, errno, err);
    if (fcntl(fd, F_SETFL, flags[mode] & O_APPEND) < 0)
        return cannot(given, errno, err);
    *ret_fd = al_take_fd(&fd);
    return 0;
}

/* Whether the path leads above its start by its text alone: a program may evaluate `..` itself,
 * without the kernel. */
static bool climbs_out(const char *path)
{
    int depth = 0;

    while (*path && depth >= 0) {
        size_t len = strcspn(path, "/");

        if (len == 2 && !strncmp(path, "..", 2))
            depth--;
        else if (len && !(len == 1 && *path == '.'))
            depth++;
        path += len + strspn(path + len, "/");
    }
    return depth < 0;
}

int al_output_check(const struct al_root *root, const char *given, struct al_error *err)
{
    const char *name = !strcmp(given, root->path) ? "." : below(root, given);
    const char *slash = name ? strrchr(name, '/') : NULL;
    al_auto(al_freep) char *dir = slash ? al_strndup(name, (size_t)(slash - name)) : al_strdup(".");
    al_auto(al_closep) int fd = -1;
    al_auto(al_closep) int parent = -1;

    if (!strcmp(given, NOWHERE))
        return 0;
    if (!name || climbs_out(name))
        return outside("Output", given, err);
    fd = al_beneath_open(root->fd, *name ? name : ".", O_PATH, RESOLVE_BENEATH);
    if (fd < 0 && fd != -ENOENT && fd != -ENOTDIR)
        return outside("Output", given, err);
    parent = al_beneath_open(root->fd, *dir ? dir : ".", O_PATH | O_DIRECTORY, RESOLVE_BENEATH);
    if ((fd >= 0 && al_gitdir_contains(fd, NULL)) ||
        (parent >= 0 && al_gitdir_contains(parent, slash ? slash + 1 : name)))
        return al_gitdir_refuse(given, err);
    return 0;
}
