// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that install the seccomp filter of exec-once children on themselves.
 *
 *   state           the thread                                     its exec-once children
 *   unfiltered      never called al_proc_confine_thread(), or no   install the filter themselves
 *                   helper thread could be made
 *   FILTER_PENDING  will install the filter for its first child    -
 *   FILTER_ACTIVE   has the filter                                 inherit the filter
 *   FILTER_FAILED   has no_new_privs only: seccomp(2) failed       install the filter themselves
 *
 * A filter is never removed.  A thread that is active or failed hands other kinds of work to an
 * unfiltered helper thread: children of another kind, sockets, new threads.
 */
#ifndef AL_PROC_THREAD_H
#define AL_PROC_THREAD_H

#include <stdbool.h>

#include "proc/proc.h"

/**
 * Test whether the calling thread has the filter that `sandbox` asks for, so that its child
 * inherits it. Installs the filter if the thread's state is pending.
 */
bool al_thread_holds_filter(const struct al_confinement *sandbox);

/** As al_proc_run_unfiltered(), for starting a child; other tasks do not wait behind it. */
void al_thread_start_unfiltered(void (*start)(void *payload), void *payload);

#endif
