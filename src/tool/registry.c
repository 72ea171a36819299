// SPDX-License-Identifier: Apache-2.0
/* The tools that a client sees: those of the chosen toolsets.  The earlier toolset wins a name. */
#include <stdlib.h>

#include "guard/text.h"
#include "tool/registry.h"
#include "tool/toolset_registry.h"

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
