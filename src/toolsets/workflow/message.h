// SPDX-License-Identifier: Apache-2.0
/* The message of a commit that was given none. */
#ifndef AL_TOOLSETS_WORKFLOW_MESSAGE_H
#define AL_TOOLSETS_WORKFLOW_MESSAGE_H

#include "util/error.h"

struct al_call;

/**
 * Make a commit message from the staged change.
 *
 * If the client offers a model, the model is asked, with as much of the diff as fits.  Its answer
 * is used only if it has the form of a commit message.  Otherwise the message is made from the
 * names of the files.
 *
 * @param ret_message  Caller frees.
 */
int al_workflow_make_message(struct al_call *call, char **ret_message, struct al_error *err);

#endif
