// SPDX-License-Identifier: Apache-2.0
/*
 * Who may hold a root that was released.
 *
 * Time is counted in epochs.  Everybody enters in the present epoch, and an epoch begins only when
 * all those have left that entered before the last one.  What was released in an epoch is therefore
 * held by nobody two epochs later: whoever entered since did not find it any more.
 */
#ifndef AL_GUARD_ROOT_USE_H
#define AL_GUARD_ROOT_USE_H

#include <stdbool.h>
#include <stdint.h>

struct al_root_use;

struct al_root_use *al_root_use_new(void);
void al_root_use_free(struct al_root_use *use);

/** The epoch that was entered.  Threads: safe, as everything here. */
uint64_t al_root_use_enter(struct al_root_use *use);
void al_root_use_leave(struct al_root_use *use, uint64_t entered);

/** The present epoch, never 0. */
uint64_t al_root_use_now(struct al_root_use *use);

/** Whether everybody has left who was there when it was `released`. */
bool al_root_use_is_over(struct al_root_use *use, uint64_t released);

#endif
