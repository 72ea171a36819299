// SPDX-License-Identifier: Apache-2.0
/*
 * Failures that say the next step in words of this session.
 *
 * git's message is folded into one line without git's advice, which names commands that the caller
 * does not have.  The remedy comes from the table of call/remedy.c unless the tool has set one.
 */
#ifndef AL_CALL_FAILURE_H
#define AL_CALL_FAILURE_H

#include "base/error.h"
#include "call/call.h"

/** For `complete_error` of a tool of toolset `everyday`: fold the message, and say what may have
 * been meant by a name that nothing has. */
void al_failure_complete(struct al_call *call, struct al_error *err);

/** Begin to complete an error: fold git's message into one line, without git's advice.  Indented
 * names become a list.  False: the error is not to be changed, such as one about an approval. */
bool al_failure_begin(struct al_error *err);

/** Set AL_ERR_BAD_ARGS, or AL_ERR_EXECUTION, with a remedy, a string constant. */
#define al_failure_bad_args(err, remedy, ...)                                                      \
    al_error_remedy(al_error_set(err, AL_ERR_BAD_ARGS, __VA_ARGS__), err, remedy)
#define al_failure_set(err, remedy, ...)                                                           \
    al_error_remedy(al_error_set(err, AL_ERR_EXECUTION, __VA_ARGS__), err, remedy)

#endif
