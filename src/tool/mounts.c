// SPDX-License-Identifier: Apache-2.0
#include "tool/mounts.h"

#include <string.h>

#include "guard/text.h"
#include "util/nearest.h"

void al_mounts_await(struct al_mounts *mounts, uint32_t wait_ms, struct al_cancel *cancel)
{
    if (mounts)
        mounts->ops->await(mounts, wait_ms, cancel);
}

const struct al_mounted_list *al_mounts_list(struct al_mounts *mounts)
{
    return mounts ? mounts->ops->list(mounts) : NULL;
}

void al_mounted_list_unref(struct al_mounts *mounts, const struct al_mounted_list *list)
{
    if (list)
        mounts->ops->unref(list);
}

/* The tool of this name; NULL: there is none, or `list` is NULL.  Borrowed from `list`. */
static const struct al_listed_tool *find_in_list(const struct al_mounted_list *list,
                                                 const char *name)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (!strcmp(list->items[i].tool->name, name))
            return &list->items[i];
    return NULL;
}

bool al_mounts_claims(const struct al_mounts *mounts, const char *name)
{
    return mounts && mounts->ops->claims(mounts, name);
}

/* AL_ERR_NOT_FOUND, with the name that was probably meant. */
static int unknown(const struct al_mounted_list *list, const char *name, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);
    struct al_nearest nearest = { .word = name };

    for (size_t i = 0; list && i < list->count; i++)
        al_nearest_offer(&nearest, list->items[i].tool->name);
    if (nearest.found)
        return al_error_set(err, AL_ERR_NOT_FOUND, "unknown tool '%s'; did you mean %s?", safe,
                            nearest.found);
    return al_error_set(err, AL_ERR_NOT_FOUND, "unknown tool '%s'; airlock tools lists them", safe);
}

int al_mounts_find(struct al_mounts *mounts, const char *name, struct al_cancel *cancel,
                   const struct al_mounted_list **ret_list, const struct al_listed_tool **ret_tool,
                   struct al_error *err)
{
    int r = mounts->ops->await_tool(mounts, name, cancel, err);
    const struct al_mounted_list *list;
    const struct al_listed_tool *tool;

    if (r < 0)
        return r;
    list = al_mounts_list(mounts);
    tool = find_in_list(list, name);
    if (!tool) {
        r = unknown(list, name, err);
        al_mounted_list_unref(mounts, list);
        return r;
    }
    *ret_list = list;
    *ret_tool = tool;
    return 0;
}

bool al_mounts_replaces(struct al_mounts *mounts, const char *native)
{
    return mounts && mounts->ops->replaces(mounts, native);
}

void al_mounts_watch(struct al_mounts *mounts, void (*changed)(void *payload), void *payload)
{
    if (mounts)
        mounts->ops->watch(mounts, changed, payload);
}
