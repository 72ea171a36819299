// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that synchronises the log for calls that were answered already.
 *
 * A call is added after its line was written to the log.  Its open record stays until the line and
 * the head are on the disk, so that a power failure in between leaves an interrupted call, and not
 * one that nobody knows of.  Calls that end meanwhile are synchronised together.
 */
#ifndef AL_HISTORY_SYNC_LATER_H
#define AL_HISTORY_SYNC_LATER_H

#include <stdbool.h>

#include "history/chain.h"
#include "history/open_records.h"

struct al_sync_later;

/** The arguments are borrowed.  The thread starts with the first call. */
struct al_sync_later *al_sync_later_new(struct al_chain *chain, struct al_open_records *open);

/** Wait until all calls are synchronised, and end the thread. */
void al_sync_later_free(struct al_sync_later *later);

/**
 * Synchronise a call's line and end its open record.
 * @param later  NULL: there is no thread.
 * @return False when there is no thread; then nothing was done.
 */
bool al_sync_later_add(struct al_sync_later *later, const struct al_open_record *record);

#endif
