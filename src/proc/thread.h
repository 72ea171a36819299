// SPDX-License-Identifier: Apache-2.0
/* Threads that hold the filter of exec-once children themselves. */
#ifndef AL_PROC_THREAD_H
#define AL_PROC_THREAD_H

#include <stdbool.h>

#include "proc/proc.h"

/**
 * Whether the calling thread holds the filter `sandbox` asks for, so that a child of it has it from
 * the start.  A thread that al_proc_confine_thread() was called on takes it up the first time it is
 * asked for.
 */
bool al_thread_holds_filter(const struct al_sandbox *sandbox);

/** As al_proc_run_unfiltered(), to start a child: other errands do not wait for it. */
void al_thread_start_unfiltered(void (*start)(void *payload), void *payload);

#endif
