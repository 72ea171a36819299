// SPDX-License-Identifier: Apache-2.0
/*
 * A log that lines can only be added to, shared by processes and threads.
 *
 * Appending is: lock the head; announce the line's HMAC in it; write the line; move the head on.
 * A writer that dies in between is put right by the next one: an announced line that is whole is
 * taken into the chain, a part of one is cut off.  Anything else found between head and log is the
 * work of somebody else.  The journal goes on after it, and the break stays for
 * al_journal_verify() to see.
 *
 * A file that is full is renamed and the next begun, see journal/history.h; a writer that has the
 * old one open moves on to the new one by itself.
 */
#ifndef AL_JOURNAL_CHAIN_H
#define AL_JOURNAL_CHAIN_H

#include <stdint.h>

#include "util/error.h"
#include "util/str.h"

struct al_chain;

/** A file of the log is full at this size unless al_chain_limit() says otherwise. */
#define AL_CHAIN_FILE_MAX_BYTES (64u << 20)

/** Open the log, its head and its key, creating what is missing.  Threads: then safe. */
int al_chain_open(const char *file, struct al_chain **ret_chain, struct al_error *err);
void al_chain_free(struct al_chain *chain);

/** The path of the log.  Borrowed. */
const char *al_chain_file(const struct al_chain *chain);

/** Begin a new file of the log before this one grows beyond `max_bytes`; a single line may.  Not
 * while other threads use the chain. */
void al_chain_limit(struct al_chain *chain, uint64_t max_bytes);

/**
 * Append one line, a JSON object in ASCII.  Its member "seq" is null and gets its value here, and
 * so is "prev", its last.
 * @return 0 or AL_ERR_EXECUTION; nothing of the line is in the log then.
 */
int al_chain_append(struct al_chain *chain, const struct al_str *line, struct al_error *err);

/**
 * Have what was appended survive a loss of power: the log's lines, then the head.
 * @return 0 or AL_ERR_EXECUTION; the lines are in the log all the same.
 */
int al_chain_sync(struct al_chain *chain, struct al_error *err);

/** Whether the last line could not be appended. */
bool al_chain_failed(const struct al_chain *chain);

/**
 * Whether the log is still where others read it; asked before anything is done that a line is to
 * be written about.
 * @return 0, or AL_ERR_EXECUTION when the file was removed.
 */
int al_chain_check(struct al_chain *chain, struct al_error *err);

#endif
