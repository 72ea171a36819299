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
 *                            A file saved where git has just removed one is moved aside
 *
 * al_rescue_end() looks at what is aside when the call has done its work: what the store has is
 * dropped, all else stays aside and is named.  A file that somebody still has open for writing
 * stays as well.  The files in the git directory are git's own.
 *
 * A crash leaves what was moved in an entry that is not whole, and the next start moves it back to
 * where nothing else is by then (al_aside_tidy()).
 */
#ifndef AL_HISTORY_RESCUE_H
#define AL_HISTORY_RESCUE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/location.h"
#include "git/oid.h"
#include "history/checkpoint.h"
#include "proc/watch.h"

/** A look at a file: what it is, and whether somebody writes it still. */
struct al_look {
    mode_t mode;       /**< st_mode; 0: there is nothing */
    struct al_oid oid; /**< of a regular file's content, and of a link's target; none for others,
                          and for what cannot be read */
    bool is_open;      /**< somebody has it open for writing */
};

/**
 * Look at an entry of a directory.  Nobody else opens it meanwhile, since nobody knows its name;
 * who has had it open may still write into it, and then `is_open` is set: a lease for reading
 * (fcntl(2), F_SETLEASE) is refused.  A file system without leases says that nobody does.
 */
void al_look_at(int dir_fd, const char *name, bool sha256, struct al_look *ret_look);

/** Test whether a file or a link is there that has this blob; NULL is none. */
bool al_look_has(const struct al_look *look, bool sha256, const char *blob);

/** The files that one call takes out of a working tree. */
struct al_rescue;

/** Begin.  `at` is borrowed.
 * @param is_required  As al_watch.is_required. */
int al_rescue_begin(const struct al_location *at, bool is_required, struct al_rescue **ret_rescue,
                    struct al_error *err);

/** The al_proc_spec.watch, and al_run_limits.watch. */
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

/**
 * Look at what is aside, when git has done its work: what `store` has is dropped.
 *
 * @param ret_kept  What stays aside is added, as safe text: "<name>: <place>", with a remark if
 *                  somebody is still writing it.  On failure that is all.
 */
int al_rescue_end(struct al_rescue *rescue, struct al_store *store, struct al_strv *ret_kept,
                  struct al_error *err);

/** Release it.  Everything stays aside without al_rescue_end().  NULL is allowed. */
void al_rescue_free(struct al_rescue *rescue);

#endif
