// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

const char *al_environment_get(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

char *al_environment_absolute(const char *path)
{
    al_auto(al_freep) char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);

    return cwd ? al_fs_join(cwd, path) : al_strdup(path);
}

char *al_environment_canonical(const char *path)
{
    al_auto(al_freep) char *at = al_strdup(path);
    al_auto(al_freep) char *real = NULL;
    char *slash;

    while (!(real = realpath(*at ? at : "/", NULL)) && (slash = strrchr(at, '/')))
        *slash = '\0';
    return real && path[strlen(at)] ? al_fs_join(real, path + strlen(at) + 1)
                                    : al_strdup(real ? real : "/");
}

const char *al_environment_overlap(const struct al_strv *paths, const char *path, bool inside)
{
    al_auto(al_freep) char *real = al_environment_canonical(path);

    for (size_t i = 0; i < paths->count; i++) {
        al_auto(al_freep) char *other = al_environment_canonical(paths->items[i]);

        if (inside ? al_fs_beneath(other, real) != NULL
                   : al_fs_beneath(real, other) || !strcmp(real, "/"))
            return paths->items[i];
    }
    return NULL;
}

char *al_environment_repository(const char *start)
{
    al_auto(al_freep) char *dir = al_strdup(start);

    for (char *slash; (slash = strrchr(dir, '/')); *slash = '\0') {
        al_auto(al_freep) char *dot_git = al_fs_join(dir, ".git");
        struct stat st;

        if (lstat(dot_git, &st) == 0)
            return al_take(&dir);
    }
    return NULL;
}
