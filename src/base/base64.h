// SPDX-License-Identifier: Apache-2.0
/* Bytes as text: base64 with padding (RFC 4648, section 4), and their SHA-256. */
#ifndef AL_BASE_BASE64_H
#define AL_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/** Append the text of some bytes, on one line. */
void al_base64_encode(const void *data, size_t len, struct al_str *out);

/** Append the bytes of a text, in which white space is ignored.  False when it is no base64; `out`
 * is unchanged then. */
bool al_base64_decode(const char *text, size_t len, struct al_str *out);

/** The SHA-256 of some bytes, in hexadecimal digits.  Caller frees. */
char *al_sha256(const void *data, size_t len);

#endif
