// SPDX-License-Identifier: Apache-2.0
/* Finding secrets in a text, by the name before them or by their form: bearer and GitHub tokens,
 * Authorization headers, assignments to variables on the denylist, and user info in URLs. */
#ifndef AL_HISTORY_FIND_SECRET_H
#define AL_HISTORY_FIND_SECRET_H

#include <stddef.h>

/**
 * Find the first secret at or after `from`.
 * @param[out] ret_at  Offset of the secret.
 * @return Its length; 0 when there is none.
 */
size_t al_find_secret(const char *text, size_t len, size_t from, size_t *ret_at);

#endif
