// SPDX-License-Identifier: Apache-2.0
#include "guard/grant.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "guard/guards.h"
#include "guard/nofollow.h"
#include "guard/text.h"

#define MAY_WRITE "Reading goes on working; a user can give it \"rw\" in its 'fs'."

static void grant_clear(struct al_grant *grant)
{
    free(grant->name);
    al_strv_clear(&grant->tools);
    for (size_t i = 0; i < grant->ndirs; i++)
        free(grant->dirs[i].path);
    free(grant->dirs);
}

void al_grants_clear(struct al_grants *grants)
{
    for (size_t i = 0; i < grants->count; i++)
        grant_clear(&grants->items[i]);
    free(grants->items);
    *grants = AL_GRANTS_INIT;
}

struct al_grant *al_grants_add(struct al_grants *grants, const char *name)
{
    struct al_grant *grant;

    grants->items = al_reallocarray(grants->items, grants->count + 1, sizeof(*grants->items));
    grant = &grants->items[grants->count++];
    *grant = (struct al_grant){ .name = al_strdup(name) };
    return grant;
}

int al_grant_add_dir(struct al_grant *grant, const char *path, const char *access,
                     struct al_error *err)
{
    al_auto(al_freep) char *dir = NULL;
    bool reads = !strcmp(access, "r");

    if (path[0] != '/')
        return al_error_set(err, AL_ERR_BAD_ARGS, "must be an absolute path");
    dir = al_strndup(path, strlen(path) - (al_ends_with(path, "/") ? 1 : 0));
    if (*dir && !al_path_is_plain(dir + 1)) /* one directory would have several names */
        return al_error_set(err, AL_ERR_BAD_ARGS, "must not have '.', '..' or empty components");
    if (!reads && strcmp(access, "rw") != 0)
        return al_error_set(err, AL_ERR_BAD_ARGS, "must be 'r' or 'rw'");
    for (size_t i = 0; i < grant->ndirs; i++)
        if (!strcmp(grant->dirs[i].path, dir))
            return al_error_set(err, AL_ERR_BAD_ARGS, "is there twice");
    grant->dirs = al_reallocarray(grant->dirs, grant->ndirs + 1, sizeof(*grant->dirs));
    grant->dirs[grant->ndirs++] =
        (struct al_grant_dir){ .path = al_take(&dir),
                               .access = reads ? AL_ACCESS_READ : AL_ACCESS_WRITE };
    return 0;
}

/* Resolve the links of a listed directory.  A directory that does not exist keeps its name. */
static void resolve(struct al_grant_dir *dir)
{
    al_auto(al_closep) int fd =
        open(*dir->path ? dir->path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *real = fd < 0 ? NULL : al_fs_fd_path(fd);

    if (!real)
        return;
    if (!strcmp(real, "/"))
        *real = '\0';
    free(dir->path);
    dir->path = real;
}

int al_grants_choose(struct al_grants *grants, const char *name, struct al_grant **ret_grant,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    al_auto(al_freep) char *safe = NULL;

    for (size_t i = 0; i < grants->count; i++) {
        struct al_grant *grant = &grants->items[i];

        if (!strcmp(grant->name, name)) {
            for (size_t j = 0; j < grant->ndirs; j++)
                resolve(&grant->dirs[j]);
            *ret_grant = grant;
            return 0;
        }
        al_str_addf(&names, "%s%s", i ? ", " : "", grant->name);
    }
    safe = al_text_sanitize_line(name);
    if (!grants->count)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "unknown grant '%s'; the configuration has no [grants.NAME]", safe);
    return al_error_set(err, AL_ERR_BAD_ARGS, "unknown grant '%s' (configured: %s)", safe,
                        names.buf);
}

static bool lists_tool(const struct al_grant *grant, const char *tool)
{
    for (size_t i = 0; grant->limits_tools && i < grant->tools.count; i++)
        if (fnmatch(grant->tools.items[i], tool, 0) == 0)
            return true;
    return !grant->limits_tools;
}

