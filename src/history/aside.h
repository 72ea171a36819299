// SPDX-License-Identifier: Apache-2.0
/*
 * Moving aside: what would be destroyed is moved, whole, to where nobody but airlock looks, and can
 * be moved back.
 *
 *   <common git directory>/airlock/aside/<seq>/
 *     record    what is here: see below
 *     <n>       the n-th thing: a file or a whole directory, as it was
 *   <folder>/.airlock-aside-<seq>/
 *     <n>       the same for what lies on another file system than the git directory: rename(2)
 *               cannot take it further.  The folder is the thing's own, or one the caller names.
 *     .gitignore  "*": the repository around does not list it; and whose folder it is
 *
 * An entry <seq> is what one call moved.  Its record is a sequence of words, each with a NUL:
 *
 *   note <text>     its maker's own; its things belong together: all of them go back, or none.
 *                   Files without one were saved by somebody, each for itself.
 *   item <path>     a thing, where it was: written before it is moved
 *   beside <path>   the folder that has the hidden one
 *   end             all is moved.  An entry without it, or after "again", was on its way when
 *                   airlock was killed: al_aside_tidy() moves back what is there.
 *   gone            it is being removed for good
 *
 * Whether a thing is aside is told by whether it is there: a crash leaves it whole at one of two
 * places.  All is done by descriptor, and no link is followed.  An entry that is open is locked
 * (flock(2)) against every other process.
 */
#ifndef AL_HISTORY_ASIDE_H
#define AL_HISTORY_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/** An entry.  Set up with AL_ASIDE_ENTRY_INIT. */
struct al_aside_entry {
    unsigned long seq;
    char *note;           /**< NULL: none */
    struct al_strv items; /**< where they were, absolute */
    bool is_whole;        /**< it has its "end": nothing is under way */
    bool is_gone;         /**< private, as all that follows */
    char *beside;         /* the folder of the hidden one; NULL: there is none */
    int fd;               /* its own folder */
    int record_fd;
    int beside_fd;
    int hidden_fd;
};

#define AL_ASIDE_ENTRY_INIT                                                                        \
    ((struct al_aside_entry){ .fd = -1, .record_fd = -1, .beside_fd = -1, .hidden_fd = -1 })

/** Close and free it; what is aside stays. */
void al_aside_entry_clear(struct al_aside_entry *entry);

/**
 * Begin an entry.  It is empty, open, and locked.
 *
 * @param common_fd  The common git directory.
 * @param note       Any text without NUL; NULL: see the record.  One without is gone again soon,
 *                   and on the disk only with its end.
 * @param beside_fd  Where a hidden folder is made if one is needed; -1: beside the thing.
 */
int al_aside_begin(int common_fd, const char *note, int beside_fd, struct al_aside_entry *ret_entry,
                   struct al_error *err);

/**
 * Move a file or directory aside, into an entry that has been begun.
 *
 * @param path  Where it belongs, absolute: `name` in `parent_fd`.
 * @return 0; AL_ERR_NOT_FOUND when it is not there; AL_ERR_EXECUTION, and it is where it was.
 */
int al_aside_move(struct al_aside_entry *entry, int parent_fd, const char *name, const char *path,
                  struct al_error *err);

/** Everything is moved: the entry stays.  It is on the disk when this returns. */
int al_aside_end(struct al_aside_entry *entry, struct al_error *err);

/** The folder that has a thing, and its name there; -1: it was not moved, or is back. */
int al_aside_folder_of(const struct al_aside_entry *entry, size_t item, char ret_name[32]);

/**
 * Move everything back to where it was, the last one first, and remove the entry.
 *
 * @return 0; AL_ERR_EXECUTION naming what is in the way or cannot be moved: all is aside again.
 */
int al_aside_return(struct al_aside_entry *entry, struct al_error *err);

/**
 * Open the newest entry before another one that no other process has open.
 *
 * @param seq    ULONG_MAX for the newest of all; the number of the one that is found.
 * @param entry  Cleared first.
 * @return false when there is none.
 */
bool al_aside_next(int common_fd, unsigned long *seq, struct al_aside_entry *entry);

/** Remove an entry and all that is in it for good.  It is closed. */
void al_aside_remove(struct al_aside_entry *entry);

/**
 * Clear up after processes that were killed: what was under way is moved back, what is empty goes.
 * A thing that cannot go back, since something is there by now, stays aside as an entry.
 *
 * @param below  Where the repository's things can have been: absolute directories.  A record that
 *               names another place is not airlock's, but came with the repository.
 * @param ret_kept  What stays aside is added: "<path>: <place>", each once, with "?" as the path if
 *                  a power failure took it; NULL: nobody asks.
 */
void al_aside_tidy(int common_fd, const struct al_strv *below, struct al_strv *ret_kept);

/**
 * Remove entries for good, oldest first.
 *
 * @param needed_since_ns  Entries made before are needed by nobody; INT64_MAX: none is needed.
 * @param young_since_ns   Entries made since stay even if there is too much.
 * @param max_bytes        All together may have so many; UINT64_MAX: no bound.
 */
void al_aside_gc(int common_fd, int64_t needed_since_ns, int64_t young_since_ns,
                 uint64_t max_bytes);

#endif
