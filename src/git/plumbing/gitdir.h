// SPDX-License-Identifier: Apache-2.0
/* The files of a git directory that a checkpoint has: HEAD, the configuration, and the state of an
 * unfinished operation. */
#ifndef AL_GIT_PLUMBING_GITDIR_H
#define AL_GIT_PLUMBING_GITDIR_H

#include <stddef.h>

#include "base/str.h"
#include "git/run.h"

/* A git directory with more, larger or deeper files than this is refused: half of an operation's
 * state is useless. */
#ifndef AL_GITDIR_FILES_MAX
#define AL_GITDIR_FILES_MAX 20000u
#endif
#ifndef AL_GITDIR_FILE_BYTES
#define AL_GITDIR_FILE_BYTES (256u << 20)
#endif
#ifndef AL_GITDIR_ALL_BYTES
#define AL_GITDIR_ALL_BYTES (512u << 20)
#endif
#define AL_GITDIR_DEPTH_MAX 8

/** One file of a git directory. */
struct al_gitdir_file {
    /** Relative to the git directory, or to the common directory if al_gitdir_is_common(). */
    char *path;
    unsigned mode;       /**< st_mode */
    struct al_str bytes; /**< its content, or the target of a link */
};

/** Files.  Zero-initialised is empty. */
struct al_gitdir_files {
    struct al_gitdir_file *items;
    size_t count;
};

void al_gitdir_files_clear(struct al_gitdir_files *files);

/** Test whether a file is in the common directory, which linked working trees share. */
bool al_gitdir_is_common(const char *path);

/** Read the files.  Directories that are links are not entered. */
int al_gitdir_read(const struct al_location *at, int git_fd, int common_fd,
                   struct al_deadline *deadline, struct al_gitdir_files *ret_files,
                   struct al_error *err);

/** Test whether git is asked for what such a file says: with reftable there is none. */
bool al_gitdir_is_stored(const struct al_location *at, const char *path);

/** Find a file.  NULL when it is not there. */
const struct al_gitdir_file *al_gitdir_find(const struct al_gitdir_files *files, const char *path);

#endif
