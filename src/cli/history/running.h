// SPDX-License-Identifier: Apache-2.0
/* `airlock log --running`: the calls that are running now. */
#ifndef AL_CLI_HISTORY_RUNNING_H
#define AL_CLI_HISTORY_RUNNING_H

#include "cli/history/query.h"

/** Show the running calls of every process that uses the journal.  Returns the exit code. */
int al_show_running(const struct al_query *query, const char *journal_file);

#endif
