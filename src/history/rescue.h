// SPDX-License-Identifier: Apache-2.0
/*
 * Nothing that git takes out of the working tree is destroyed before somebody has looked at it.
 *
 * A user, another agent or a program may save a file at any moment: after the checkpoint was taken,
 * and between git's own look at the file and its unlink(2).  So git's children are watched
 * (proc/watch.h), and for each file of the working tree:
 *
 *   git removes it           it is moved aside (history/aside.h)
 *   git renames one over it  both are exchanged; what comes out is moved aside
 *   git truncates it         it is moved aside, and git gets a new file
 *   git creates it           git gets the new file, and until it has closed that, others wait who
 *                            open it (a lease, fcntl(2)): no save is mixed with what git writes.
 *                            What somebody saved where git has just removed a file is moved aside
 *
 * When the call has done its work, al_rescue_end() looks at what is aside: what the store has is
 * dropped, all else stays aside and is named.  A file that somebody still has open for writing
 * stays as well.  The files in the git directory are git's own.
 *
 * A crash leaves what was moved in an entry that is not whole, and the next start moves it back to
 * where nothing else is by then (al_aside_tidy()).
 */
#ifndef AL_HISTORY_RESCUE_H
#define AL_HISTORY_RESCUE_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/location.h"
#include "gitops/oid.h"
#include "proc/watch.h"
#include "util/error.h"
#include "util/str.h"

/** What one call takes out of a working tree. */
struct al_rescue;

/** Begin.  `at` is borrowed.
 * @param is_required  As al_watch.is_required. */
int al_rescue_begin(const struct al_location *at, bool is_required, struct al_rescue **ret_rescue,
                    struct al_error *err);

/** For al_proc_spec.watch, and al_run_limits.watch. */
const struct al_watch *al_rescue_watch(struct al_rescue *rescue);

/**
 * The same for what airlock removes or replaces itself: unlink(2), and rename(2) within a
 * directory.
 *
 * @param watch  al_run_limits.watch; NULL: no call with a checkpoint is at work, so what is there
 * is destroyed.
 * @param path   The absolute path of what goes.
 * @return 0 or -errno.
 */
int al_rescue_unlink(const struct al_watch *watch, int parent_fd, const char *name,
                     const char *path);
int al_rescue_rename(const struct al_watch *watch, int parent_fd, const char *from, const char *to,
                     const char *path);

/** The files, relative to the top and sorted, that git and the functions above have removed or made
 * so far.  False: the kernel cannot tell. */
bool al_rescue_take_touched(struct al_rescue *rescue, struct al_strv *ret_files);

/** Finds out which blobs are in the store: sets ret_has[i] for oids[i]. */
typedef int al_rescue_has_fn(void *payload, const struct al_oid *oids, size_t count, bool *ret_has,
                             struct al_error *err);

/** A file that stays aside. */
struct al_rescued {
    char *name;   /**< relative to the top */
    char *place;  /**< where it is now, absolute */
    bool is_open; /**< somebody was still writing it */
};

/** Those of one call. */
struct al_rescued_list {
    struct al_rescued *items;
    size_t count;
};
void al_rescued_list_clear(struct al_rescued_list *list);

/** Look at what is aside, when git has done its work.  On failure all of it stays aside. */
int al_rescue_end(struct al_rescue *rescue, bool sha256, al_rescue_has_fn *has, void *payload,
                  struct al_rescued_list *ret_kept, struct al_error *err);

/** Release it.  Without al_rescue_end(), everything stays aside.  NULL is allowed. */
void al_rescue_free(struct al_rescue *rescue);

#endif
