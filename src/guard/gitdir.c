// SPDX-License-Identifier: Apache-2.0
#include "guard/gitdir.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/path.h"
#include "guard/text.h"

static bool has(int dir_fd, const char *part, const char *coming)
{
    struct stat st;

    return (coming && al_fold_is(coming, strlen(coming), part)) ||
           fstatat(dir_fd, strcmp(part, "head") != 0 ? part : "HEAD", &st, AT_SYMLINK_NOFOLLOW) ==
               0;
}

bool al_gitdir_is(int dir_fd, const char *coming)
{
    return has(dir_fd, "head", coming) &&
           (has(dir_fd, "commondir", coming) ||
            (has(dir_fd, "objects", coming) && has(dir_fd, "refs", coming)));
}

bool al_gitdir_contains(int dir_fd, const char *coming)
{
    al_auto(al_closep) int at = openat(dir_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st, above;

    while (at >= 0 && fstat(at, &st) == 0) {
        int up;

        if (al_gitdir_is(at, coming))
            return true;
        up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (has(at, ".git", NULL) || up < 0 || fstat(up, &above) < 0 ||
            (st.st_dev == above.st_dev && st.st_ino == above.st_ino)) {
            al_close(up);
            return false;
        }
        al_close(at);
        at = up;
        coming = NULL;
    }
    return false;
}

static int refuse(const char *given, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    return al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH, "Protected path: %s%s",
                             safe, why);
}

int al_gitdir_refuse(const char *given, struct al_error *err)
{
    return refuse(given, " (inside a git directory)", err);
}

/*
 * Names that some file system may treat as `.git`.
 *
 * - HFS+ ignores certain characters.
 * - NTFS ignores trailing spaces and dots and a stream after ':', and has the short name git~1.
 * - Both ignore case.
 *
 * The rules are those behind git's core.protectHFS and core.protectNTFS.
 */
static bool is_dot_git_on_ntfs(const char *name, size_t len)
{
    size_t end = 0;

    if (len >= 4 && !strncasecmp(name, ".git", 4))
        end = 4;
    else if (len >= 5 && !strncasecmp(name, "git~1", 5))
        end = 5;
    if (!end)
        return false;
    end += strspn(name + end, ". ");
    return end >= len || name[end] == ':';
}

bool al_path_has_dot_git(const char *path)
{
    while (*path) {
        size_t len = strcspn(path, "/\\");

        /* the last: what airlock has moved aside and could not move to the git directory */
        if (al_fold_is(path, len, ".git") || is_dot_git_on_ntfs(path, len) ||
            !strncasecmp(path, AL_ASIDE_HIDDEN, strlen(AL_ASIDE_HIDDEN)))
            return true;
        path += len;
        path += strspn(path, "/\\");
    }
    return false;
}

int al_path_refuse_dot_git(const char *given, struct al_error *err)
{
    return refuse(given, "", err);
}
