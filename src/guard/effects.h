// SPDX-License-Identifier: Apache-2.0
/* Effects: what an operation can do.  Effects belong to an operation, never to a tool. */
#ifndef AL_GUARD_EFFECTS_H
#define AL_GUARD_EFFECTS_H

#include <stdbool.h>

#include "base/json.h"

enum al_effects {
    AL_READS = 1 << 0,
    AL_WRITES_INDEX = 1 << 1,
    AL_WRITES_WORKTREE = 1 << 2,
    AL_DISCARDS_WORK = 1 << 3,
    AL_WRITES_REFS = 1 << 4,
    AL_REWRITES_HISTORY = 1 << 5,
    AL_WRITES_CONFIG = 1 << 6,
    AL_USES_NETWORK = 1 << 7,
    AL_LEAVES_MACHINE = 1 << 8,
    AL_RUNS_PROGRAM = 1 << 9,
    AL_WRITES_FILES = 1 << 10, /**< files that airlock itself writes below a root (patches) */
};

/** The number of effects: the bits below 1 << AL_EFFECT_COUNT. */
#define AL_EFFECT_COUNT 11

/** The name of the effect 1 << bit ("writes_index"), as in policy rules and the journal. */
const char *al_effect_name(unsigned bit);

/** The names of these effects as an array.  Caller owns the reference. */
json_t *al_effects_names(unsigned effects);

/** The same as text: "reads, writes_refs".  Caller frees. */
char *al_effects_list(unsigned effects);

/** Test whether any effect changes the repository.  Such an operation needs an approval by default,
 * and a checkpoint. */
bool al_effects_change_repository(unsigned effects);

/** Test whether any effect goes beyond reading. */
bool al_effects_have_side_effects(unsigned effects);

/** The risk shown to the user: "low", "medium" or "high". */
const char *al_effects_risk(unsigned effects);

/** MCP's tool hints, derived from effects. */
bool al_effects_read_only(unsigned effects);
bool al_effects_destructive(unsigned effects);
bool al_effects_idempotent(unsigned effects);
bool al_effects_open_world(unsigned effects);

#endif
