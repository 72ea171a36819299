// SPDX-License-Identifier: Apache-2.0
/*
 * Changes that git does not see and overwrites all the same: of files that the index says are
 * assumed to be unchanged, need not be there, or look as they did when they were staged.
 *
 * Source: git-update-index(1) "USING “ASSUME UNCHANGED” BIT", "SKIP-WORKTREE BIT"; git-ls-files(1)
 * "-v".
 */
#ifndef AL_GITOPS_PREVIEW_UNSEEN_CHANGES_H
#define AL_GITOPS_PREVIEW_UNSEEN_CHANGES_H

#include "gitops/repo/repo.h"
#include "util/fs.h"
#include "util/str.h"

/** Among more entries than this only those with a mark in the index are looked at. */
#define AL_UNSEEN_ENTRIES_MAX 5000

struct al_unseen_changes {
    char *index;            /**< an index of its own that has the entries of these files and no word
                                 about how they look; removed with the rest; NULL: there are none */
    struct al_buffer names; /**< the files, relative to the top, each with a NUL behind it */
};

#define AL_UNSEEN_CHANGES_INIT ((struct al_unseen_changes){ .index = NULL })

void al_unseen_changes_clear(struct al_unseen_changes *unseen);

/**
 * Find them among the files that `words` name (as al_repo_pathspecs() gives them).
 *
 * @param known  Files that git sees a change of, sorted: they are left out.
 */
int al_git_find_unseen_changes(const struct al_repo *repo, const struct al_str *words,
                               const struct al_buffer *known, struct al_run_limits *budget,
                               struct al_unseen_changes *unseen, struct al_error *err);

#endif
