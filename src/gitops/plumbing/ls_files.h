// SPDX-License-Identifier: Apache-2.0
/* The names git has for what is in a working tree: the index, and files beside it. */
#ifndef AL_GITOPS_PLUMBING_LS_FILES_H
#define AL_GITOPS_PLUMBING_LS_FILES_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/error.h"

/** One name.  Borrowed, for the time of the callback. */
struct al_listed {
    char tag;         /**< as `git ls-files -v` has it: '?' for a file that is not in the index, 'S'
                           for an entry that is not to be on the disk; small letters for entries
                           marked unchanged */
    unsigned mode;    /**< of an entry, 0160000 for a gitlink; 0 for others */
    const char *oid;  /**< of an entry, a space behind it; "" for others */
    unsigned stage;   /**< of an entry: 0, or 1 to 3 in a conflict */
    const char *path; /**< relative to the top; a nested repository ends with '/'.  The index may
                           say anything here: nothing about it has been checked */
    const char *entry; /**< all that git says of an entry, up to its path; "" for others */
    size_t entry_len;
};

/** Takes a name; false ends the listing. */
typedef bool (*al_listed_fn)(void *payload, const struct al_listed *listed);

/**
 * List the index and the files that are not in it: those that are not ignored, or, with `ignored`,
 * those that are (then without the index).  One git child, which reads and starts nothing.
 *
 * @param top_fd  The top of the working tree, open.
 * @return 0; AL_ERR_EXECUTION when git failed; AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 */
int al_git_list_files(const struct al_repo *repo, int top_fd, bool ignored, al_listed_fn take,
                      void *payload, struct al_run_limits *budget, struct al_error *err);

#endif
