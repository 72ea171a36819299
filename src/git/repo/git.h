// SPDX-License-Identifier: Apache-2.0
/*
 * The git layer of one session: the git that runs, its confinement, and what is remembered about
 * repositories between calls.
 *
 * Threads: an al_git is shared by all calls of a session and safe to use from any thread.
 */
#ifndef AL_GIT_REPO_GIT_H
#define AL_GIT_REPO_GIT_H

#include <stdbool.h>

#include "base/error.h"
#include "git/layer.h"

/**
 * Set up a layer with roots of its own, beside another one: for a worktree that is no root of the
 * agent's.  Everything else is as in `like`, which outlives it.
 *
 * @return as al_git_new().
 */
int al_git_new_beside(const struct al_git *like, const struct al_roots *roots,
                      struct al_git **ret_git, struct al_error *err);

/**
 * Set up the layer.  Starts no git.
 *
 * @return 0; AL_ERR_EXECUTION when no private directory can be made; AL_ERR_SANDBOX when
 *         confinement is required and missing.
 */
int al_git_new(const struct al_git_options *options, struct al_git **ret_git, struct al_error *err);

/** Free it and remove the private directory. */
void al_git_free(struct al_git *git);

/** Remove the private directory only: for a process that ends at once.  NULL is fine. */
void al_git_abandon(struct al_git *git);

/** A new file name in the part of the private directory that writing children may write.  The
 * caller frees the name and removes the file. */
char *al_git_private_name(struct al_git *git, const char *prefix);

/* --- The version of git --- */

/*
 * The version of the installed git.
 *
 * No other file asks for it.  Differences between gits, and what all of them are given
 * instead: up to 2.39, merge-tree takes no base of ours: commits without parents (verbs/inmemory);
 * up to 2.42, merge-file takes no ids: files (verbs/sequencer/conflict_hunks.c);
 * from 2.45, references may be in no files: git tells them (git/refs.h);
 * from 2.51 to 2.54, write-tree believes the index about trees: it may not
 * (git/plumbing/snapshot.c); from 2.54, the configuration names hooks: each is switched off by
 * its name (git/environment.c), and `git hook list`, which fails before, tells them
 * (git/plumbing/filters.c). tools/matrix.py tries each git.
 */

/**
 * Ask a git for its version, such as "2.39.5".  This is the only git child without a repository;
 * its sandbox lets it start no program and open no socket.
 *
 * @return 0, or AL_ERR_EXECUTION.  Caller frees *ret_version.
 */
int al_git_version(const char *program, char **ret_version, struct al_error *err);

/** The oldest git that airlock works with. */
#define AL_GIT_VERSION_MIN "2.38"

/** Test whether airlock works with a version, as al_git_version() gives it. */
bool al_git_version_is_supported(const char *version);

/**
 * Refuse a git that is too old.  One that is missing or does not tell its version is no error here:
 * the call that needs it fails.
 *
 * The answer of a git is remembered in `state_dir`, since it takes 2 ms to ask, of the 5 ms that a
 * session may take to begin.  It is asked anew when its file has changed.
 *
 * @return 0, or AL_ERR_BAD_ARGS.
 */
int al_git_version_require(const char *program, const char *state_dir, struct al_error *err);

#endif
