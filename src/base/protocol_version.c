// SPDX-License-Identifier: Apache-2.0
#include "base/protocol_version.h"

/* Newest first. */
static const struct al_revision revisions[] = {
    { "2026-07-28", AL_ERA_MODERN, false, true, false },
    { "2025-11-25", AL_ERA_LEGACY, false, true, true },
    { "2025-06-18", AL_ERA_LEGACY, false, false, false },
    { "2025-03-26", AL_ERA_LEGACY, true, false, false },
    { "2024-11-05", AL_ERA_LEGACY, false, false, false },
};

const struct al_revision *al_revision_find(const char *name)
{
    for (size_t i = 0; i < AL_COUNT(revisions); i++)
        if (!strcmp(revisions[i].name, name))
            return &revisions[i];
    return NULL;
}

const struct al_revision *al_revision_agree(const char *name)
{
    const struct al_revision *revision = al_revision_find(name);

    if (revision && revision->era == AL_ERA_LEGACY)
        return revision;
    for (revision = revisions; revision->era != AL_ERA_LEGACY; revision++)
        ;
    return revision; /* the client decides whether it supports ours */
}

void al_revision_add_list(struct al_str *out)
{
    for (size_t i = 0; i < AL_COUNT(revisions); i++)
        al_str_addf(out, "%s\"%s\"", i ? "," : "[", revisions[i].name);
    al_str_addc(out, ']');
}
