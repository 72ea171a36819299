// SPDX-License-Identifier: Apache-2.0
/* The calls whose process died, and those that run. */
#ifndef AL_JOURNAL_RECOVER_H
#define AL_JOURNAL_RECOVER_H

#include "journal/chain.h"

/**
 * Write the line of each call whose process died, unless the log has it: the call is told by its
 * conversation and its number in it.  What cannot be written is warned about and stays for the next
 * start.
 *
 * @param open_fd  The directory open/.
 */
void al_journal_recover(struct al_chain *chain, int open_fd);

#endif
