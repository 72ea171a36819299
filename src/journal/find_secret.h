// SPDX-License-Identifier: Apache-2.0
/* Secrets in a text, by the name they have and by the form they have. */
#ifndef AL_JOURNAL_FIND_SECRET_H
#define AL_JOURNAL_FIND_SECRET_H

#include <stddef.h>

/** The length of the first secret that begins at `from` or behind it, and where it is; 0 when there
 * is none. */
size_t al_find_secret(const char *text, size_t len, size_t from, size_t *ret_at);

#endif
