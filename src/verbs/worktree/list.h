// SPDX-License-Identifier: Apache-2.0
/*
 * The worktrees of a repository, and what is in them.
 *
 * Source: git-worktree(1) "LIST OUTPUT FORMAT", git-status(1) "Porcelain Format Version 2",
 * git-rev-list(1).
 */
#ifndef AL_VERBS_WORKTREE_LIST_H
#define AL_VERBS_WORKTREE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "git/repo/repo.h"
#include "guard/root.h"
#include "verbs/worktree/find.h"

/** The changes in a working tree that are not committed. */
struct al_worktree_counts {
    bool known; /**< false: the working tree cannot be looked at */
    size_t staged, modified, untracked, conflicts;
};

/** One worktree.  Strings are owned. */
struct al_worktree_entry {
    char *path;            /**< as git prints it */
    char *head;            /**< the commit; NULL: none, or it is bare */
    char *branch;          /**< without refs/heads/; NULL: detached or bare */
    bool is_bare, is_gone; /**< gone: its files are not there */
    char *locked;          /**< the reason, "" without one; NULL: not locked */
    struct al_worktree_counts counts;
    bool is_compared;     /**< the next two are known */
    size_t ahead, behind; /**< of the default branch, in commits */
};

struct al_worktrees {
    struct al_worktree_entry *items; /**< the main one first */
    size_t count;
};

#define AL_WORKTREES_INIT ((struct al_worktrees){ .items = NULL })

void al_worktrees_clear(struct al_worktrees *worktrees);

/** List them: path, head, branch, locked. */
int al_worktree_list(const struct al_repo *repo, struct al_worktrees *ret_worktrees,
                     struct al_error *err);

/** Count what is not committed in one of them, and compare it with the default branch, a full name
 * or NULL.  A worktree that cannot be looked at stays unknown; the deadline is an error. */
int al_worktree_look(const struct al_repo *repo, const char *default_branch,
                     struct al_worktree_entry *entry, struct al_error *err);

/** Test that no working tree has a branch (without refs/heads/) checked out; the error says which
 * one has, and how the branch gets free.
 *
 * @param is_ok_here  The working tree of `repo` may have it. */
int al_worktree_check_free(const struct al_repo *repo, const char *branch, bool is_ok_here,
                           struct al_error *err);

/** The most names that al_worktree_list_files() gives. */
#define AL_WORKTREE_IGNORED_MAX 1000

/** Files of a worktree that no commit has as they are. */
enum al_worktree_files {
    AL_WORKTREE_CHANGED, /**< since they were staged, deleted ones too */
    AL_WORKTREE_STAGED,
    AL_WORKTREE_UNTRACKED, /**< and not ignored */
    AL_WORKTREE_IGNORED,
};

/** List such files.  A directory that is ignored or untracked whole is one name with a '/'. */
int al_worktree_list_files(const struct al_repo *repo, const char *top,
                           enum al_worktree_files files, struct al_strv *ret_names,
                           struct al_error *err);

struct al_git;

/** Set up with AL_WORKTREE_BESIDE_INIT. */
struct al_worktree_beside {
    struct al_roots roots;
    struct al_git *git;
    struct al_repo *repo; /**< what was opened */
};

#define AL_WORKTREE_BESIDE_INIT ((struct al_worktree_beside){ .git = NULL })

void al_worktree_beside_clear(struct al_worktree_beside *beside);

/**
 * Open the working tree `top`.
 *
 * @param repo  Any worktree of the repository, which outlives the result.
 * @param also  Another directory that git may write, such as a worktree that is being made; NULL:
 *              none.
 * @return as al_repo_open(); AL_ERR_SANDBOX when it is a worktree of another repository.
 */
int al_worktree_open_beside(const struct al_repo *repo, const char *top, const char *also,
                            struct al_worktree_beside *ret_beside, struct al_error *err);

/**
 * Open the repository of a submodule, with these two directories and no others.
 *
 * @param repo     The repository that the submodule is in, which outlives the result.
 * @param top      Its working tree; NULL: only its objects and references are read.
 * @param git_dir  Canonical, found by the caller; not what a file in `top` names.
 * @return as al_repo_open().
 */
int al_worktree_open_submodule(const struct al_repo *repo, const char *top, const char *git_dir,
                               struct al_worktree_beside *ret_beside, struct al_error *err);

/** Append a digest of the work in a worktree: its index, its files that are not ignored, and the
 * state of its operations; "-" when it cannot be looked at. */
int al_worktree_digest(const struct al_repo *repo, const struct al_worktree_found *found,
                       struct al_str *ret_text, struct al_error *err);

/**
 * Pack the objects that only a worktree reaches, as files `<name>-<hash>.*` in a directory.
 * Objects that cannot be packed stay in the repository, which is no error.
 *
 * @param top     Its working tree.
 * @param branch  What this branch reaches counts, since others may delete it; full name, or NULL.
 */
int al_worktree_pack(const struct al_repo *repo, const char *top, const char *branch, int dir_fd,
                     const char *name, struct al_error *err);

#endif
