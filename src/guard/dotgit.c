// SPDX-License-Identifier: Apache-2.0
/*
 * Names that some file system may treat as `.git`.
 *
 * - HFS+ ignores certain characters.
 * - NTFS ignores trailing spaces and dots and a stream after ':', and has the short name git~1.
 * - Both ignore case.
 *
 * The rules are those behind git's core.protectHFS and core.protectNTFS.
 */
#include "guard/root.h"

#include <string.h>
#include <strings.h>

#include "util/utf8.h"

static bool is_ignored_by_hfs(uint32_t c)
{
    return (c >= 0x200c && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x206a && c <= 0x206f) || c == 0xfeff;
}

static bool is_dot_git_on_hfs(const char *name, size_t len)
{
    static const char wanted[] = ".git";
    size_t matched = 0;

    for (size_t i = 0; i < len;) {
        uint32_t c;
        int n = al_utf8_next(name + i, len - i, &c);

        if (n <= 0)
            return false;
        i += (size_t)n;
        if (is_ignored_by_hfs(c))
            continue;
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        if (matched == 4 || c != (unsigned char)wanted[matched])
            return false;
        matched++;
    }
    return matched == 4;
}

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

        if (is_dot_git_on_hfs(path, len) || is_dot_git_on_ntfs(path, len))
            return true;
        path += len;
        path += strspn(path, "/\\");
    }
    return false;
}
