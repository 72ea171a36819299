// SPDX-License-Identifier: Apache-2.0
/* The references of a repository as a checkpoint has them. */
#ifndef AL_HISTORY_REFS_H
#define AL_HISTORY_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "history/checkpoint.h"

/** Add the references as a checkpoint has them, "<value> SP <name>" LF each, with their values as
 * `to`.  False when the text is not in that form. */
bool al_refs_parse(const char *text, size_t len, struct al_differences *refs);

/** The value of a reference whose file has this text: an object id or "ref: <name>".  NULL when the
 * text is neither.  Caller frees. */
char *al_ref_value(const char *text, bool sha256);

#endif
