// SPDX-License-Identifier: Apache-2.0
#include "util/error.h"

#include <stdarg.h>
#include <stdlib.h>

#include "util/str.h"

void al_error_clear(struct al_error *err)
{
    free(err->message);
    free(err->detail);
    *err = AL_ERROR_INIT;
}

static int set(struct al_error *err, enum al_status status, enum al_code code, char *message)
{
    if (!err) {
        free(message);
        return status;
    }
    al_error_clear(err);
    err->status = status;
    err->code = code;
    err->message = message;
    return status;
}

int al_error_set(struct al_error *err, enum al_status status, const char *fmt, ...)
{
    struct al_str text = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    return set(err, status, AL_CODE_NONE, al_str_detach(&text));
}

int al_error_set_code(struct al_error *err, enum al_status status, enum al_code code,
                      const char *fmt, ...)
{
    struct al_str text = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    return set(err, status, code, al_str_detach(&text));
}

int al_error_errno(struct al_error *err, int errno_value, const char *fmt, ...)
{
    struct al_str text = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    al_str_addf(&text, ": %s",
                strerrordesc_np(errno_value) ? strerrordesc_np(errno_value) : "unknown error");
    return set(err, AL_ERR_EXECUTION, AL_CODE_NONE, al_str_detach(&text));
}

const char *al_status_kind(enum al_status status)
{
    switch (status) {
    case AL_OK:
        return "Ok";
    case AL_ERR_BAD_ARGS:
        return "BadArgs";
    case AL_ERR_EXECUTION:
    case AL_ERR_NOT_FOUND:
    case AL_ERR_AGAIN:
        return "ExecutionFailed";
    case AL_ERR_SANDBOX:
        return "SandboxViolation";
    case AL_ERR_TIMEOUT:
        return "Timeout";
    case AL_ERR_CANCELLED:
        return "Cancelled";
    case AL_ERR_APPROVAL_REQUIRED:
        return "ApprovalRequired";
    case AL_ERR_APPROVAL_DENIED:
        return "ApprovalDenied";
    case AL_ERR_NOT_GRANTED:
        return "NotGranted";
    }
    return "ExecutionFailed";
}

const char *al_code_name(enum al_code code)
{
    switch (code) {
    case AL_CODE_NONE:
    case AL_CODE_NO_GIT:
        return NULL;
    case AL_CODE_NOT_INITIALIZED:
        return "GIT_NOT_INITIALIZED";
    case AL_CODE_SNAPSHOT_DISABLED:
        return "GIT_SNAPSHOT_DISABLED";
    case AL_CODE_PROTECTED_PATH:
        return "GIT_PROTECTED_PATH";
    case AL_CODE_OPERATION_FAILED:
        return "GIT_OPERATION_FAILED";
    case AL_CODE_LOCK_TIMEOUT:
        return "GIT_LOCK_TIMEOUT";
    case AL_CODE_CONFLICT:
        return "GIT_CONFLICT";
    case AL_CODE_DIRTY_WORKDIR:
        return "GIT_DIRTY_WORKDIR";
    case AL_CODE_BRANCH_EXISTS:
        return "GIT_BRANCH_EXISTS";
    case AL_CODE_BRANCH_NOT_FOUND:
        return "GIT_BRANCH_NOT_FOUND";
    case AL_CODE_REMOTE_ERROR:
        return "GIT_REMOTE_ERROR";
    case AL_CODE_TIMEOUT:
        return "GIT_TIMEOUT";
    case AL_CODE_NO_STAGED_CHANGES:
        return "GIT_NO_STAGED_CHANGES";
    case AL_CODE_STASH_EMPTY:
        return "GIT_STASH_EMPTY";
    }
    return NULL;
}
