// SPDX-License-Identifier: Apache-2.0
/*
 * What has changed inside submodules.  git finds that out with a git of its own in each of them,
 * under a configuration that nobody has looked at; so it is not asked.
 *
 * Instead the entries of a submodule's index are held against its files, and the files against the
 * rules by which it ignores some.  Nothing runs in a submodule and nothing of its configuration is
 * read; its index is held against its commit by a git of the repository around it.
 *
 * Source: git-status(1) "Changed Tracked Entries", gitformat-index(5), git's racy-git.txt,
 * gitignore(5).
 */
#ifndef AL_GITOPS_SUBMODULE_SUBMODULES_H
#define AL_GITOPS_SUBMODULE_SUBMODULES_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** In one call not more than this is looked at: submodules, entries of their indexes (and as many
 * of their directories), bytes that are hashed, milliseconds. */
#define AL_SUBMODULES_MAX        64
#define AL_SUBMODULE_ENTRIES_MAX 50000
#define AL_SUBMODULE_HASHED_MAX  (64u << 20)
#define AL_SUBMODULE_TIME_MAX_MS 2000

/** git's words for what is in a submodule; what is staged there is modified content. */
enum al_submodule_content { AL_MODIFIED_CONTENT = 1, AL_UNTRACKED_CONTENT = 2 };

/** A submodule that has changes inside, or of which that is not known. */
struct al_submodule {
    char *name;         /**< relative to the top, bytes as they are */
    unsigned content;   /**< enum al_submodule_content */
    const char *unseen; /**< why not all of it was looked at, a constant; NULL: it was */
    bool is_named;      /**< the caller's own mark, not set here */
};

/** Those of one repository, in the order of its index. */
struct al_submodules {
    struct al_submodule *items;
    size_t count;
};

#define AL_SUBMODULES_INIT ((struct al_submodules){ .items = NULL })

void al_submodules_clear(struct al_submodules *submodules);

/**
 * Look into the submodules of a repository and theirs.  What cannot be read is said of each and is
 * no failure.
 *
 * @param within     A path below the top, as git has it: only submodules there; NULL: all.
 * @param untracked  Untracked content counts.
 */
void al_git_scan_submodules(const struct al_repo *repo, const char *within, bool untracked,
                            struct al_run_limits *budget, struct al_submodules *ret_submodules);

/** Append one line about them, without its end; none when there are none.  Where `out` has text, an
 * end of line comes first. */
void al_submodules_add_line(const struct al_submodules *submodules, struct al_str *out);

#endif
