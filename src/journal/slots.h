// SPDX-License-Identifier: Apache-2.0
/*
 * The files of running calls: `<pid>-<n>` while a call runs, and afterwards only if its process
 * died.
 *
 * Each file is locked by its process, so that one whose process died can be told from one whose
 * call is long, on a machine where numbers of processes are used again.
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

/** Show more content behind what is there.  0 or -errno. */
int al_slots_extend(struct al_slot *slot, const void *data, size_t len);

/** The call has ended: its file goes.  Frees the slot. */
void al_slots_give_back(struct al_slots *slots, struct al_slot *slot);

/** The file is to stay.  Frees the slot. */
void al_slots_leave(struct al_slot *slot);

/** Larger files are none of ours. */
#define AL_SLOT_MAX_BYTES (64u << 20)

/** A file that was left; 0 when it has served its purpose. */
typedef int al_slots_left_fn(void *context, const char *text, size_t len);

/** Hand over the content of each file whose process has died, and remove the file if `left` agrees;
 * idle and empty ones are removed.  Of several processes that do so at once, one gets a file. */
void al_slots_collect(struct al_slots *slots, al_slots_left_fn *left, void *context);

#endif
