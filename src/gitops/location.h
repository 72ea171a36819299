// SPDX-License-Identifier: Apache-2.0
/*
 * Where a repository is: its directories, open and by name, and the configuration git runs with
 * there.  It is all that a git child needs to know of a repository.
 *
 * Source: gitrepository-layout(5), git-worktree(1).
 */
#ifndef AL_GITOPS_LOCATION_H
#define AL_GITOPS_LOCATION_H

#include <stdbool.h>

#include "util/error.h"
#include "util/fs.h"
#include "util/str.h"

struct al_git;
struct al_git_config;
struct al_root;

struct al_location {
    struct al_git *git;         /**< borrowed */
    const struct al_root *root; /**< the root the working directory lies in; borrowed */
    char *dir;                  /**< working directory, canonical */
    int dir_fd;                 /**< the same, open */
    char *top;                  /**< top of the working tree, canonical */
    char *git_dir;              /**< canonical */
    char *common_dir;           /**< canonical; git_dir unless this is a linked worktree */
    int git_fd;                 /**< git_dir, open, when it is `.git` in dir and all of the
                                     repository is in it; else -1; private, as is … */
    struct al_file_id head;     /**< … what its HEAD was then */
    bool uses_absolute_paths; /**< … git gets absolute paths; see al_repo_use_absolute_paths() */
    const struct al_git_config *config; /**< borrowed; NULL until the repository is vetted */
};

/** What git gets instead of the configuration files of the user. */
struct al_git_config {
    char *global;             /**< what stands in for ~/.gitconfig, a file that is not there for
                                   nothing … */
    char *for_content_only;   /**< … and the same for a command that is reads_content_only */
    struct al_strv overrides; /**< the GIT_CONFIG_{KEY,VALUE} overrides … */
    size_t noverrides;        /**< … and their number */
};

#define AL_LOCATION_INIT ((struct al_location){ .dir_fd = -1, .git_fd = -1 })

/** Close and free what it holds. */
void al_location_clear(struct al_location *at);

/** Whether the effective user owns it, as git's own check has it (git-config(1) safe.directory). */
bool al_location_is_owned(const struct al_location *at);

/** Whether it was found without a working tree: `top` is then its git directory. */
bool al_location_is_bare(const struct al_location *at);

/**
 * Open the top of the working tree, the git directory or the common one, by the path it was found
 * at and through no link, for the calls that take a descriptor (O_PATH).
 *
 * @return 0, or AL_ERR_EXECUTION when it is no longer there.
 */
int al_location_open_top(const struct al_location *at, int *ret_fd, struct al_error *err);
int al_location_open_git_dir(const struct al_location *at, int *ret_fd, struct al_error *err);
int al_location_open_common_dir(const struct al_location *at, int *ret_fd, struct al_error *err);

/** The name of a file below the top, NULL for a file that is git's own.  Points into `file`. */
const char *al_location_worktree_name(const struct al_location *at, const char *file);

#endif
