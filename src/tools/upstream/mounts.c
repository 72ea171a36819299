// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/nearest.h"
#include "guard/text.h"
#include "tools/upstream/mounted.h"

/* Making a list of mounted tools. */

/* Bytes of all definitions of one server, and of all servers: a client takes a line of 10 MiB, and
 * one server must not use it up. */
#define SERVER_MAX_BYTES (1u << 20)
#define ALL_MAX_BYTES    (8u << 20)

/* A list with what its tools borrow. */
struct mounting {
    struct al_mounted_list list; /* must be first; each `tool` is a struct al_mounted */
    json_t **sources;            /* the list of each server; NULL: not known yet */
    size_t nsources;
    size_t bytes;              /* of all definitions */
    struct al_strv left_out;   /* "SERVER: 'tool' is …", safe lines */
    struct al_strv collisions; /* "SERVER: git_status, git_log", one line for each server that has
                                  tools with the names of native ones */
};

struct al_mounts {
    struct al_mount *items;
    size_t count;
    const struct al_registry *native;
    bool prefer_mcp;

    pthread_mutex_t lock; /* guards the members below; held while `changed` runs */
    void (*changed)(void *payload);
    void *payload;
};

/* One server's part of a list that is being made. */
struct part {
    struct mounting *mounting;
    const struct al_mount *mount;
    struct al_str collisions; /* names, separated by commas */
    size_t bytes;             /* of its definitions */
};

static void mounted_free(struct al_mounted *mounted)
{
    free(mounted->name);
    free(mounted->digest);
    free(mounted);
}

/* Mount a tool if there is room for its definition. */
static void add_if_it_fits(struct part *part, const json_t *definition)
{
    struct mounting *mounting = part->mounting;
    struct al_mounted_list *list = &mounting->list;
    struct al_mounted *mounted = al_calloc(1, sizeof(*mounted));
    const size_t bytes = al_mounted_init(mounted, part->mount, definition);

    if (part->bytes + bytes <= SERVER_MAX_BYTES && mounting->bytes + bytes <= ALL_MAX_BYTES) {
        part->bytes += bytes;
        mounting->bytes += bytes;
        list->items = al_reallocarray(list->items, list->count + 1, sizeof(*list->items));
        list->items[list->count++] = (struct al_listed_tool){
            .toolset = &mounted->mount->toolset,
            .tool = &mounted->tool,
        };
        return;
    }
    al_strv_addf(&mounting->left_out,
                 "%s: '%s' has no room: all definitions of one server have at "
                 "most 1 MiB, and of all servers 8 MiB",
                 al_upstream_name(part->mount->upstream), mounted->upstream);
    mounted_free(mounted);
}

static void add_tool(struct part *part, const json_t *definition, const struct al_mounts *mounts)
{
    const char *server = al_upstream_name(part->mount->upstream);
    const char *name = al_json_get_string(definition, "name");
    al_auto(al_freep) char *refusal = NULL;

    if (part->mount->limits_tools && !al_strv_contains(&part->mount->tools, name))
        return;
    refusal = al_mounted_refusal(server, name);
    if (refusal)
        al_strv_addf(&part->mounting->left_out, "%s: %s", server, refusal);
    else if (!mounts->prefer_mcp && al_registry_find(mounts->native, name))
        al_str_addf(&part->collisions, "%s%s", part->collisions.len ? ", " : "", name);
    else
        add_if_it_fits(part, definition);
}

/* Servers that are not started are left out.  The list has one reference. */
static struct mounting *mounting_new(const struct al_mounts *mounts)
{
    struct mounting *mounting = al_calloc(1, sizeof(*mounting));

