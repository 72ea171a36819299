// SPDX-License-Identifier: Apache-2.0
/*
 * The files of running calls: `<pid>-<n>` while a call runs, and afterwards only if its process
 * died.
 *
 * A file is renamed to `.<pid>-<n>` when its call ends and serves the next one.  Creating and
 * removing one for each call gets slow at a few hundred calls a second: ext4 does not use an inode
 * again for some seconds after it was freed, and searches past all of those.
 */
#ifndef AL_JOURNAL_SLOTS_H
#define AL_JOURNAL_SLOTS_H

#include <stddef.h>

#include "util/error.h"

struct al_slots;
struct al_slot;

/** Use (and create, 0700) the directory `path`.  Threads: then safe. */
int al_slots_open(const char *path, struct al_slots **ret_slots, struct al_error *err);

/** Remove the files no call uses.  Slots that were taken and not given back stay on the disk. */
void al_slots_free(struct al_slots *slots);

/** Show a file with this content.  0 or -errno. */
int al_slots_take(struct al_slots *slots, const void *data, size_t len, struct al_slot **ret_slot);

/** The call has ended: its file goes.  Frees the slot. */
void al_slots_give_back(struct al_slots *slots, struct al_slot *slot);

/** The file is to stay.  Frees the slot. */
void al_slots_leave(struct al_slot *slot);

#endif
