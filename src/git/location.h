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

/* --- Finding a repository --- */

/*
 * Finding a repository: from a directory up to its `.git`, and from there to its parts.
 *
 * Source: gitrepository-layout(5), git-worktree(1).
 */

struct al_roots;

/**
 * Find the repository that holds `at->dir`, which is open, and set the other members.  Every part
 * of the repository has to lie in the roots.
 *
 * @param given  The agent's word for the directory, for messages.
 * @return as al_repo_open().
 */
int al_location_find(struct al_location *at, const struct al_roots *roots, const char *given,
                     struct al_error *err);

/** Set the members for the repository at `at->dir` itself, bare or not.  Parents are not searched.
 * Otherwise like al_location_find(). */
int al_location_find_at(struct al_location *at, const struct al_roots *roots, const char *given,
                        struct al_error *err);

/** The path in a one-line file such as `.git` ("gitdir: ...") or commondir, made absolute; NULL
 * when the file holds no such line.  Caller frees. */
char *al_git_read_pointer(int dir_fd, const char *name, const char *prefix, const char *base);

/** Gets a linked working tree: its name below worktrees/, its git directory, open, and where that
 * says that the working tree is, which is not verified; NULL: it does not say.  False ends it. */
typedef bool al_linked_fn(void *payload, const char *name, int git_dir_fd, const char *top);

/** Look at all linked working trees of a repository, in no order.
 *
 * @return 0, or AL_ERR_EXECUTION when the common directory is gone. */
int al_git_each_linked(const struct al_location *at, al_linked_fn *take, void *payload,
                       struct al_error *err);

/** The remedy for a bare repository. */
extern const char al_git_bare_remedy[];

/** The one for this repository; NULL: it was not opened. */
const char *al_git_bare_remedy_of(const struct al_location *at);

/** Append the names of the repositories directly below a directory, bare ones too, in byte order.
 */
void al_git_list_below(int dir_fd, struct al_strv *out);

/** Test whether a directory is itself a git directory, as a bare repository is. */
bool al_git_is_bare_dir(const char *dir);

/** The git directories that may be settled.  Borrowed. */
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
 * The git directory of a working tree of the repository, before that is opened: its `.git` file,
 * which is a regular one of the user's, and the administrative directory name each other, or `.git`
 * is the common directory.  NULL: it is none.  Nothing else is read of a directory that a forged
 * `gitdir` file names.  Caller frees.
 */
char *al_git_dir_of_worktree(const char *top, const char *common_dir);

/**
 * Find the git directory of a nested repository.  Its configuration is not read.
 *
 * @param top  Its directory, absolute.
 * @return 0; AL_ERR_NOT_FOUND when there is no `.git`; AL_ERR_SANDBOX when it or the common
 *         directory lies outside the roots; AL_ERR_EXECUTION when `.git` leads to no git directory.
 *         Caller frees.
 */
int al_git_nested_dir(const struct al_location *at, const char *top, char **ret_git_dir);

/**
 * The commit of a nested repository's HEAD, read from its files; "" when it has none or uses
 * reftable.
 *
 * @param path  Its directory, absolute or relative to the working directory.
 * @return NULL when there is no repository inside the roots.  Caller frees.
 */
char *al_git_nested_head(const struct al_location *at, const char *path);

#endif
