// SPDX-License-Identifier: Apache-2.0
/*
 * An append-only log whose lines are chained by their HMACs, shared by processes and threads.
 *
 * To append a line, a writer
 *
 *   1. locks the head file
 *   2. announces the HMAC of the line in the head
 *   3. writes the line to the log
 *   4. moves the head to the line
 *
 * The next writer repairs what a writer that died in between left: a complete announced line joins
 * the chain, and a partial one is cut off.  Any other difference between head and log was made by
 * another program.  The journal then continues after it, and al_journal_verify() reports the break.
 *
 * A full file is renamed and a new one begun, see history/history.h.  A writer that has the old
 * file open notices and opens the new one.
 */
#ifndef AL_HISTORY_CHAIN_H
#define AL_HISTORY_CHAIN_H

#include <stdint.h>

#include "util/error.h"
#include "util/str.h"

struct al_chain;

/** The size at which a file of the log is full, unless al_chain_limit() sets another. */
#define AL_CHAIN_FILE_MAX_BYTES (64u << 20)

/** Open the log, its head and its key, and create those that are missing.  Threads: the chain may
 * then be used from many threads. */
int al_chain_open(const char *file, struct al_chain **ret_chain, struct al_error *err);
void al_chain_free(struct al_chain *chain);

/** The path of the log.  Borrowed. */
const char *al_chain_file(const struct al_chain *chain);

/** Set the size beyond which a file of the log must not grow.  A file with a single line may be
 * larger.  No other thread may use the chain meanwhile. */
void al_chain_limit(struct al_chain *chain, uint64_t max_bytes);

/**
 * Append one line, a JSON object in ASCII.  Its members "seq" and "prev" are null and get their
 * values here; "prev" is the last member.
 * @return 0, or AL_ERR_EXECUTION; the log then has nothing of the line.
 */
int al_chain_append(struct al_chain *chain, const struct al_str *line, struct al_error *err);

/**
 * Synchronise the log's lines and then the head with the disk.
 * @return 0, or AL_ERR_EXECUTION; the lines are in the log all the same.
 */
int al_chain_sync(struct al_chain *chain, struct al_error *err);

/** Test whether the last line could not be appended. */
bool al_chain_failed(const struct al_chain *chain);

/**
 * Check that the log is still where others read it.  Call this before any change that a line will
 * be about.
 * @return 0, or AL_ERR_EXECUTION when the file was removed.
 */
int al_chain_check(struct al_chain *chain, struct al_error *err);

#endif
