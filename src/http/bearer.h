// SPDX-License-Identifier: Apache-2.0
/* The token of an Authorization header.  Source: RFC 6750 section 2.1; RFC 9110 section 11.4. */
#ifndef AL_HTTP_BEARER_H
#define AL_HTTP_BEARER_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Find the token in "Bearer TOKEN", where the scheme's case is ignored.
 *
 * @param value      The only Authorization header of the request; NULL: there is none.
 * @param ret_token  Borrowed from `value`.  On success only.
 * @return false for another scheme, and for anything but one word of visible ASCII after it.
 */
bool al_http_bearer(const char *value, const char **ret_token, size_t *ret_len);

#endif
