// SPDX-License-Identifier: Apache-2.0
/*
 * A push writes no file into a git directory, whatever its name, and makes none: git would run what
 * its configuration and its hooks say as soon as the user works below it.
 *
 * Source: gitrepository-layout(5), git-config(1) safe.bareRepository.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>

#include "guard/gitdir.h"
#include "staging/push/private.h"
#include "util/fs.h"

/* What makes a directory a git directory: HEAD with objects and refs, or HEAD with commondir. */
static const char *const parts[] = { "HEAD", "objects", "refs", "commondir" };
enum { HEAD = 1, OBJECTS = 2, REFS = 4, COMMONDIR = 8 };

/* The bit of a component; 0: another name. */
static unsigned part_of(const char *name, size_t len)
{
    for (size_t i = 0; i < AL_COUNT(parts); i++)
        if (strlen(parts[i]) == len && !strncasecmp(parts[i], name, len))
            return 1u << i;
    return 0;
}

static bool is_whole(unsigned found)
{
    return (found & HEAD) &&
           ((found & COMMONDIR) || (found & (OBJECTS | REFS)) == (OBJECTS | REFS));
}

/* The parts that the files of the push have in a directory, whose name has a '/' at its end. */
static unsigned parts_in(const struct al_push *push, const char *dir, size_t len)
{
    unsigned found = 0;

    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_staged_file *file = &push->staged.files[i];

        if (file->operation != AL_STAGED_DELETE && !strncmp(file->path, dir, len))
            found |= part_of(file->path + len, strcspn(file->path + len, "/"));
    }
    return found;
}

/* Whether a path goes through a directory that the push makes a git directory of. */
static bool makes_one(const struct al_push *push, const char *path)
{
    for (size_t at = 0; path[at];) {
        const size_t len = strcspn(path + at, "/");

        if (part_of(path + at, len) == HEAD && is_whole(parts_in(push, path, at)))
            return true;
        at += len + (path[at + len] == '/');
    }
    return false;
}

/* Whether the file would lie in a git directory of the working tree, or make one of a directory. */
static bool lies_in_one(const struct al_push *push, const char *path)
{
    al_auto(al_freep) char *dir = al_fs_join(push->repo->at.top, path);
    const size_t top = strlen(push->repo->at.top);
    char *slash;

    while ((slash = strrchr(dir, '/')) && (size_t)(slash - dir) >= top) {
        al_auto(al_closep) int fd = -1;

        *slash = '\0';
        fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0)
            return al_gitdir_contains(fd, slash + 1);
    }
    return false;
}

int al_push_check_gitdirs(const struct al_push *push, struct al_error *err)
{
    const bool has_tree = !al_location_is_bare(&push->repo->at);

    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_staged_file *file = &push->staged.files[i];

        if (file->operation == AL_STAGED_DELETE)
            continue;
        if (makes_one(push, file->path) || (has_tree && lies_in_one(push, file->path)))
            return al_gitdir_refuse(file->path, err);
    }
    return 0;
}
