// SPDX-License-Identifier: Apache-2.0
/* The tools that a client sees: those of the chosen toolsets.  The earlier toolset wins a name. */
#include "tool/registry.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
#include "util/error.h"
#include "util/str.h"
#include "util/yaml.h"

void al_toolset_registry_clear(struct al_toolset_registry *registry)
{
    free(registry->items);
    *registry = AL_TOOLSET_REGISTRY_INIT;
}

int al_toolset_register(struct al_toolset_registry *registry, const struct al_toolset *toolset,
                        struct al_error *err)
{
    if (al_toolset_find(registry, toolset->name))
        return al_error_set(err, AL_ERR_BAD_ARGS, "Toolset \"%s\" already registered",
                            toolset->name);
    registry->items =
        al_reallocarray(registry->items, registry->count + 1, sizeof(*registry->items));
    registry->items[registry->count++] = toolset;
    return 0;
}

const struct al_toolset *al_toolset_find(const struct al_toolset_registry *registry,
                                         const char *name)
{
    for (size_t i = 0; i < registry->count; i++)
        if (!strcmp(registry->items[i]->name, name))
            return registry->items[i];
    return NULL;
}

char *al_toolset_names(const struct al_toolset_registry *registry)
{
    struct al_str names = AL_STR_INIT;

    for (size_t i = 0; i < registry->count; i++)
        al_str_addf(&names, "%s%s", i ? ", " : "", registry->items[i]->name);
    return al_str_detach(&names);
}

struct al_listed_tool al_toolset_find_tool(const struct al_toolset_registry *registry,
                                           const char *name)
{
    for (size_t i = 0; i < registry->count; i++)
        for (const struct al_tool *const *tool = registry->items[i]->tools; *tool; tool++)
            if (!strcmp((*tool)->name, name))
                return (struct al_listed_tool){ .toolset = registry->items[i], .tool = *tool };
    return (struct al_listed_tool){ .tool = NULL };
}

int al_toolset_configure(const struct al_toolset *toolset, const struct al_toolset_context *context,
                         struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *safe = NULL;
    int r = 0;

    if (toolset->configure)
        r = toolset->configure(context, &why);
    else if (context->config->count)
        r = al_yaml_error(&context->config->items[0], &why,
                          "unknown key; the toolset %s has no settings", toolset->name);
    if (r == 0)
        return 0;
    safe = al_text_join_lines(why.message);
    return al_error_set(err, r, "%s", safe);
}

static int unknown_toolset(const struct al_toolset_registry *all, const char *name,
                           struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);
    al_auto(al_freep) char *valid = al_toolset_names(all);

    return al_error_set(err, AL_ERR_BAD_ARGS, "unknown toolset '%s' (valid: %s)", safe, valid);
}

static void add_toolset(struct al_registry *registry, const struct al_toolset *toolset)
{
    al_auto(al_str_clear) struct al_str taken = AL_STR_INIT;

    for (size_t i = 0; toolset->tools[i]; i++) {
        const struct al_tool *tool = toolset->tools[i];
        const struct al_listed_tool *winner = al_registry_find(registry, tool->name);

        if (winner) {
            al_str_addf(&taken, "%s%s (%s)", taken.len > 0 ? ", " : "", tool->name,
                        winner->toolset->name);
            continue;
        }
        registry->items =
            al_reallocarray(registry->items, registry->count + 1, sizeof(*registry->items));
        registry->items[registry->count++] =
            (struct al_listed_tool){ .toolset = toolset, .tool = tool };
    }
    if (taken.len > 0)
        al_strv_addf(&registry->notes, "toolset '%s': earlier toolsets keep %s", toolset->name,
                     taken.buf);
}

/* Whether a toolset is named a second time. */
static bool named_before(const struct al_strv *names, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(names->items[i], names->items[at]) == 0)
            return true;
    }
    return false;
}

int al_registry_fill(struct al_registry *registry, const struct al_toolset_registry *all,
                     const struct al_strv *names, struct al_error *err)
{
    struct al_registry filled = AL_REGISTRY_INIT;

    for (size_t i = 0; i < names->count; i++) {
        const struct al_toolset *toolset = al_toolset_find(all, names->items[i]);

        if (!toolset) {
            al_registry_clear(&filled);
            return unknown_toolset(all, names->items[i], err);
        }
        if (!named_before(names, i))
            add_toolset(&filled, toolset);
    }
    al_registry_clear(registry);
    *registry = filled;
    return 0;
}

void al_registry_clear(struct al_registry *registry)
{
    free(registry->items);
    al_strv_clear(&registry->notes);
    *registry = AL_REGISTRY_INIT;
}

const struct al_listed_tool *al_registry_find(const struct al_registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->count; i++) {
        if (strcmp(registry->items[i].tool->name, name) == 0)
            return &registry->items[i];
    }
    return NULL;
}
