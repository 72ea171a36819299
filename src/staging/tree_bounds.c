// SPDX-License-Identifier: Apache-2.0
#include "staging/tree_bounds.h"

#include <string.h>

static unsigned depth_of(const char *path)
{
    unsigned depth = 0;

    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

bool al_tree_bounds_add(struct al_tree_bounds *bounds, const char *path)
{
    bounds->entries++;
    bounds->names_bytes += strlen(path);
    if (bounds->entries > AL_TREE_ENTRIES_MAX || bounds->names_bytes > AL_TREE_NAMES_MAX_BYTES ||
        depth_of(path) > AL_TREE_DEPTH_MAX)
        bounds->is_exceeded = true;
    return !bounds->is_exceeded;
}

int al_tree_bounds_check(const struct al_tree_bounds *bounds, const char *what, const char *advice,
                         struct al_error *err)
{
    if (!bounds->is_exceeded)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "%s has more than %u files and directories, more than %u bytes of names, "
                        "or directories more than %u deep; %s",
                        what, AL_TREE_ENTRIES_MAX, AL_TREE_NAMES_MAX_BYTES, AL_TREE_DEPTH_MAX,
                        advice);
}
