// SPDX-License-Identifier: Apache-2.0
/*
 * A repository an agent may work in: found by descriptor, inside the roots in every part, owned by
 * the person, and vetted.
 *
 * Source: gitrepository-layout(5), git-worktree(1), git-config(1) safe.directory.
 */
#ifndef AL_GITOPS_REPO_REPO_H
#define AL_GITOPS_REPO_REPO_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/location.h"
#include "util/error.h"
#include "util/fs.h"
#include "util/str.h"

struct al_write_lock;
struct al_vetting;

struct al_repo {
    struct al_location at;
    struct al_pathspecs
        *pathspecs; /**< words that were resolved, see al_repo_pathspec(); private */
    const struct al_vetting *vetting; /**< what its configuration would run; owned reference */
    struct al_write_lock *write_lock; /**< our turn to write, NULL while we have none; private */
};

/**
 * Open the repository that holds `given`, the call's working_dir resolved against `base`.
 *
 * @param budget  For the one git child that lists the configuration when it is not remembered.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_NOT_INITIALIZED "Not a git repository: <given>" or
 *         "No such directory: <given>"; AL_ERR_SANDBOX when the top, the git directory, the common
 *         directory or an alternate lies outside the roots, or another uid owns it.
 * Ownership: the caller frees it with al_repo_free().
 */
int al_repo_open(struct al_git *git, const char *base, const char *given,
                 struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err);
void al_repo_free(struct al_repo *repo);

/** Make the top of the working tree the working directory: git runs there and words of an agent are
 * relative to it. */
int al_repo_go_to_top(struct al_repo *repo, struct al_error *err);

/** For a call that changes the repository: what is shown before is named as the commands that write
 * name it, so that where another repository got the name, that one is shown. */
void al_repo_use_absolute_paths(struct al_repo *repo);

/**
 * Open the repository at `path` itself, bare or not, for git to fetch from or push to: a path of a
 * repository's configuration, relative to `base`, `..` allowed.  Vetted like any other.
 *
 * @return as al_repo_open().
 */
int al_repo_open_at(struct al_git *git, const char *base, const char *path,
                    struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err);

/**
 * Which words of an agent name something in this repository.  Resolves `given` against the working
 * directory, refuses what lies outside the roots or this working tree, and gives git's pathspec.
 * Asks git (one child) only for a missing file whose name looks like a pattern.
 *
 * A word is resolved once: what was shown and bound is what runs, also when a file of the name has
 * come or gone since.  al_repo_forget_pathspecs() begins anew.
 */
int al_repo_pathspec(const struct al_repo *repo, const char *param, const char *given,
                     struct al_run_limits *budget, char **ret_spec, struct al_error *err);

/** What words mean is to be looked at again. */
void al_repo_forget_pathspecs(struct al_repo *repo);

/** The pathspecs of several words, each with a NUL behind it, for --pathspec-from-file: no limit of
 * the command line applies. */
int al_repo_pathspecs(const struct al_repo *repo, const struct al_strv *given,
                      struct al_run_limits *budget, struct al_str *ret_list, struct al_error *err);

/** A word that must name one file: checked like a pathspec and given as a plain path. */
int al_repo_file(const struct al_repo *repo, const char *param, const char *given, char **ret_path,
                 struct al_error *err);

#endif
