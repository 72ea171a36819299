// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

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

bool al_environment_has_repository(const char *start)
{
    al_auto(al_freep) char *dir = al_strdup(start);
    struct stat st;

    for (;;) {
        al_auto(al_freep) char *dot_git = al_fs_join(*dir ? dir : "/", ".git");
        char *slash = strrchr(dir, '/');

        if (lstat(dot_git, &st) == 0)
            return true;
        if (!slash)
            return false;
        *slash = '\0';
    }
}
