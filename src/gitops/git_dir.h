// SPDX-License-Identifier: Apache-2.0
/*
 * Git directories outside their working tree: those of linked worktrees, of submodules, and of
 * `git init --separate-git-dir`.
 *
 * A `.git` file names the git directory.  An agent can write that file, so it is never believed
 * alone:
 *
 *   kind               what has to agree
 *   linked worktree    <common>/worktrees/<n>/gitdir names this very `.git` file, and
 *                      <common>/worktrees/<n>/commondir names <common>
 *   submodule          core.worktree in the configuration of the git directory names the working
 * tree separate           the user lists the git directory (`[tools.sandbox] git_dirs`)
 *
 * The user owns all of them.  Which git directory outside the roots belongs to a root is settled
 * when airlock starts, and held by descriptor (guard/root.h).
 *
 * Source: gitrepository-layout(5), git-worktree(1), git-config(1) core.worktree.
 */
#ifndef AL_GITOPS_GIT_DIR_H
#define AL_GITOPS_GIT_DIR_H

#include <stdbool.h>

#include "gitops/location.h"
#include "util/error.h"
#include "util/str.h"

struct al_roots;

/** Which git directories may be settled.  Borrowed. */
struct al_git_dirs_options {
    const struct al_strv *listed;    /**< the user's git_dirs, absolute; NULL: none */
    const struct al_strv *forbidden; /**< as for al_roots_add() */
    const char *home;                /**< as for al_roots_add() */
};

/**
 * Settle the git directory of each root that is the top of a working tree whose `.git` is a file.
 * A root whose `.git` names nothing, or a git directory that does not belong to it, gets none:
 * calls there then say what lies outside.  A root that is a bare repository is marked as one.
 *
 * @return 0; as al_roots_add() when a git directory cannot be used.
 */
int al_git_dirs_settle(struct al_roots *roots, const struct al_git_dirs_options *options,
                       struct al_error *err);

/**
 * Test whether a directory is a working tree of the repository, before it is opened as one: its
 * `.git` file and the administrative directory name each other, or `.git` is the common directory.
 * Nothing else is read of a directory that a forged `gitdir` file names.
 */
bool al_git_dir_is_worktree(const char *top, const char *common_dir);

/** Test whether the git directory of a location belongs to its working tree.  True for a `.git`
 * that is a directory and for a bare repository. */
bool al_git_dir_belongs(const struct al_location *at);

#endif
