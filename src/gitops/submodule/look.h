// SPDX-License-Identifier: Apache-2.0
/* The parts that looking into a submodule is made of. */
#ifndef AL_GITOPS_SUBMODULE_LOOK_H
#define AL_GITOPS_SUBMODULE_LOOK_H

#include "gitops/repo/repo.h"
#include "util/str.h"

/** What is left of the bounds of one call. */
struct al_look_room {
    size_t entries, listed;
    uint64_t bytes;
    int64_t deadline_ms;
    bool no_untracked; /**< they are not wanted */
};

/** One working tree that is looked at.  The descriptors and strings are its caller's. */
struct al_look {
    const struct al_repo *repo; /**< the one around it, not its own */
    struct al_look_room *room;
    const char *path;       /**< from the top of `repo` */
    int top;                /**< its top, O_PATH */
    int common;             /**< its common git directory, O_PATH */
    struct al_strv names;   /**< what its index has, in its order */
    struct al_strv *nested; /**< gets the paths of submodules in it, from the top of `repo` */
    unsigned content;       /**< enum al_submodule_content, as far as is known */
    const char *unseen;     /**< why it was not looked at in full; NULL: it was */
};

/** Why there is no more to look at: the bounds. */
extern const char al_look_too_many[], al_look_too_long[];

/** Whether there is time left; else `unseen` says so. */
bool al_look_has_time(struct al_look *look);

/** submodule_files.c: hold the entries of an open index against the files. */
void al_look_at_files(struct al_look *look, int index_fd);

/** submodule_untracked.c: find a file that the index does not have, and that nothing could ignore.
 * Of one that a rule might ignore nothing is said. */
void al_look_for_untracked(struct al_look *look);

#endif
