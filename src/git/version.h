// SPDX-License-Identifier: Apache-2.0
/*
 * The version of the installed git.
 *
 * No other file asks for it.  What gits do in different ways, and what all of them are given
 * instead: up to 2.39, merge-tree takes no base of ours: commits without parents (gitops/inmemory);
 * up to 2.42, merge-file takes no ids: files (verbs/sequencer/conflict_hunks.c);
 * from 2.45, references may be in no files: git tells them (git/refs.h);
 * from 2.51 to 2.54, write-tree believes the index about trees: it may not
 * (git/plumbing/snapshot.c); from 2.54, the configuration names hooks: each is switched off by
 * its name (git/environment.c), and `git hook list`, which fails before, tells them
 * (git/plumbing/filters.c). tools/matrix.py tries each git.
 */
#ifndef AL_GIT_VERSION_H
#define AL_GIT_VERSION_H

#include "base/error.h"
#include <stdbool.h>

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
 * What a git said is remembered in `state_dir`, since it takes 2 ms to ask, of the 5 ms that a
 * session may take to begin.  It is asked anew when its file has changed.
 *
 * @return 0, or AL_ERR_BAD_ARGS.
 */
int al_git_version_require(const char *program, const char *state_dir, struct al_error *err);

#endif
