// SPDX-License-Identifier: Apache-2.0
/*
 * The other working trees of a repository, read from git's files: no git is started.
 *
 * Source: gitrepository-layout(5), "worktrees".
 */
#ifndef AL_GITOPS_READING_OTHER_WORKTREES_H
#define AL_GITOPS_READING_OTHER_WORKTREES_H

#include "gitops/repo/repo.h"

/** One working tree. */
struct al_other_worktree {
    char *path;   /**< absolute, as git has it; raw bytes */
    char *branch; /**< without refs/heads/; NULL: HEAD is on none */
    char *head;   /**< the commit of a HEAD that is on no branch; "" else */
};

/** All of them but this one. */
struct al_other_worktrees {
    struct al_other_worktree *items;
    size_t count;
};

#define AL_OTHER_WORKTREES_INIT ((struct al_other_worktrees){ .items = NULL })

void al_other_worktrees_clear(struct al_other_worktrees *worktrees);

/** List them, the main one first.  What cannot be read is left out. */
void al_git_other_worktrees(const struct al_repo *repo, struct al_other_worktrees *ret_worktrees);

#endif
