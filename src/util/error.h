// SPDX-License-Identifier: Apache-2.0
/*
 * How a call can fail.
 *
 * Fallible functions return 0 or a negative `enum al_status` and, on failure only, fill the
 * caller's `struct al_error`: one sentence for a person or a model, and a code for programs.  The
 * two travel together, so they cannot disagree.
 */
#ifndef AL_UTIL_ERROR_H
#define AL_UTIL_ERROR_H

#include <stddef.h>

#include "util/mem.h"

/** Failure kinds, as they appear in `_meta["airlock/error"].kind`. */
enum al_status {
    AL_OK = 0,
    AL_ERR_BAD_ARGS = -1,          /**< the caller can mend the arguments */
    AL_ERR_EXECUTION = -2,         /**< git, or the machine, said no */
    AL_ERR_SANDBOX = -3,           /**< outside the boundaries; never approvable */
    AL_ERR_TIMEOUT = -4,           /**< the deadline passed; everything started was killed */
    AL_ERR_CANCELLED = -5,         /**< the caller withdrew the call */
    AL_ERR_APPROVAL_REQUIRED = -6, /**< nobody could be asked; nothing happened */
    AL_ERR_APPROVAL_DENIED = -7,   /**< a person or a rule said no; nothing happened */
    AL_ERR_NOT_GRANTED = -8,       /**< the session's grant does not cover it */
    AL_ERR_NOT_FOUND = -9,         /**< inside airlock only; becomes AL_ERR_EXECUTION in a result */
    AL_ERR_AGAIN = -10, /**< inside airlock only: it changed while it was read, so try again */
};

/** Codes of the `workflow` requirements; 0 means none fits. */
enum al_code {
    AL_CODE_NONE = 0,
    AL_CODE_NO_GIT = 1, /**< inside airlock only: there is no git; none in a result */
    AL_CODE_NOT_INITIALIZED = 7000,
    AL_CODE_SNAPSHOT_DISABLED = 7001,
    AL_CODE_PROTECTED_PATH = 7002,
    AL_CODE_OPERATION_FAILED = 7010,
    AL_CODE_LOCK_TIMEOUT = 7020,
    AL_CODE_CONFLICT = 7030,
    AL_CODE_DIRTY_WORKDIR = 7031,
    AL_CODE_BRANCH_EXISTS = 7032,
    AL_CODE_BRANCH_NOT_FOUND = 7033,
    AL_CODE_REMOTE_ERROR = 7034,
    AL_CODE_TIMEOUT = 7035,
    AL_CODE_NO_STAGED_CHANGES = 7036,
    AL_CODE_STASH_EMPTY = 7037,
};

struct al_error {
    enum al_status status;
    enum al_code code;
    const char *reason; /**< "not_found", "conflict" or NULL; a string constant */
    char *message;      /**< owned; one line, or git's own words */
    char *detail; /**< owned, may be NULL: shown after the message (output before a timeout) */
    const char *remedy; /**< what to do about it, one line; a string constant or NULL */
};

#define AL_ERROR_INIT ((struct al_error){ .status = AL_OK })

/** Release the contents; the error can be set again. */
void al_error_clear(struct al_error *err);

/** Set an error and return `status`, so that `return al_error_set(…)` reads as one thought.
 * `err` may be NULL; what it held before is released. */
int al_error_set(struct al_error *err, enum al_status status, const char *fmt, ...) al_printf(3, 4);

/** The same with a code of `enum al_code`. */
int al_error_set_code(struct al_error *err, enum al_status status, enum al_code code,
                      const char *fmt, ...) al_printf(4, 5);

/** "cannot open 'x': No such file or directory" from errno; the status is AL_ERR_EXECUTION. */
int al_error_errno(struct al_error *err, int errno_value, const char *fmt, ...) al_printf(3, 4);

/** The name in `kind`: "BadArgs", "ExecutionFailed", … */
const char *al_status_kind(enum al_status status);

/** The name of a code, "GIT_BRANCH_NOT_FOUND", or NULL for AL_CODE_NONE. */
const char *al_code_name(enum al_code code);

#endif
