// SPDX-License-Identifier: Apache-2.0
/*
 * The arguments of a call as the journal has them: without secrets, and bounded.
 *
 * Arguments whose JSON is larger than AL_JOURNAL_INPUT_MAX_BYTES are cut: each long value becomes a
 * string, of its beginning, its length and its SHA-256, and a member "[cut]" has the length and the
 * SHA-256 of all arguments as they would have been written.  Of a string, the bytes are counted; of
 * any other value, those of its JSON.
 */
#ifndef AL_JOURNAL_INPUT_H
#define AL_JOURNAL_INPUT_H

#include "journal/journal.h"

/** Append the arguments as ASCII JSON. */
void al_journal_add_input(const struct al_record_begin *begin, struct al_str *out);

#endif
