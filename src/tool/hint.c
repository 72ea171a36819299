// SPDX-License-Identifier: Apache-2.0
#include "tool/hint.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/text.h"
#include "tool/private.h"
#include "util/fs.h"

static bool is_there(const char *dir, const char *path)
{
    al_auto(al_freep) char *abs = al_fs_join(dir, path);
    struct stat st;

    return lstat(abs, &st) == 0;
}

/* git names files from the top and takes them from the working directory. */
static char *hint_for(const struct al_repo *repo, const char *path)
{
    const char *below = al_fs_below(repo->top, repo->dir);
    al_auto(al_freep) char *word = al_text_word(path);
    al_auto(al_freep) char *other = NULL;
    const char *rest;

    if (*path == '/' || !below || !*below || is_there(repo->dir, path) ||
        !is_there(repo->top, path))
        return NULL;
    rest = al_fs_below(below, path);
    other = rest && *rest ? al_text_word(rest) : al_fs_join(repo->top, path);
    if (!rest || !*rest) {
        al_auto(al_freep) char *abs = other;

        other = al_text_word(abs);
    }
    return al_asprintf("'%s' is relative to the top of the repository; with this working_dir it is "
                       "'%s'",
                       word, other);
}

static char *hint_for_param(const struct al_call *call, const struct al_param *param)
{
    const void *field = (const char *)call->args + param->offset;
    const char *path = NULL;
    char *hint = NULL;

    if (param->type == AL_TYPE_STRING)
        memcpy(&path, field, sizeof(path));
    if (path)
        return hint_for(call->repo, path);
    if (param->type == AL_TYPE_STRINGS) {
        const struct al_strv *list = field;

        for (size_t i = 0; i < list->count && !hint; i++)
            hint = hint_for(call->repo, list->items[i]);
    }
    return hint;
}

char *al_call_hint(const struct al_call *call, const struct al_error *error)
{
    const struct al_tool *tool = call->tool;
    char *hint = NULL;

    if (!call->repo || !call->args || tool->runs_at_top || !error->reason ||
        strcmp(error->reason, "not_found") != 0)
        return NULL;
    for (size_t i = 0; i < tool->nparams && !hint; i++)
        if (tool->params[i].flags & AL_PARAM_PATH)
            hint = hint_for_param(call, &tool->params[i]);
    return hint;
}
