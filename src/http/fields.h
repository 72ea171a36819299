// SPDX-License-Identifier: Apache-2.0
/* The headers of one request: checked, kept, found. */
#ifndef AL_HTTP_FIELDS_H
#define AL_HTTP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

/** More headers than this are refused with 431. */
#define AL_HTTP_FIELDS_MAX 100u

/** Headers in the order of the request. */
struct al_http_fields {
    struct al_strv names, values;
};

#define AL_HTTP_FIELDS_INIT                                                                        \
    ((struct al_http_fields){ .names = AL_STRV_INIT, .values = AL_STRV_INIT })

/** Values that prove who asks (Authorization, Cookie) are wiped. */
void al_http_fields_clear(struct al_http_fields *fields);

/** Wipe the value of a header; it is "" from here on.  Threads: others may look for other headers.
 */
void al_http_fields_wipe(struct al_http_fields *fields, const char *name);

/** The value of a header, or NULL.  `name` in any case. */
const char *al_http_fields_find(const struct al_http_fields *fields, const char *name);

/** Add a header line.  NULL, or why it is refused, as a short phrase. */
const char *al_http_fields_add(struct al_http_fields *fields, const char *name, size_t name_len,
                               const char *value, size_t value_len);

/** What the headers say about the body. */
struct al_http_framing {
    bool has_body; /**< a body follows, perhaps an empty one */
    bool chunked;
    bool too_large;  /**< Content-Length is above the limit */
    const char *bad; /**< the request is refused with 400: why; else NULL */
};

/** Read Content-Length, Transfer-Encoding and Upgrade as strictly as any server does. */
struct al_http_framing al_http_fields_framing(const struct al_http_fields *fields,
                                              size_t max_body_bytes);

/** Test the target of a request: NULL, or why it is refused. */
const char *al_http_check_target(const char *target);

/** Test whether all bytes are those of a token (RFC 9110), as in methods and names. */
bool al_http_is_token(const char *text, size_t len);

#endif
