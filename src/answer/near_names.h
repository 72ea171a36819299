// SPDX-License-Identifier: Apache-2.0
/* A failure about a name that is not there: says so in one wording, with the name that may have
 * been meant. */
#ifndef AL_ANSWER_NEAR_NAMES_H
#define AL_ANSWER_NEAR_NAMES_H

#include "tool/call.h"
#include "util/error.h"

/** Complete the message of a failure that names a revision, branch, tag, remote or path that there
 * is none of.  Other messages stay as they are.  Up to four git children, of failures only. */
void al_near_names_complete(struct al_call *call, struct al_error *err);

#endif
