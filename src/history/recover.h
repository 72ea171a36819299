// SPDX-License-Identifier: Apache-2.0
/* Recovering the records of calls whose process died. */
#ifndef AL_HISTORY_RECOVER_H
#define AL_HISTORY_RECOVER_H

#include "history/chain.h"

/**
 * Write the line of each call whose process died, unless the log has it.  A line belongs to a call
 * if session and call number are the same.  A failure is a warning, and the record stays for
 * the next process that opens the journal.
 *
 * @param open_fd  The directory open/.
 */
void al_journal_recover(struct al_chain *chain, int open_fd);

#endif
