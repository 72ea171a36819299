// SPDX-License-Identifier: Apache-2.0
#include "tool/resolved.h"

void al_resolved_clear(struct al_resolved *resolved)
{
    al_strv_clear(&resolved->pairs);
}

void al_resolved_add(struct al_resolved *resolved, const char *name, const char *value)
{
    al_strv_add(&resolved->pairs, name);
    al_strv_add(&resolved->pairs, value ? value : "");
}

const char *al_resolved_find(const struct al_resolved *resolved, const char *name)
{
    for (size_t i = 0; i + 1 < resolved->pairs.count; i += 2)
        if (!strcmp(resolved->pairs.items[i], name))
            return resolved->pairs.items[i + 1];
    return NULL;
}

void al_resolved_write(const struct al_resolved *resolved, struct al_str *out)
{
    for (size_t i = 0; i < resolved->pairs.count; i++)
        al_str_add(out, resolved->pairs.items[i], strlen(resolved->pairs.items[i]) + 1);
}
