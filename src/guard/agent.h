// SPDX-License-Identifier: Apache-2.0
/* The names of agents, which the journal, `airlock log` and messages about locks show. */
#ifndef AL_GUARD_AGENT_H
#define AL_GUARD_AGENT_H

#include "base/error.h"

/** The longest name in bytes. */
#define AL_AGENT_NAME_MAX_BYTES 64u

/**
 * Make a name that a client gave itself one line of safe text, cut to AL_AGENT_NAME_MAX_BYTES.
 *
 * @param given  May be NULL.
 * @return the name, which the caller frees; NULL when nothing visible is left.
 */
char *al_agent_name(const char *given);

/** Check a name that the user chose: it has to be what al_agent_name() would make of it.  0 or
 * AL_ERR_BAD_ARGS. */
int al_agent_check_name(const char *name, struct al_error *err);

#endif
