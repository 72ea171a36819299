// SPDX-License-Identifier: Apache-2.0
/* Lines on stderr for the person who started airlock.  Floors below `mcp` and `cli` warn only. */
#ifndef AL_UTIL_LOG_H
#define AL_UTIL_LOG_H

#include "util/mem.h"

/** Write "airlock: warning: …" as one line and one write; safe from any thread. */
void al_log_warn(const char *fmt, ...) al_printf(1, 2);

/** Write "airlock: …" as one line and one write; safe from any thread. */
void al_log_note(const char *fmt, ...) al_printf(1, 2);

#endif
