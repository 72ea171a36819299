// SPDX-License-Identifier: Apache-2.0
/* Texts of an upstream server inside texts of airlock's. */
#ifndef AL_UPSTREAM_TEXT_H
#define AL_UPSTREAM_TEXT_H

#include <stddef.h>

#include "util/json.h"

/** A text as one safe line of at most `max_bytes`, cut with "..."; NULL for NULL and for blank
 * text. Caller frees. */
char *al_upstream_line(const char *text, size_t max_bytes);

/** A text of several lines, safe and cut; NULL for NULL and for empty text.  Caller frees. */
char *al_upstream_text(const char *text, size_t max_bytes);

/** Make the titles and descriptions anywhere inside `value` safe, and cut them. */
void al_upstream_clean(json_t *value);

#endif
