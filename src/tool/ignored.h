// SPDX-License-Identifier: Apache-2.0
/*
 * Arguments that another one leaves without effect.  The requirements say which one wins; whoever
 * gave both hears that one of them did nothing.
 */
#ifndef AL_TOOL_IGNORED_H
#define AL_TOOL_IGNORED_H

#include <stdbool.h>

#include "util/str.h"

struct al_ignored {
    struct al_strv names; /**< of parameters, as the schema has them */
    const char *since;    /**< why, in words that follow "since" */
};

#define AL_IGNORED_INIT ((struct al_ignored){ .names = AL_STRV_INIT })

void al_ignored_clear(struct al_ignored *ignored);

/** For a tool's `ignored`: this parameter had no effect, where it was given. */
void al_ignored_add(struct al_ignored *ignored, bool given, const char *name);

/** The line "airlock: ignored: a, b, since …" appended to `out`, behind what is there; nothing when
 * all had effect. */
void al_ignored_note(const struct al_ignored *ignored, struct al_str *out);

#endif
