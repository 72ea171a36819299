// SPDX-License-Identifier: Apache-2.0
/* The calls that run now, for people and as JSON. */
#ifndef AL_CLI_RUNNING_H
#define AL_CLI_RUNNING_H

#include "cli/query.h"

/** `airlock log --running`: the calls that run now, in any process.  The exit code. */
int al_show_running(const struct al_query *query, const char *journal_file);

#endif
