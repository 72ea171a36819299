// SPDX-License-Identifier: Apache-2.0
/* The records of calls whose process died. */
#ifndef AL_JOURNAL_LEFT_H
#define AL_JOURNAL_LEFT_H

#include "journal/slots.h"

/** An al_slots_left_fn whose context is a struct al_chain: append the last line that was prepared,
 * unless the process died after it had written the call's own. */
int al_left_record(void *context, const char *text, size_t len);

#endif
