// SPDX-License-Identifier: Apache-2.0
/*
 * Find changes that git does not see but overwrites all the same: changes of files that the index
 * marks as assume-unchanged or skip-worktree, or whose stat data in the index still matches.
 *
 * Source: git-update-index(1) "USING “ASSUME UNCHANGED” BIT", "SKIP-WORKTREE BIT"; git-ls-files(1)
 * "-v".
 */
#ifndef AL_GITOPS_PREVIEW_UNSEEN_CHANGES_H
#define AL_GITOPS_PREVIEW_UNSEEN_CHANGES_H

#include "gitops/repo/repo.h"
#include "util/fs.h"
#include "util/str.h"

/** With more entries than this, only those with a mark in the index are checked. */
#define AL_UNSEEN_ENTRIES_MAX 5000

struct al_unseen_changes {
    char *index; /**< temporary index with the entries of these files and no stat data, removed by
                    al_unseen_changes_clear(); NULL: there are none */
    struct al_buffer names; /**< the files, relative to the top, each followed by a NUL */
};

#define AL_UNSEEN_CHANGES_INIT ((struct al_unseen_changes){ .index = NULL })

void al_unseen_changes_clear(struct al_unseen_changes *unseen);

/**
 * Find such changes among the files that `words` name (pathspecs of al_repo_pathspecs()).
 *
 * @param known  Files that git sees a change of, sorted.  They are left out.
 */
int al_git_find_unseen_changes(const struct al_repo *repo, const struct al_str *words,
                               const struct al_buffer *known, struct al_run_limits *budget,
                               struct al_unseen_changes *unseen, struct al_error *err);

#endif
