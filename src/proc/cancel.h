// SPDX-License-Identifier: Apache-2.0
/*
 * A cancel token: any thread can fire it, and poll(2) sees it.
 *
 * The thread that may cancel and the thread that works share it by reference count.
 */
#ifndef AL_PROC_CANCEL_H
#define AL_PROC_CANCEL_H

#include <stdbool.h>

struct al_cancel;

/** A new token with one reference.  Never NULL. */
struct al_cancel *al_cancel_new(void);

/** A new token that also counts as fired once `outer` has fired; `outer` may be NULL.  It holds a
 * reference to `outer`, and firing it does not fire `outer`.  Never NULL. */
struct al_cancel *al_cancel_new_within(struct al_cancel *outer);

/** Add a reference.  Returns `cancel`.  Threads: any. */
struct al_cancel *al_cancel_ref(struct al_cancel *cancel);

/** Drop a reference; NULL is fine. */
void al_cancel_unref(struct al_cancel *cancel);

/** Cleanup for `al_auto(al_cancel_unrefp)`. */
void al_cancel_unrefp(struct al_cancel **cancel);

/** Fire the token; firing it again does nothing.  Threads: any. */
void al_cancel_fire(struct al_cancel *cancel);

/** Test whether the token has fired; false for NULL.  Threads: any. */
bool al_cancel_fired(const struct al_cancel *cancel);

/** A descriptor that is readable from the time the token fires; -1 for NULL.  Borrowed. */
int al_cancel_fd(const struct al_cancel *cancel);

#endif
