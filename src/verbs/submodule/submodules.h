// SPDX-License-Identifier: Apache-2.0
/*
 * Changes inside submodules.  A git of the repository around them would run there under a
 * configuration that was not vetted.  So each is opened and vetted by itself, and its own
 * git-status(1) tells.
 */
#ifndef AL_VERBS_SUBMODULE_SUBMODULES_H
#define AL_VERBS_SUBMODULE_SUBMODULES_H

#include <stdbool.h>

#include "base/str.h"
#include "git/repo/repo.h"

/** The bounds of one call: submodules, and milliseconds. */
#define AL_SUBMODULES_MAX        64
#define AL_SUBMODULE_TIME_MAX_MS 2000

/** git's words for changes in a submodule; staged changes are modified content. */
enum al_submodule_content { AL_MODIFIED_CONTENT = 1, AL_UNTRACKED_CONTENT = 2 };

/** A submodule that has changes inside, or for which that is unknown. */
struct al_submodule {
    char *name;         /**< relative to the top, as raw bytes */
    unsigned content;   /**< enum al_submodule_content */
    const char *unseen; /**< why the scan is incomplete, a constant; NULL: it is complete */
};

/** The changed submodules of one repository, in the order of its index. */
struct al_submodules {
    struct al_submodule *items;
    size_t count;
};

#define AL_SUBMODULES_INIT ((struct al_submodules){ .items = NULL })

void al_submodules_clear(struct al_submodules *submodules);

/**
 * Scan the submodules of a repository, and theirs.  A submodule that cannot be read is reported in
 * `unseen` and is no error.
 *
 * @param within     A path relative to the top: only submodules there are scanned; NULL: all.
 * @param untracked  Untracked content counts.
 */
void al_git_scan_submodules(const struct al_repo *repo, const char *within, bool untracked,
                            struct al_submodules *ret_submodules);

/** Append one line about the submodules, without a line end; nothing when there are none.  A line
 * end comes first if `out` has text. */
void al_submodules_add_line(const struct al_submodules *submodules, struct al_str *out);

#endif
