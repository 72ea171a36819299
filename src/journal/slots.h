// SPDX-License-Identifier: Apache-2.0
/*
 * The files of running calls, `<pid>-<n>`: lines about a call, of which the last whole one counts.
 * A file whose last line is empty, or that has none, is idle: no call has it.
 *
 * Each file is locked by its process, so that one whose process died can be told from one whose
 * call is long, on a machine where numbers of processes are used again.
 *
 * A file serves one call after the other and keeps its size.  Creating and removing one for each
 * call gets slow at a few hundred calls a second (ext4 does not use an inode again for some seconds
 * after it was freed, and searches past all of those).  To be idle is to end in an empty line,
 * which costs a fraction of a rename; when nobody waits any more the file gets a dot before its
 * name (al_slots_hide_idle()), so that what is seen are calls that run.  As many as ran at once
 * stay until the end of the process, up to a number.  Whether a file counts when its process has
 * died is a matter of its last line, not of the dot.
 *
 * A line that is shorter than what the file held is filled up with spaces before its newline.
 * Wherever a process dies in the write, the file ends in the empty line that was there before, in
 * a part of the new line, which as JSON is none, or in all of it.
 */
#ifndef AL_JOURNAL_SLOTS_H
#define AL_JOURNAL_SLOTS_H

#include <stddef.h>

#include "util/error.h"
#include "util/str.h"

struct al_slots;
struct al_slot;

/** Use (and create, 0700) the directory `path`.  Threads: then safe. */
int al_slots_open(const char *path, struct al_slots **ret_slots, struct al_error *err);

/** Remove the files no call uses.  Slots that were taken and not given back stay on the disk. */
void al_slots_free(struct al_slots *slots);

/** A call begins: show a line about it.  The line has no newline, is not empty, and gets its end
 * here.  0 or -errno. */
int al_slots_take(struct al_slots *slots, struct al_str *line, struct al_slot **ret_slot);

/** The same, but the file may stay hidden until al_slots_show(). */
int al_slots_take_unseen(struct al_slots *slots, struct al_str *line, struct al_slot **ret_slot);

/** From here on the file is seen, unless its name is somebody's. */
void al_slots_show(struct al_slots *slots, struct al_slot *slot);

/** Show another line, which counts instead of those before it.  0 or -errno; the others count then.
 */
int al_slots_extend(struct al_slot *slot, struct al_str *line);

/** Have the lines, and the file's name, survive a loss of power.  0 or -errno. */
int al_slots_sync(const struct al_slots *slots, struct al_slot *slot);

/** The call has ended: its file is idle, or goes.  The slot is not the caller's any more. */
void al_slots_give_back(struct al_slots *slots, struct al_slot *slot);

/** Hide the files that are idle: once the caller of a call that ended has its answer. */
void al_slots_hide_idle(struct al_slots *slots);

/** The file is to stay as it is.  Frees the slot. */
void al_slots_leave(struct al_slot *slot);

/** Larger files are none of ours. */
#define AL_SLOT_MAX_BYTES (64u << 20)

/** The lines of a file that was left; 0 when it has served its purpose. */
typedef int al_slots_left_fn(void *context, const char *text, size_t len);

/** Hand over the content of each file whose process has died, and remove the file if `left` agrees;
 * idle ones are removed.  Of several processes that do so at once, one gets a file. */
void al_slots_collect(struct al_slots *slots, al_slots_left_fn *left, void *context);

#endif
