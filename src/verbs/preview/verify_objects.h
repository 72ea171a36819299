// SPDX-License-Identifier: Apache-2.0
/*
 * Verify objects against their ids, so that no forged one is shown as if it were the object.
 *
 * Source: git-cat-file(1) "BATCH OUTPUT", gitformat-pack(5).
 */
#ifndef AL_VERBS_PREVIEW_VERIFY_OBJECTS_H
#define AL_VERBS_PREVIEW_VERIFY_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "git/repo/repo.h"

/** At most this many bytes are verified in one call. */
#ifndef AL_VERIFY_MAX_BYTES /* tests compile with a smaller limit */
#define AL_VERIFY_MAX_BYTES (128u << 20)
#endif

/**
 * Hash objects, compare the hashes with their ids, and add the ids to the budget's stable_read.
 *
 * @param words         Object names for `git cat-file`, one a line, of a lender as well.  Missing
 *                      objects are ignored.
 * @param ret_complete  Set to false when there were too many bytes to verify all; else unchanged.
 * @return 0, or AL_ERR_EXECUTION naming the first object whose hash differs.
 */
int al_git_verify_objects(const struct al_location *at, const struct al_str *words,
                          bool *ret_complete, struct al_error *err);

/** Verify a commit, its root tree and all trees below: which files the commit has. */
int al_git_verify_tree(const struct al_repo *repo, const char *commit, bool *ret_complete,
                       struct al_error *err);

/** Verify the commits that `git rev-list` prints for these arguments (ending with NULL). */
int al_git_verify_commits(const struct al_repo *repo, const char *const *words, bool *ret_complete,
                          struct al_error *err);

/* --- Stable read --- */

/*
 * Detect objects that change while a user is shown them.
 *
 * Objects that are shown are read twice: by git, which shows them, and by airlock, which verifies
 * them against their ids.  An object replaced between the two reads would show content that does
 * not exist.  The kernel records when a file or directory last changed (ctime), and no program can
 * set that time: an object that did not change since the first read began was the same in both
 * reads.
 *
 *     al_auto(al_stable_read_clear) struct al_stable_read reading = AL_STABLE_READ_INIT;
 *
 *     al_stable_read_begin(&reading);
 *     repo->at.budget->stable_read = &reading;
 *     ... run git, and al_git_verify_objects() ...
 *     r = al_stable_read_check(repo, &reading, &is_stable, err);
 *
 * Source: inode(7) "ctime", clock_getres(2) CLOCK_REALTIME_COARSE, gitrepository-layout(5).
 */

/** The objects that were read, and the start of the time window. */
struct al_stable_read {
    int64_t since_ns;
    struct al_strv oids;
};

#define AL_STABLE_READ_INIT ((struct al_stable_read){ .oids = AL_STRV_INIT })

/** Start the time window, and forget the objects of an earlier one. */
void al_stable_read_begin(struct al_stable_read *reading);
void al_stable_read_clear(struct al_stable_read *reading);

/** Wait until changes made just now lie before a new window, in each round, from 1, longer: another
 * process may be at work, or the clock was set back.  Returns early when the call is cancelled. */
void al_stable_read_wait(const struct al_run_limits *budget, int round);

/**
 * Check whether anything that the objects are read from changed in the window: loose objects,
 * packs, the directories of both, and alternates.  The answer is true without objects.
 *
 * @return 0; AL_ERR_EXECUTION when one of these is a symbolic link, since its target can be changed
 *         without a trace.
 */
int al_stable_read_check(const struct al_repo *repo, const struct al_stable_read *reading,
                         bool *ret_stable, struct al_error *err);

#endif
