// SPDX-License-Identifier: Apache-2.0
/*
 * The location of a repository: its directories, open and by name, and the configuration that git
 * runs with there.  A git child needs to know nothing else about a repository.
 *
 * Source: gitrepository-layout(5), git-worktree(1).
 */
#ifndef AL_GIT_LOCATION_H
#define AL_GIT_LOCATION_H

#include <stdbool.h>

#include "base/error.h"
#include "base/fs.h"
#include "base/str.h"

struct al_git;
struct al_git_config;
struct al_root;
struct al_run_limits;
struct stat;

struct al_location {
    struct al_git *git;         /**< borrowed */
    const struct al_root *root; /**< the root that `dir` lies in; borrowed */
    char *dir;                  /**< the working directory, canonical */
    int dir_fd;                 /**< `dir`, open */
    char *top;                  /**< the top of the working tree, canonical */
    char *git_dir;              /**< canonical */
    char *common_dir;           /**< canonical; equal to git_dir unless this is a linked worktree */
    bool is_said_bare;          /**< its configuration says so, and a `.git` leads to it; see
                                   al_location_make_bare() */
    bool is_own; /**< a repository of airlock's own, outside every root; see al_repo_open_own() */
    const struct al_location *lender; /**< of an own one: the repository whose objects and files the
                                         commands that ask for them read; NULL: none; borrowed */
    const char *held;    /**< objects that the lender may have lost; NULL: none; borrowed */
    const char *objects; /**< a directory below airlock's private one: git writes new objects there,
                            and reads them besides those of the repository; NULL: none; borrowed */
    const struct al_git_config *config; /**< borrowed; NULL until the repository is vetted */
    struct al_run_limits *budget; /**< of the call that opened it, for everything it does there;
                                     borrowed, outlives it */
};

/** The configuration that git gets in place of the user's files. */
struct al_git_config {
    char
        *global; /**< path of the file for GIT_CONFIG_GLOBAL; does not exist if it would be empty */
    char *for_shell; /**< the same with every harmless key of the user's, for a git of a shell */
    struct al_strv overrides; /**< "key", "value" pairs */
    bool has_reftable;        /**< references are in no files: git is asked for each of them */
};

#define AL_LOCATION_INIT ((struct al_location){ .dir_fd = -1 })

/** Set the names of a bare repository of airlock's own, which are one. */
void al_location_set_own(struct al_location *at, const char *dir);

/** Close and free everything it holds. */
void al_location_clear(struct al_location *at);

/** Test whether a file belongs to the effective user, or to the user who called sudo. */
bool al_location_is_own(const struct stat *st);

/** Test whether the effective user owns the repository, by the rule of git's own check
 * (git-config(1) safe.directory). */
bool al_location_is_owned(const struct al_location *at);

/** Test whether it is a linked worktree, whose git directory is not the common one. */
bool al_location_is_linked(const struct al_location *at);
/** Test whether two paths lead to one file or directory. */
bool al_location_is_same(const char *one, const char *other);
/** Test whether the repository has no working tree; `top` then equals `git_dir`. */
bool al_location_is_bare(const struct al_location *at);

/** The name by which airlock's own files are about a common directory: of its device and inode,
 * since several paths may reach a repository.  NULL, with errno: it is gone.  Caller frees. */
char *al_location_dir_name(const char *common_dir);

/** Take a repository whose `.git` was found for a bare one: the place is its git directory. */
int al_location_make_bare(struct al_location *at, struct al_error *err);

/**
 * Open the top of the working tree, the git directory or the common directory with O_PATH.  The
 * path is the one it was found at, and no link is followed.
 *
 * @return 0, or AL_ERR_EXECUTION when it no longer exists.
 */
int al_location_open_top(const struct al_location *at, int *ret_fd, struct al_error *err);
int al_location_open_git_dir(const struct al_location *at, int *ret_fd, struct al_error *err);
int al_location_open_common_dir(const struct al_location *at, int *ret_fd, struct al_error *err);

/** Open all three.  The caller closes those that are open, after a failure too. */
int al_location_open_all(const struct al_location *at, int *ret_top_fd, int *ret_git_fd,
                         int *ret_common_fd, struct al_error *err);

/** The name of a file relative to the top; NULL for a file in the git directory or outside.  Points
 * into `file`. */
const char *al_location_worktree_name(const struct al_location *at, const char *file);

#endif
