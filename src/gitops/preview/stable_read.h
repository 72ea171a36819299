// SPDX-License-Identifier: Apache-2.0
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
 *     budget->stable_read = &reading;
 *     ... run git, and al_git_verify_objects() ...
 *     r = al_stable_read_check(repo, &reading, &is_stable, err);
 *
 * Source: inode(7) "ctime", clock_getres(2) CLOCK_REALTIME_COARSE, gitrepository-layout(5).
 */
#ifndef AL_GITOPS_PREVIEW_STABLE_READ_H
#define AL_GITOPS_PREVIEW_STABLE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** The clock of a file system may be this far behind the local clock. */
#define AL_STABLE_READ_MARGIN_MS 20

/** The objects that were read, and the start of the time window. */
struct al_stable_read {
    int64_t since_ns;
    struct al_strv oids;
};

#define AL_STABLE_READ_INIT ((struct al_stable_read){ .oids = AL_STRV_INIT })

/** Start the time window, and forget the objects of an earlier one. */
void al_stable_read_begin(struct al_stable_read *reading);
void al_stable_read_clear(struct al_stable_read *reading);

/** Wait until changes made just now lie before a new window. Returns early when the call is
 * cancelled. */
void al_stable_read_wait(const struct al_run_limits *budget);

/**
 * Check whether anything that the objects are read from changed in the window: loose objects,
 * packs, the directories of both, and alternates.  Without objects the answer is true.
 *
 * @return 0; AL_ERR_EXECUTION when one of these is a symbolic link, since its target can be changed
 *         without a trace.
 */
int al_stable_read_check(const struct al_repo *repo, const struct al_stable_read *reading,
                         bool *ret_stable, struct al_error *err);

#endif
