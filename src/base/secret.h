// SPDX-License-Identifier: Apache-2.0
/* Files with secrets, which are read only if nobody else may know what is in them; and new secrets.
 */
#ifndef AL_BASE_SECRET_H
#define AL_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

/** Make random digits, hexadecimal, two for each byte; at most AL_RANDOM_BYTES_MAX bytes.  Aborts
 * without random numbers, which every kernel has that airlock runs on. */
void al_random_hex(size_t nbytes, char *ret_text);
#define AL_RANDOM_BYTES_MAX 32

/** The kind of a file, for messages and for its rights. */
struct al_secret_kind {
    const char *what;   /**< "token file" */
    const char *leaked; /**< what to do besides if others may have read it */
    size_t max;         /**< bytes of the largest file */
    bool may_be_system; /**< the file may be root's, and its group may then read it, as Debian's
                           group ssl-cert may */
};

/**
 * Read a regular file that belongs to the process's user, without rights for anybody else.  The
 * rights are those of the file that is read, even if its name is given to another one meanwhile.
 *
 * @param shown     The path for messages.
 * @param ret_text  The caller clears it with explicit_bzero(3), after a failure too.
 * @return 0, or AL_ERR_BAD_ARGS with one line that says what to do instead.
 */
int al_secret_read(const char *path, const char *shown, const struct al_secret_kind *kind,
                   struct al_str *ret_text, struct al_error *err);

#endif