    mounting->left_out = AL_STRV_INIT;
    mounting->collisions = AL_STRV_INIT;
    mounting->sources = al_calloc(mounts->count, sizeof(*mounting->sources));
    mounting->nsources = mounts->count;
    for (size_t i = 0; i < mounts->count; i++) {
        const struct al_mount *mount = &mounts->items[i];
        struct part part = { mounting, mount, AL_STR_INIT, 0 };
        json_t *source = NULL;

        if (atomic_load(&mount->started))
            (void)al_upstream_tools(mount->upstream, 0, NULL, &source, NULL);
        mounting->sources[i] = source;
        for (size_t k = 0; source && k < json_array_size(source); k++)
            add_tool(&part, json_array_get(source, k), mounts);
        if (part.collisions.len)
            al_strv_addf(&mounting->collisions, "%s: %s", al_upstream_name(mount->upstream),
                         part.collisions.buf);
        al_str_clear(&part.collisions);
    }
    return mounting;
}

static void on_tools(void *payload)
{
    struct al_mounts *mounts = payload;

    al_hold(&mounts->lock);
    if (mounts->changed)
        mounts->changed(mounts->payload);
}

void al_mounts_watch(struct al_mounts *mounts, void (*changed)(void *payload), void *payload)
{
    if (!mounts)
        return;
    al_hold(&mounts->lock);
    mounts->changed = changed;
    mounts->payload = payload;
}

const struct al_mounted_list *al_mounts_list(const struct al_mounts *mounts)
{
    return mounts ? &mounting_new(mounts)->list : NULL;
}

void al_mounted_list_free(const struct al_mounted_list *list)
{
    struct mounting *mounting = (struct mounting *)list;

    if (!mounting)
        return;
    for (size_t i = 0; i < mounting->list.count; i++)
        mounted_free((struct al_mounted *)(uintptr_t)mounting->list.items[i].tool);
    for (size_t i = 0; i < mounting->nsources; i++)
        json_decref(mounting->sources[i]);
    free(mounting->list.items);
    free(mounting->sources);
    al_strv_clear(&mounting->left_out);
    al_strv_clear(&mounting->collisions);
    free(mounting);
}

/* Failures are for the calls and for airlock doctor: the tools of other servers are listed. */
void al_mounts_await(struct al_mounts *mounts, uint32_t wait_ms, struct al_cancel *cancel)
{
    const int64_t deadline = al_clock_ms() + wait_ms;
    const size_t count = al_upstream_mounts_count(mounts);

    for (size_t i = 0; i < count; i++) {
        atomic_store(&mounts->items[i].started, true);
        al_upstream_start(mounts->items[i].upstream);
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t left = deadline - al_clock_ms();
        json_t *tools = NULL;

        (void)al_upstream_tools(mounts->items[i].upstream, left > 0 ? (uint32_t)left : 0, cancel,
                                &tools, NULL);
        json_decref(tools);
    }
}

/* The server that a name of the form "mcp__SERVER__tool" belongs to; NULL: none. */
static struct al_mount *find_mount(const struct al_mounts *mounts, const char *name)
{
    const size_t len = al_mounted_server(name);

    for (size_t i = 0; len && i < al_upstream_mounts_count(mounts); i++) {
        const char *server = al_upstream_name(mounts->items[i].upstream);

        if (strlen(server) == len && !strncmp(name + strlen(AL_MOUNTS_PREFIX), server, len))
            return &mounts->items[i];
    }
    return NULL;
}

bool al_mounts_claims(const struct al_mounts *mounts, const char *name)
{
    return find_mount(mounts, name) != NULL;
}

/* AL_ERR_NOT_FOUND, with the name that was probably meant. */
static int unknown(const struct al_mounted_list *list, const char *name, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);
    struct al_nearest nearest = { .word = name };

    for (size_t i = 0; i < list->count; i++)
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
    struct al_mount *mount = find_mount(mounts, name);
    const struct al_mounted_list *list;
    json_t *tools = NULL;
    int r = 0;

    if (mount) { /* else the list tells that there is no such tool */
        atomic_store(&mount->started, true);
        r = al_upstream_tools(mount->upstream, mount->timeout_ms, cancel, &tools, err);
        json_decref(tools);
    }
    if (r < 0)
        return r;
    list = al_mounts_list(mounts);
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].tool->name, name) != 0)
            continue;
        *ret_tool = &list->items[i];
        *ret_list = list;
        return 0;
    }
    r = unknown(list, name, err);
    al_mounted_list_free(list);
    return r;
}

