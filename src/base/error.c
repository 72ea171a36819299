// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/str.h"

void al_error_clear(struct al_error *err)
{
    free(err->message);
    free(err->detail);
    free(err->name);
    *err = AL_ERROR_INIT;
}

int al_error_set_code(struct al_error *err, enum al_status status, enum al_code code,
                      const char *fmt, ...)
{
    struct al_str text = AL_STR_INIT;
    va_list args;

    if (!err)
        return status;
    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    al_error_clear(err); /* which the arguments may be from */
    *err = (struct al_error){ .status = status, .code = code, .message = al_str_detach(&text) };
    return status;
}

int al_error_pass(int r, struct al_error *why, struct al_error *err)
{
    if (r < 0 && err) {
        al_error_clear(err);
        *err = *why;
        *why = AL_ERROR_INIT;
    }
    return r;
}

int al_error_remedy(int status, struct al_error *err, const char *remedy)
{
    if (err)
        err->remedy = remedy;
    return status;
}

int al_error_reason(int status, struct al_error *err, const char *reason)
{
    if (err)
        err->reason = reason;
    return status;
}

int al_error_about(int status, struct al_error *err, enum al_subject subject, const char *name)
{
    if (err) {
        free(err->name);
        err->name = name ? al_strdup(name) : NULL;
        err->subject = subject;
    }
    return status;
}

int al_error_errno(struct al_error *err, int errno_value, const char *fmt, ...)
{
    const char *why = strerrordesc_np(errno_value);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    return al_error_set(err, AL_ERR_EXECUTION, "%s: %s", text.buf, why ? why : "unknown error");
}

static const char *const kinds[] = {
    [-AL_OK] = "Ok",
    [-AL_ERR_BAD_ARGS] = "BadArgs",
    [-AL_ERR_EXECUTION] = "ExecutionFailed",
    [-AL_ERR_SANDBOX] = "SandboxViolation",
    [-AL_ERR_TIMEOUT] = "Timeout",
    [-AL_ERR_CANCELLED] = "Cancelled",
    [-AL_ERR_APPROVAL_REQUIRED] = "ApprovalRequired",
    [-AL_ERR_APPROVAL_DENIED] = "ApprovalDenied",
    [-AL_ERR_NOT_GRANTED] = "NotGranted",
    [-AL_ERR_NOT_FOUND] = "ExecutionFailed",
    [-AL_ERR_AGAIN] = "ExecutionFailed",
};

const char *al_status_kind(enum al_status status)
{
    return kinds[-status];
}

#define FIRST_CODE AL_CODE_NOT_INITIALIZED

static const char *const code_names[] = {
    [0] = "GIT_NOT_INITIALIZED",
    [AL_CODE_SNAPSHOT_DISABLED - FIRST_CODE] = "GIT_SNAPSHOT_DISABLED",
    [AL_CODE_PROTECTED_PATH - FIRST_CODE] = "GIT_PROTECTED_PATH",
    [AL_CODE_OPERATION_FAILED - FIRST_CODE] = "GIT_OPERATION_FAILED",
    [AL_CODE_LOCK_TIMEOUT - FIRST_CODE] = "GIT_LOCK_TIMEOUT",
    [AL_CODE_CONFLICT - FIRST_CODE] = "GIT_CONFLICT",
    [AL_CODE_DIRTY_WORKDIR - FIRST_CODE] = "GIT_DIRTY_WORKDIR",
    [AL_CODE_BRANCH_EXISTS - FIRST_CODE] = "GIT_BRANCH_EXISTS",
    [AL_CODE_BRANCH_NOT_FOUND - FIRST_CODE] = "GIT_BRANCH_NOT_FOUND",
    [AL_CODE_REMOTE_ERROR - FIRST_CODE] = "GIT_REMOTE_ERROR",
    [AL_CODE_TIMEOUT - FIRST_CODE] = "GIT_TIMEOUT",
    [AL_CODE_NO_STAGED_CHANGES - FIRST_CODE] = "GIT_NO_STAGED_CHANGES",
    [AL_CODE_STASH_EMPTY - FIRST_CODE] = "GIT_STASH_EMPTY",
};

const char *al_code_name(enum al_code code)
{
    return code < FIRST_CODE ? NULL : code_names[code - FIRST_CODE];
}
