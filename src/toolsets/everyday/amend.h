// SPDX-License-Identifier: Apache-2.0
/* Tells an amend that would change nothing. */
#ifndef AL_TOOLSETS_EVERYDAY_AMEND_H
#define AL_TOOLSETS_EVERYDAY_AMEND_H

#include <stdbool.h>

#include "tool/call.h"

/**
 * Test whether an amend of what is staged would leave the last commit as it is, except for its
 * date: nothing is staged, and the message is the same.
 *
 * @param message  The new message; NULL: the old one.
 */
int al_amend_changes_nothing(struct al_call *call, const char *message, bool *ret_nothing,
                             struct al_error *err);

#endif
