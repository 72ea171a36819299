// SPDX-License-Identifier: Apache-2.0
/* The files of a git directory that a checkpoint has: HEAD, the state of an unfinished operation,
 * the configuration, hooks, and what info/ says. */
#ifndef AL_GIT_PLUMBING_GITDIR_H
#define AL_GIT_PLUMBING_GITDIR_H

#include <stddef.h>

#include "base/str.h"
#include "git/repo/repo.h"
#include "git/run.h"

/* A git directory with more, larger or deeper files than this is refused: half of an operation's
 * state is useless. */
#define AL_GITDIR_FILES_MAX  20000u
#define AL_GITDIR_FILE_BYTES (256u << 20)
#define AL_GITDIR_ALL_BYTES  (512u << 20)
#define AL_GITDIR_DEPTH_MAX  8
/** Hooks and info/ beyond this are left out. */
#define AL_GITDIR_SETTINGS_BYTES (1u << 20)

/** The state files that each working tree has: of HEAD, and of an operation in progress.  Some are
 * directories; NULL at the end. */
extern const char *const al_gitdir_own_paths[];

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
    struct al_strv left_out; /**< as ".git/hooks/x" */
};

void al_gitdir_files_clear(struct al_gitdir_files *files);

/** Test whether a file is in the common directory, which linked working trees share. */
bool al_gitdir_is_common(const char *path);

/** Test whether a file says how git works here, or is a program that git runs: no command but those
 * for the configuration writes it. */
bool al_gitdir_is_setting(const char *path);

/** Read the files.  Directories that are links are not entered.  The caller clears them in every
 * case. */
int al_gitdir_read(const struct al_location *at, int git_fd, int common_fd,
                   struct al_deadline *deadline, struct al_gitdir_files *ret_files,
                   struct al_error *err);

/** Test whether git is asked for what such a file says: with reftable there is none. */
bool al_gitdir_is_stored(const struct al_location *at, const char *path);

/* --- State digest --- */

/* The state that an approval is bound to, as one digest. */

/**
 * Compute the digest, in hex, of everything that decides what an approved call would do: HEAD, the
 * operation in progress, the whole index (a shared one too), the configuration, attributes, and the
 * stat of the paths.
 *
 * @param paths    An agent's words that al_repo_pathspec() accepted, or NULL.
 * @param objects  More bytes to bind: the ids that the words of the call were resolved to; or NULL.
 * @return 0, or AL_ERR_EXECUTION naming a file that cannot be read.
 */
int al_repo_state_digest(const struct al_repo *repo, const struct al_strv *paths,
                         const struct al_str *objects, char ret_hex[65], struct al_error *err);

#endif
