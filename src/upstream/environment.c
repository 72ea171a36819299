// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include "guard/env.h"
#include "guard/root.h"
#include "upstream/profile.h"
#include "util/fs.h"

/* A variable of airlock's environment; NULL: not set. */
static const char *own_variable(const struct al_upstream_settings *settings, const char *name)
{
    const size_t len = strlen(name);

    for (char *const *entry = settings->environ_; entry && *entry; entry++)
        if (!strncmp(*entry, name, len) && (*entry)[len] == '=')
            return *entry + len + 1;
    return NULL;
}

/* Add a variable, unless the user has set it. */
static void add(struct al_strv *env, const char *name, const char *value)
{
    if (value && !al_env_get(env, name))
        al_env_add(env, name, value);
}

static bool is_in_root(const struct al_upstream_settings *settings, const char *dir)
{
    al_auto(al_closep) int fd = open(dir, O_PATH | O_CLOEXEC);
    al_auto(al_freep) char *path = fd >= 0 ? al_fs_fd_path(fd) : NULL;

    return path && al_roots_find(settings->roots, path);
}

char *al_upstream_safe_path(const struct al_upstream_settings *settings)
{
    struct al_str path = AL_STR_INIT;

    for (const char *at = settings->path_list; at && *at;) {
        const char *end = strchrnul(at, ':');
        al_auto(al_freep) char *dir = al_strndup(at, (size_t)(end - at));

        if (*dir == '/' && !is_in_root(settings, dir))
            al_str_addf(&path, "%s%s", path.len ? ":" : "", dir);
        at = *end ? end + 1 : end;
    }
    if (!path.len)
        al_str_adds(&path, "/usr/bin:/bin");
    return al_str_detach(&path);
}

void al_upstream_make_env(const struct al_upstream_settings *settings, struct al_strv *ret_env)
{
    static const char *const passed[] = { "LANG", "LANGUAGE", "LC_ALL",  "LC_CTYPE",
                                          "TZ",   "USER",     "LOGNAME", "SHELL" };
    al_auto(al_freep) char *home = al_fs_join(settings->scratch_dir, "home");
    al_auto(al_freep) char *tmp = al_fs_join(settings->scratch_dir, "tmp");
    al_auto(al_freep) char *path = al_upstream_safe_path(settings);
    struct al_strv env = AL_STRV_INIT;

    for (size_t i = 0; settings->env && i < settings->env->count; i++)
        al_strv_add(&env, settings->env->items[i]);
    for (size_t i = 0; i < AL_COUNT(passed); i++)
        add(&env, passed[i], own_variable(settings, passed[i]));
    add(&env, "PATH", path);
    add(&env, "TERM", "dumb");
    add(&env, "TMPDIR", tmp);
    add(&env, "HOME", settings->confine ? home : own_variable(settings, "HOME"));
    if (settings->confine)
        add(&env, "GIT_CONFIG_NOSYSTEM", "1"); /* git gives up at a file that it may not read */
    if (settings->network || !settings->confine)
        al_env_add_network(&env, settings->environ_);
    *ret_env = env;
}
