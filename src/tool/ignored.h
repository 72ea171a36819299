// SPDX-License-Identifier: Apache-2.0
/* Arguments that have no effect because another argument wins.  The caller is told which ones. */
#ifndef AL_TOOL_IGNORED_H
#define AL_TOOL_IGNORED_H

#include <stdbool.h>

#include "util/str.h"

struct al_ignored {
    struct al_strv names; /**< of parameters, as in the schema */
    const char *since;    /**< the reason, as a clause after "since" */
};

#define AL_IGNORED_INIT ((struct al_ignored){ .names = AL_STRV_INIT })

void al_ignored_clear(struct al_ignored *ignored);

/** For a tool's `ignored`: note that this parameter had no effect, if it was given. */
void al_ignored_add(struct al_ignored *ignored, bool given, const char *name);

#endif
