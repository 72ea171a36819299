// SPDX-License-Identifier: Apache-2.0
#include "tool/toolset_registry.h"

#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
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
