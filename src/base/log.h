// SPDX-License-Identifier: Apache-2.0
/* Messages on standard error for the user who started airlock.  Folders below `mcp` and `cli` only
 * warn. */
#ifndef AL_BASE_LOG_H
#define AL_BASE_LOG_H

#include "base/mem.h"

/** Write "airlock: warning: …" and a newline with one write(2).  Threads: any. */
void al_log_warn(const char *fmt, ...) al_printf(1, 2);

/** Write "airlock: …" and a newline with one write(2).  Threads: any. */
void al_log_note(const char *fmt, ...) al_printf(1, 2);

#endif
