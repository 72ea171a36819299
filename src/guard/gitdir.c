// SPDX-License-Identifier: Apache-2.0
#include "guard/gitdir.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/text.h"
#include "util/fs.h"

static bool has(int dir_fd, const char *part, const char *coming)
{
    struct stat st;

    return (coming && !strcasecmp(part, coming)) ||
           fstatat(dir_fd, part, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool al_gitdir_is(int dir_fd, const char *coming)
{
    return has(dir_fd, "HEAD", coming) &&
           (has(dir_fd, "commondir", coming) ||
            (has(dir_fd, "objects", coming) && has(dir_fd, "refs", coming)));
}

static bool is_same(const struct stat *one, const struct stat *two)
{
    return one->st_dev == two->st_dev && one->st_ino == two->st_ino;
}

bool al_gitdir_holds(int dir_fd, const char *coming)
{
    al_auto(al_closep) int at = openat(dir_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st, above;

    while (at >= 0 && fstat(at, &st) == 0) {
        int up;

        if (al_gitdir_is(at, coming))
            return true;
        up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (has(at, ".git", NULL) || up < 0 || fstat(up, &above) < 0 || is_same(&st, &above)) {
            al_close(up);
            return false;
        }
        al_close(at);
        at = up;
        coming = NULL;
    }
    return false;
}

int al_gitdir_refuse(const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    return al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH,
                             "Protected path: %s (inside a git directory)", safe);
}
