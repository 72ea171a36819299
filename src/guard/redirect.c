// SPDX-License-Identifier: Apache-2.0
#include "guard/redirect.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/below.h"
#include "guard/text.h"

#define NOWHERE "/dev/null"

static int outside(const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_word(given);

    return al_error_set(err, AL_ERR_SANDBOX, "Redirect outside the working directory: '%s'", safe);
}

static bool has_parent(const char *path)
{
    while (*path) {
        size_t len = strcspn(path, "/");

        if (len == 2 && !strncmp(path, "..", 2))
            return true;
        path += len + strspn(path + len, "/");
    }
    return false;
}

/* The name below the root; NULL when it is none. */
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
    if (!name || !*name || has_parent(name))
        return outside(given, err);
    if (al_path_has_dot_git(name)) {
        al_auto(al_freep) char *safe = al_text_word(given);

        return al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH, "Protected path: %s",
                                 safe);
    }
    return 0;
}

static int cannot(const char *given, int errno_value, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_word(given);

    if (errno_value == ELOOP || errno_value == EXDEV)
        return al_error_set(err, AL_ERR_SANDBOX, "Redirect through a link: '%s'", safe);
    return al_error_errno(err, errno_value, "cannot open '%s'", safe);
}

int al_redirect_open(const struct al_root *root, const char *given, enum al_redirect_mode mode,
                     int *ret_fd, struct al_error *err)
{
    static const int flags[] = {
        [AL_REDIRECT_READ] = O_RDONLY,
        [AL_REDIRECT_WRITE] = O_WRONLY | O_CREAT,
        [AL_REDIRECT_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
    };
    /* A fifo or a terminal must not make us wait, or be ours. */
    const int how = flags[mode] | O_NONBLOCK | O_NOCTTY;
    al_auto(al_closep) int fd = -1;
    struct stat st;
    int r = al_redirect_check(root, given, err);

    if (r < 0)
        return r;
    if (!strcmp(given, NOWHERE))
        fd = al_below_open(AT_FDCWD, NOWHERE, how & ~O_CREAT, 0);
    else
        fd =
            al_below_open(root->fd, below(root, given), how, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (fd < 0)
        return cannot(given, -al_take_fd(&fd), err);
    if (fstat(fd, &st) < 0)
        return cannot(given, errno, err);
    if (strcmp(given, NOWHERE) != 0 && !S_ISREG(st.st_mode))
        return cannot(given, S_ISDIR(st.st_mode) ? EISDIR : EINVAL, err);
    if (mode == AL_REDIRECT_WRITE && S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0)
        return cannot(given, errno, err);
    if (fcntl(fd, F_SETFL, flags[mode] & O_APPEND) < 0)
        return cannot(given, errno, err);
    *ret_fd = al_take_fd(&fd);
    return 0;
}
