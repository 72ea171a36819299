// SPDX-License-Identifier: Apache-2.0
/*
 * Conflicts in the index: those of a merge, a rebase, a cherry-pick, a revert or a stash.
 *
 * Source: git-ls-files(1) "--unmerged".
 */
#ifndef AL_VERBS_SEQUENCER_CONFLICT_H
#define AL_VERBS_SEQUENCER_CONFLICT_H

#include <stdbool.h>

#include "base/str.h"
#include "git/repo/repo.h"

/** Conflicts beyond this number are not listed. */
#define AL_CONFLICTS_MAX 10000

/** The stages of a conflict in the index, minus one. */
enum al_stage { AL_STAGE_BASE, AL_STAGE_OURS, AL_STAGE_THEIRS, AL_STAGES };

/** One stage of a conflict. */
struct al_side {
    char *oid;     /**< object id; NULL: the file does not exist on this side */
    unsigned mode; /**< git's file mode: 0100644, 0100755, 0120000 or 0160000 */
};

/** Test whether the side has the file as a symbolic link, as a submodule. */
bool al_side_is_link(const struct al_side *side);
bool al_side_is_submodule(const struct al_side *side);

struct al_conflict {
    char *path; /**< bytes as git has them, relative to the top */
    struct al_side sides[AL_STAGES];
};

/** Test whether a side to choose is a symbolic link or a submodule. */
bool al_conflict_has_links(const struct al_conflict *conflict);

/** The conflicts of a repository, in index order. */
struct al_conflicts {
    struct al_conflict *items;
    size_t count;
    bool more; /**< there are more than AL_CONFLICTS_MAX conflicts */
};

#define AL_CONFLICTS_INIT ((struct al_conflicts){ .items = NULL })

void al_conflicts_clear(struct al_conflicts *conflicts);

/** Take a stage, "<mode> SP <oid> SP <stage> TAB <path>"; those of a path come one after the other.
 * False: it is none, or there are too many. */
bool al_conflicts_add(struct al_conflicts *conflicts, const char *line);

/** List the conflicts. It is no error when there are none. */
int al_git_conflicts(const struct al_repo *repo, struct al_conflicts *ret_conflicts,
                     struct al_error *err);

/** Find the conflict of a path; NULL when the path is not in conflict. */
const struct al_conflict *al_conflicts_find(const struct al_conflicts *conflicts, const char *path);

/** Append the paths of the conflicts. */
void al_conflicts_add_paths(const struct al_conflicts *conflicts, struct al_strv *out);

/** Return AL_ERR_EXECUTION with AL_CODE_CONFLICT, naming files, while there are conflicts. */
int al_git_check_no_conflicts(const struct al_repo *repo, struct al_error *err);

#endif
