// SPDX-License-Identifier: Apache-2.0
#include "guard/effects.h"

#include <stddef.h>

#define CHANGES_REPOSITORY                                                                         \
    (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_DISCARDS_WORK | AL_WRITES_REFS |                    \
     AL_REWRITES_HISTORY | AL_WRITES_CONFIG)

#define LOSES_SOMETHING (AL_DISCARDS_WORK | AL_REWRITES_HISTORY)

static const char *const names[AL_EFFECT_COUNT] = {
    "reads",          "writes_index",     "writes_worktree", "discards_work",
    "writes_refs",    "rewrites_history", "writes_config",   "uses_network",
    "leaves_machine", "runs_program",     "writes_files",
};

const char *al_effect_name(unsigned bit)
{
    return names[bit];
}

json_t *al_effects_names(unsigned effects)
{
    json_t *array = al_json_array();

    for (size_t i = 0; i < AL_EFFECT_COUNT; i++)
        if (effects & 1u << i)
            al_json_append(array, al_json_string(names[i]));
    return array;
}

char *al_effects_list(unsigned effects)
{
    struct al_str list = AL_STR_INIT;

    for (size_t i = 0; i < AL_EFFECT_COUNT; i++)
        if (effects & 1u << i)
            al_str_addf(&list, "%s%s", list.len ? ", " : "", names[i]);
    return al_str_detach(&list);
}

bool al_effects_change_repository(unsigned effects)
{
    return effects & CHANGES_REPOSITORY;
}

bool al_effects_have_side_effects(unsigned effects)
{
    return effects & ~(unsigned)AL_READS;
}

const char *al_effects_risk(unsigned effects)
{
    if (effects & LOSES_SOMETHING)
        return "high";
    if (effects & ~(unsigned)(AL_READS | AL_WRITES_FILES))
        return "medium";
    return "low";
}

bool al_effects_read_only(unsigned effects)
{
    return !(effects & ~(unsigned)(AL_READS | AL_USES_NETWORK));
}

bool al_effects_destructive(unsigned effects)
{
    return effects & (LOSES_SOMETHING | AL_LEAVES_MACHINE);
}

bool al_effects_idempotent(unsigned effects)
{
    return !(effects & (AL_WRITES_REFS | AL_REWRITES_HISTORY | AL_WRITES_CONFIG |
                        AL_LEAVES_MACHINE | AL_RUNS_PROGRAM));
}

bool al_effects_open_world(unsigned effects)
{
    return effects & (AL_USES_NETWORK | AL_LEAVES_MACHINE);
}