int al_grant_check_tool(const struct al_grant *grant, const char *tool, struct al_error *err)
{
    while (grant && lists_tool(grant, tool))
        grant = grant->also;
    if (!grant)
        return 0;
    return al_error_remedy(
        al_error_set(err, AL_ERR_NOT_GRANTED,
                     "The grant '%s' does not include the tool '%s'. Nothing was done", grant->name,
                     tool),
        err, "tools/list has the tools that it includes; a user can add more to its 'tools'.");
}

bool al_grant_has_tool(const struct al_grant *grant, const char *tool)
{
    return al_grant_check_tool(grant, tool, NULL) == 0;
}

static enum al_access access_of(const struct al_grant *grant, const char *dir)
{
    enum al_access access = AL_ACCESS_NONE;
    size_t longest = 0;

    for (size_t i = 0; i < grant->ndirs; i++) {
        const struct al_grant_dir *listed = &grant->dirs[i];
        size_t len =
            strlen(listed->path) + 1; /* so that "" (the root directory) counts as a match */

        if (!al_fs_beneath(listed->path, dir) || len < longest)
            continue;
        /* Links can give one directory two entries: the narrower access counts. */
        if (len > longest || listed->access < access)
            access = listed->access;
        longest = len;
    }
    return access;
}

static int check_dir(const struct al_grant *grant, const char *dir, bool writes,
                     struct al_error *err)
{
    enum al_access access = access_of(grant, dir);

    if (access == AL_ACCESS_NONE)
        return al_error_remedy(
            al_error_set(err, AL_ERR_NOT_GRANTED,
                         "The grant '%s' does not cover this repository. Nothing was done",
                         grant->name),
            err, "Use a repository that it covers; a user can add this one to its 'fs'.");
    if (writes && access != AL_ACCESS_WRITE)
        return al_error_remedy(al_error_set(err, AL_ERR_NOT_GRANTED,
                                            "The grant '%s' only allows reading in this "
                                            "repository. Nothing was done",
                                            grant->name),
                               err, MAY_WRITE);
    return 0;
}

int al_grant_check_dir(const struct al_grant *grant, const char *dir, bool writes,
                       struct al_error *err)
{
    int r = 0;

    for (; al_guarded && grant && r == 0; grant = grant->also)
        if (grant->limits_dirs)
            r = check_dir(grant, dir, writes, err);
    return r;
}

/* Every listed directory below is readable. */
static int check_below(const struct al_grant *grant, const char *dir, struct al_error *err)
{
    for (size_t i = 0; i < grant->ndirs; i++)
        if (grant->dirs[i].access != AL_ACCESS_WRITE && al_fs_beneath(dir, grant->dirs[i].path))
            return al_error_remedy(al_error_set(err, AL_ERR_NOT_GRANTED,
                                                "The grant '%s' only allows reading in a part of "
                                                "'%s'. Nothing was done",
                                                grant->name, dir),
                                   err, MAY_WRITE);
    return 0;
}

int al_grant_check_tree(const struct al_grant *grant, const char *dir, bool writes,
                        struct al_error *err)
{
    int r = al_grant_check_dir(grant, dir, writes, err);

    for (; al_guarded && writes && grant && r == 0; grant = grant->also)
        if (grant->limits_dirs)
            r = check_below(grant, dir, err);
    return r;
}

static bool has_dir_below(const struct al_grant *grant, const char *dir)
{
    for (size_t i = 0; i < grant->ndirs; i++)
        if (al_fs_beneath(dir, grant->dirs[i].path))
            return true;
    return false;
}

bool al_grant_reaches(const struct al_grant *grant, const char *dir)
{
    for (; grant; grant = grant->also)
        if (grant->limits_dirs && access_of(grant, dir) == AL_ACCESS_NONE &&
            !has_dir_below(grant, dir))
            return false;
    return true;
}
