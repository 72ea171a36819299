// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.h"

#include <stdlib.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"

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