bool al_mounts_replaces(struct al_mounts *mounts, const char *native)
{
    const struct al_mounted_list *now;
    bool found = false;

    if (!mounts || !mounts->prefer_mcp)
        return false;
    now = al_mounts_list(mounts);
    for (size_t i = 0; i < now->count && !found; i++)
        found = !strcmp(((const struct al_mounted *)now->items[i].tool)->upstream, native);
    al_mounted_list_free(now);
    return found;
}

static void mount_init(struct al_mount *mount, struct al_mounts *mounts,
                       const struct al_mount_options *options)
{
    struct al_upstream_settings settings = options->settings;

    settings.on_tools = on_tools;
    settings.payload = mounts;
    atomic_init(&mount->started, false);
    mount->toolset_name = al_asprintf(AL_MOUNTS_PREFIX "%s", settings.name);
    mount->toolset = (struct al_toolset){
        .name = mount->toolset_name,
        .about = "tools of another MCP server",
    };
    mount->limits_tools = options->limits_tools;
    mount->timeout_ms = settings.timeout_ms;
    mount->tools = AL_STRV_INIT;
    al_strv_add_all(&mount->tools, options->tools);
    mount->upstream = al_upstream_new(&settings);
}

struct al_mounts *al_upstream_mounts_new(const struct al_mount_options *options, size_t noptions,
                                         const struct al_registry *native, bool prefer_mcp)
{
    struct al_mounts *mounts = al_calloc(1, sizeof(*mounts));

    mounts->native = native;
    mounts->prefer_mcp = prefer_mcp;
    (void)pthread_mutex_init(&mounts->lock, NULL);
    mounts->items = al_calloc(noptions, sizeof(*mounts->items));
    mounts->count = noptions;
    for (size_t i = 0; i < noptions; i++)
        mount_init(&mounts->items[i], mounts, &options[i]);
    return mounts;
}

void al_upstream_mounts_free(struct al_mounts *mounts)
{
    if (!mounts)
        return;
    for (size_t i = 0; i < mounts->count; i++)
        al_upstream_end(mounts->items[i].upstream);
    for (size_t i = 0; i < mounts->count; i++) {
        al_upstream_free(mounts->items[i].upstream);
        al_strv_clear(&mounts->items[i].tools);
        free(mounts->items[i].toolset_name);
    }
    (void)pthread_mutex_destroy(&mounts->lock);
    free(mounts->items);
    free(mounts);
}

size_t al_upstream_mounts_count(const struct al_mounts *mounts)
{
    return mounts ? mounts->count : 0;
}

struct al_upstream *al_upstream_mounts_server(const struct al_mounts *mounts, size_t which)
{
    return mounts->items[which].upstream;
}

void al_upstream_mounts_left_out(const struct al_mounts *mounts,
                                 const struct al_mounted_list *found, struct al_strv *ret_lines,
                                 struct al_strv *ret_collisions)
{
    const struct mounting *mounting = (const struct mounting *)found;

    al_strv_add_all(ret_lines, &mounting->left_out);
    al_strv_add_all(ret_collisions, &mounting->collisions);
    for (size_t i = 0; i < mounts->count; i++)
        for (size_t k = 0; mounting->sources[i] && k < mounts->items[i].tools.count; k++)
            if (!al_upstream_tools_find(mounting->sources[i], mounts->items[i].tools.items[k]))
                al_strv_addf(ret_lines, "%s: has no tool '%s'",
                             al_upstream_name(mounts->items[i].upstream),
                             mounts->items[i].tools.items[k]);
}
