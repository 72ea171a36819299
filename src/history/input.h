// SPDX-License-Identifier: Apache-2.0
/*
 * The arguments of a call in the form the journal has: without secrets, and with a size limit.
 *
 * Arguments whose JSON is larger than AL_JOURNAL_INPUT_MAX_BYTES are cut.  Each long value becomes
 * a string of its beginning, its length and its SHA-256.  A member "[cut]" has the length and the
 * SHA-256 of the JSON of all arguments.  The length and digest of a string are those of its bytes;
 * of any other value, those of its JSON.
 */
#ifndef AL_HISTORY_INPUT_H
#define AL_HISTORY_INPUT_H

#include "history/journal.h"

/** Append the arguments as ASCII JSON. */
void al_journal_add_input(const struct al_record_begin *begin, struct al_str *out);

#endif
