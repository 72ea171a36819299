// SPDX-License-Identifier: Apache-2.0
/*
 * Whether objects are the same each time they are read.
 *
 * What a user is shown is read from objects twice: by the git that shows it, and by airlock, which
 * holds the objects against their ids.  Whoever replaces an object between the two readings would
 * show something that is not there.  The kernel notes when a file, or a directory, was changed last
 * (ctime), and nobody can note another time: what was not changed since the first reading began was
 * the same in both.
 *
 *     al_auto(al_stable_read_clear) struct al_stable_read steady = AL_STABLE_READ_INIT;
 *
 *     al_stable_read_begin(&steady);
 *     budget->stable_read = &steady;
 *     … what is shown is read, and al_git_verify_objects() adds its objects …
 *     r = al_stable_read_check(repo, &steady, &is_steady, err);
 *
 * Source: inode(7) "ctime", clock_getres(2) CLOCK_REALTIME_COARSE, gitrepository-layout(5).
 */
#ifndef AL_GITOPS_PREVIEW_STABLE_READ_H
#define AL_GITOPS_PREVIEW_STABLE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** A time that a file has from a clock other than ours may be this much behind it. */
#define AL_STABLE_READ_MARGIN_MS 20

/** The objects that are looked at, and since when. */
struct al_stable_read {
    int64_t since_ns;
    struct al_strv oids;
};

#define AL_STABLE_READ_INIT ((struct al_stable_read){ .oids = AL_STRV_INIT })

/** From now on nothing may change.  Forgets the objects of an earlier round. */
void al_stable_read_begin(struct al_stable_read *reading);
void al_stable_read_clear(struct al_stable_read *reading);

/** Let what was just changed grow old enough for another round, unless the call is cancelled. */
void al_stable_read_wait(const struct al_run_limits *budget);

/**
 * Look at all that these objects are read from: the files with them, the packs, the directories of
 * both and the alternates.  No objects are steady.
 *
 * @return 0; AL_ERR_EXECUTION where a link stands for one of these, since what it leads to can be
 *         changed without a trace.
 */
int al_stable_read_check(const struct al_repo *repo, const struct al_stable_read *reading,
                         bool *ret_stable, struct al_error *err);

#endif
