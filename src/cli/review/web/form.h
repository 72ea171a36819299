// SPDX-License-Identifier: Apache-2.0
/*
 * The fields of a form or a query: application/x-www-form-urlencoded.
 *
 * Threads: any.  Source: URL Standard, 5.1.
 */
#ifndef AL_CLI_REVIEW_WEB_FORM_H
#define AL_CLI_REVIEW_WEB_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

/** A longer form is none. */
#define AL_WEB_FORM_MAX_BYTES (64u << 10)

/** Fields at most. */
#define AL_WEB_FIELDS_MAX 16

/** Fields in their order.  Set up with AL_WEB_FORM_INIT. */
struct al_web_form {
    struct al_strv names, values;
};

#define AL_WEB_FORM_INIT ((struct al_web_form){ .names = AL_STRV_INIT })

void al_web_form_clear(struct al_web_form *form);

/** Read a form.  False: it is none, is too long, has a NUL, or has a name twice. */
bool al_web_form_read(const char *text, size_t len, struct al_web_form *ret_form);

/** The value of a field; NULL: it is not there.  Borrowed. */
const char *al_web_form_get(const struct al_web_form *form, const char *name);

/** The value of a field that is a decimal number without sign.  False: it is none. */
bool al_web_number(const char *text, uint64_t *ret);

#endif
