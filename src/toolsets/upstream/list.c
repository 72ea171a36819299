// SPDX-License-Identifier: Apache-2.0
/* Making a list of mounted tools. */
#include <stdlib.h>
#include <string.h>

#include "toolsets/upstream/mounted.h"
#include "toolsets/upstream/names.h"

static void add(struct al_mounting *mounting, struct al_mounted *mounted)
{
    const size_t count = mounting->list.count + 1;

    mounting->tools = al_reallocarray(mounting->tools, count, sizeof(struct al_mounted *));
    mounting->items = al_reallocarray(mounting->items, count, sizeof(*mounting->items));
    mounting->tools[count - 1] = mounted;
    mounting->items[count - 1] = (struct al_listed_tool){
        .toolset = &mounted->mount->toolset,
        .tool = &mounted->tool,
    };
    mounting->list = (struct al_mounted_list){ .items = mounting->items, .count = count };
}

/* Whether the configuration names the tool, or names none. */
static bool is_wanted(const struct al_mount *mount, const char *tool)
{
    return !mount->limits_tools || al_strv_contains(&mount->tools, tool);
}

static void add_tool(struct al_mounting *mounting, const struct al_mount *mount,
                     const struct al_upstream_tool *upstream, const struct al_mount_rules *rules,
                     struct al_str *collisions)
{
    const char *server = al_upstream_name(mount->upstream);
    al_auto(al_freep) char *refusal = NULL;
    struct al_mounted *mounted;

    if (!is_wanted(mount, upstream->name))
        return;
    refusal = al_mounted_refusal(server, upstream->name);
    if (refusal) {
        al_strv_addf(&mounting->left_out, "%s: %s", server, refusal);
        return;
    }
    if (al_mounted_collides(rules->native, rules->prefer_mcp, upstream->name)) {
        al_str_addf(collisions, "%s%s", collisions->len ? ", " : "", upstream->name);
        return;
    }
    mounted = al_calloc(1, sizeof(*mounted));
    al_mounted_init(mounted, mount, upstream);
    add(mounting, mounted);
}

const struct al_upstream_tools *al_mount_tools(const struct al_mount *mount)
{
    const struct al_upstream_tools *tools = NULL;

    if (!atomic_load(&mount->started) ||
        al_upstream_tools(mount->upstream, 0, NULL, &tools, NULL) < 0)
        return NULL;
    return tools;
}

struct al_mounting *al_mounting_new(struct al_mount *mounts, size_t nmounts,
                                    const struct al_mount_rules *rules)
{
    struct al_mounting *mounting = al_calloc(1, sizeof(*mounting));

    atomic_init(&mounting->refs, 1);
    mounting->left_out = AL_STRV_INIT;
    mounting->collisions = AL_STRV_INIT;
    mounting->sources = al_calloc(nmounts, sizeof(*mounting->sources));
    mounting->nsources = nmounts;
    for (size_t i = 0; i < nmounts; i++) {
        const struct al_upstream_tools *source = al_mount_tools(&mounts[i]);
        al_auto(al_str_clear) struct al_str collisions = AL_STR_INIT;

        mounting->sources[i] = source;
        for (size_t k = 0; source && k < source->count; k++)
            add_tool(mounting, &mounts[i], &source->items[k], rules, &collisions);
        if (collisions.len)
            al_strv_addf(&mounting->collisions, "%s: %s", al_upstream_name(mounts[i].upstream),
                         collisions.buf);
    }
    return mounting;
}

void al_mounting_unref(struct al_mounting *mounting)
{
    if (!mounting || atomic_fetch_sub(&mounting->refs, 1) > 1)
        return;
    for (size_t i = 0; i < mounting->list.count; i++) {
        free(mounting->tools[i]->name);
        free(mounting->tools[i]);
    }
    for (size_t i = 0; i < mounting->nsources; i++)
        al_upstream_tools_unref(mounting->sources[i]);
    free(mounting->tools);
    free(mounting->items);
    free(mounting->sources);
    al_strv_clear(&mounting->left_out);
    al_strv_clear(&mounting->collisions);
    free(mounting);
}
