// SPDX-License-Identifier: Apache-2.0
/*
 * A cancellation token: fired once, from any thread, seen by poll().
 *
 * Shared by reference count between the thread that may cancel and the thread that works.
 */
#ifndef AL_PROC_CANCEL_H
#define AL_PROC_CANCEL_H

#include <stdbool.h>

struct al_cancel;

/** A new token with one reference.  Never NULL. */
struct al_cancel *al_cancel_new(void);
struct al_cancel *al_cancel_ref(struct al_cancel *cancel);

/**
 * Make a token that may have been fired a new one again.  False when it cannot be: somebody else
 * has a reference too, or it has no descriptor.
 */
bool al_cancel_renew(struct al_cancel *cancel);

/** Drop a reference; NULL is fine. */
void al_cancel_unref(struct al_cancel *cancel);

/** Cleanup for `al_auto(al_cancel_unrefp)`. */
void al_cancel_unrefp(struct al_cancel **cancel);

/** Fire the token.  Threads: any; firing twice is harmless. */
void al_cancel_fire(struct al_cancel *cancel);

/** Whether it was fired; NULL was not. */
bool al_cancel_fired(const struct al_cancel *cancel);

/** A descriptor that polls readable for ever once fired; -1 for NULL.  Borrowed. */
int al_cancel_fd(const struct al_cancel *cancel);

#endif
