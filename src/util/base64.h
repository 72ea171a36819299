// SPDX-License-Identifier: Apache-2.0
/* Base64 with padding.  Source: RFC 4648, section 4. */
#ifndef AL_UTIL_BASE64_H
#define AL_UTIL_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

/** Append the text of some bytes, on one line. */
void al_base64_encode(const void *data, size_t len, struct al_str *out);

/** Append the bytes of a text, in which white space is ignored.  False when it is no base64; `out`
 * is unchanged then. */
bool al_base64_decode(const char *text, size_t len, struct al_str *out);

#endif
