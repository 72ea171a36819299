// SPDX-License-Identifier: Apache-2.0
/* Making a list of mounted tools. */
#include <stdlib.h>
#include <string.h>

#include "toolsets/upstream/mounted.h"
#include "toolsets/upstream/names.h"

/* One server's part of a list that is being made. */
struct part {
    struct al_mounting *mounting;
    const struct al_mount *mount;
    struct al_str collisions; /* names, separated by commas */
    size_t bytes;             /* of its definitions */
};

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

static void mounted_free(struct al_mounted *mounted)
{
    free(mounted->name);
    free(mounted);
}

/* Mount a tool if there is room for its definition. */
static void add_if_it_fits(struct part *part, const struct al_upstream_tool *upstream)
{
    struct al_mounting *mounting = part->mounting;
    struct al_mounted *mounted = al_calloc(1, sizeof(*mounted));
    const size_t bytes = al_mounted_init(mounted, part->mount, upstream);

    if (part->bytes + bytes <= AL_MOUNT_MAX_BYTES &&
        mounting->bytes + bytes <= AL_MOUNTS_MAX_BYTES) {
        part->bytes += bytes;
        mounting->bytes += bytes;
        add(mounting, mounted);
        return;
    }
    al_strv_addf(&mounting->left_out,
                 "%s: '%s' has no room: all definitions of one server have at "
                 "most 1 MiB, and of all servers 8 MiB",
                 al_upstream_name(part->mount->upstream), upstream->name);
    mounted_free(mounted);
}

/* Whether the configuration names the tool, or names none. */
static bool is_wanted(const struct al_mount *mount, const char *tool)
{
    return !mount->limits_tools || al_strv_contains(&mount->tools, tool);
}

static void add_tool(struct part *part, const struct al_upstream_tool *upstream,
                     const struct al_mount_rules *rules)
{
    const char *server = al_upstream_name(part->mount->upstream);
    al_auto(al_freep) char *refusal = NULL;

    if (!is_wanted(part->mount, upstream->name))
        return;
    refusal = al_mounted_refusal(server, upstream->name);
    if (refusal)
        al_strv_addf(&part->mounting->left_out, "%s: %s", server, refusal);
    else if (al_mounted_collides(rules->native, rules->prefer_mcp, upstream->name))
        al_str_addf(&part->collisions, "%s%s", part->collisions.len ? ", " : "", upstream->name);
    else
        add_if_it_fits(part, upstream);
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
        struct part part = { mounting, &mounts[i], AL_STR_INIT, 0 };

        mounting->sources[i] = source;
        for (size_t k = 0; source && k < source->count; k++)
            add_tool(&part, &source->items[k], rules);
        if (part.collisions.len)
            al_strv_addf(&mounting->collisions, "%s: %s", al_upstream_name(mounts[i].upstream),
                         part.collisions.buf);
        al_str_clear(&part.collisions);
    }
    return mounting;
}

void al_mounting_unref(struct al_mounting *mounting)
{
    if (!mounting || atomic_fetch_sub(&mounting->refs, 1) > 1)
        return;
    for (size_t i = 0; i < mounting->list.count; i++)
        mounted_free(mounting->tools[i]);
    for (size_t i = 0; i < mounting->nsources; i++)
        al_upstream_tools_unref(mounting->sources[i]);
    free(mounting->tools);
    free(mounting->items);
    free(mounting->sources);
    al_strv_clear(&mounting->left_out);
    al_strv_clear(&mounting->collisions);
    free(mounting);
}
