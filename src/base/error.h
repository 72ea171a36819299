// SPDX-License-Identifier: Apache-2.0
/*
 * Status codes and error messages.
 *
 * A function that can fail returns 0 or a negative `enum al_status`.  On failure only, it fills the
 * caller's `struct al_error`: one sentence for users and models, and codes for programs.
 */
#ifndef AL_BASE_ERROR_H
#define AL_BASE_ERROR_H

#include <stddef.h>

#include "base/mem.h"

/** Kinds of failure; al_status_kind() names them in `_meta["airlock/error"].kind`. */
enum al_status {
    AL_OK = 0,
    AL_ERR_BAD_ARGS = -1,          /**< the arguments are wrong */
    AL_ERR_EXECUTION = -2,         /**< git or a system call failed */
    AL_ERR_SANDBOX = -3,           /**< outside the sandbox; cannot be approved */
    AL_ERR_TIMEOUT = -4,           /**< the deadline passed; every child was killed */
    AL_ERR_CANCELLED = -5,         /**< the call was cancelled */
    AL_ERR_APPROVAL_REQUIRED = -6, /**< no approval could be asked for; nothing changed */
    AL_ERR_APPROVAL_DENIED = -7,   /**< the user or a rule rejected it; nothing changed */
    AL_ERR_NOT_GRANTED = -8,       /**< not in the grant of the session */
    AL_ERR_NOT_FOUND = -9,         /**< internal; a result has AL_ERR_EXECUTION instead */
    AL_ERR_AGAIN = -10,            /**< internal: a file changed while it was read; try again */
};

/** Error codes of the `workflow` tools; 0: none. */
enum al_code {
    AL_CODE_NONE = 0,
    AL_CODE_NO_GIT = 1, /**< internal: there is no git; not in a result */
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

/** The subject of a failure.  It and the code decide about the remedy (call/remedy.c). */
enum al_subject {
    AL_SUBJECT_NONE = 0,
    /* A name that nothing has; al_error.name says which. */
    AL_SUBJECT_REVISION,
    AL_SUBJECT_BRANCH,
    AL_SUBJECT_THEIR_BRANCH, /**< of the remote */
    AL_SUBJECT_TAG,
    AL_SUBJECT_REMOTE,
    AL_SUBJECT_TRACKED_PATH,
    AL_SUBJECT_PATH,
    AL_SUBJECT_DIRECTORY,
    AL_SUBJECT_HUNK,
    AL_SUBJECT_LINES,
    /* The obstacle. */
    AL_SUBJECT_UNBORN,      /**< no commit yet */
    AL_SUBJECT_NOT_MERGED,  /**< a branch whose commits no other one has */
    AL_SUBJECT_HELD,        /**< a branch that a working tree has checked out */
    AL_SUBJECT_UNTRACKED,   /**< untracked files that would be overwritten */
    AL_SUBJECT_IGNORED,     /**< ignored files */
    AL_SUBJECT_UNMERGED,    /**< a file in conflict */
    AL_SUBJECT_MARKERS,     /**< conflict markers in a file */
    AL_SUBJECT_IN_PROGRESS, /**< a merge that is not ended */
    AL_SUBJECT_LEFT_TO_GIT, /**< an operation that only git itself goes on with */
    AL_SUBJECT_EMPTIED,     /**< a commit that would change nothing */
    AL_SUBJECT_FILTER,      /**< a program for the content of a file */
    AL_SUBJECT_IDENTITY,    /**< no name and address to commit with */
    AL_SUBJECT_BARE,        /**< no working tree */
    AL_SUBJECT_OUTSIDE,     /**< a path outside of the repository */
    AL_SUBJECT_EXPRESSION,  /**< a regular expression */
    AL_SUBJECT_REQUIRED,    /**< an argument that is missing */
    AL_SUBJECT_COUNT,
};

struct al_error {
    enum al_status status;
    enum al_code code;
    enum al_subject subject;
    char *name;         /**< owned or NULL; safe text */
    const char *reason; /**< "not_found", "conflict" or NULL; a string constant */
    char *message;      /**< owned; one line, or git's output */
    char
        *detail; /**< owned or NULL; shown after the message, for example output before a timeout */
    const char *remedy; /**< what the user can do, one line; a string constant or NULL */
};

#define AL_ERROR_INIT ((struct al_error){ .status = AL_OK })

/** Release the contents; the error can be set again. */
void al_error_clear(struct al_error *err);

/** Set an error and return `status`, for `return al_error_set(…)`.  `err` may be NULL.  The
 * previous contents are released. */
#define al_error_set(err, status, ...) al_error_set_code(err, status, AL_CODE_NONE, __VA_ARGS__)

/** The same with a code of `enum al_code`. */
int al_error_set_code(struct al_error *err, enum al_status status, enum al_code code,
                      const char *fmt, ...) al_printf(4, 5);

/** Say what an error is about, and return `status`, which it was set with.  `err` may be NULL.
 *
 * @param name  Safe text, or NULL. */
int al_error_about(int status, struct al_error *err, enum al_subject subject, const char *name);

/** Say what the user can do about an error, or why it came, with string constants or NULL; and
 * return `status`, which it was set with.  `err` may be NULL. */
int al_error_remedy(int status, struct al_error *err, const char *remedy);
int al_error_reason(int status, struct al_error *err, const char *reason);

/** An error with the text of an errno appended, as in "cannot open 'x': No such file or directory".
 * The status is AL_ERR_EXECUTION. */
int al_error_errno(struct al_error *err, int errno_value, const char *fmt, ...) al_printf(3, 4);

/** Pass on an error that was kept aside if `r` is one, and return `r`.  `err` may be NULL. */
int al_error_pass(int r, struct al_error *why, struct al_error *err);

/** The name of a status: "BadArgs", "ExecutionFailed", … */
const char *al_status_kind(enum al_status status);

/** The name of a code, such as "GIT_BRANCH_NOT_FOUND".  NULL for AL_CODE_NONE and AL_CODE_NO_GIT.
 */
const char *al_code_name(enum al_code code);

#endif
