// SPDX-License-Identifier: Apache-2.0
/*
 * A repository that an agent may work in: every part lies inside the roots, the user owns it, and
 * its configuration is vetted.
 *
 * Source: gitrepository-layout(5), git-worktree(1), git-config(1) safe.directory.
 */
#ifndef AL_GIT_REPO_REPO_H
#define AL_GIT_REPO_REPO_H

#include <stdbool.h>

#include "base/error.h"
#include "base/fs.h"
#include "base/str.h"
#include "git/command.h"
#include "git/location.h"

struct al_mirror;
struct al_vetting;

struct al_repo {
    struct al_location at;
    struct al_pathspecs *pathspecs;   /**< resolved words, see al_repo_pathspec(); private */
    const struct al_vetting *vetting; /**< owned reference */
    int write_fd; /**< the write lock, see git/repo/write_lock.h; -1: it is not held; private */
    struct al_mirror *mirror; /**< what an own repository is part of; NULL: of nothing */
    void (*free_mirror)(struct al_mirror *); /**< the mirror goes with this repository; NULL: not */
    char *asked_top; /**< the working tree that was asked for, if another one of the repository was
                        opened since it has a branch checked out; NULL: this one */
    char *shown; /**< own: what users see in place of a path, "github:user/name"; NULL: the path */
};

/**
 * Open the repository that holds `given`, the call's working_dir resolved against `base`.
 *
 * @param budget  For every git child in the repository; borrowed until al_repo_free().
 * @return 0; AL_ERR_EXECUTION with AL_CODE_NOT_INITIALIZED "Not a git repository: <given>", or "No
 *         such directory: <given>"; AL_ERR_SANDBOX when the top, the git directory, the common
 *         directory or an alternate lies outside the roots, or another uid owns it.
 * Ownership: the caller frees it with al_repo_free().
 */
int al_repo_open(struct al_git *git, const char *base, const char *given,
                 struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err);
void al_repo_free(struct al_repo *repo);

/** Whether its git directory is not there any more. */
bool al_repo_is_gone(const struct al_repo *repo);

/** Make the top of the working tree the working directory, where git runs and to which an agent's
 * words are relative. */
int al_repo_go_to_top(struct al_repo *repo, struct al_error *err);

/**
 * Open the repository at `path` itself, bare or not, for git to fetch from or push to.  `path`
 * comes from a repository's configuration; it is relative to `base` and may contain `..`.  The
 * repository is vetted like any other.
 *
 * @return as al_repo_open().
 */
int al_repo_open_at(struct al_git *git, const char *base, const char *path,
                    struct al_run_limits *budget, struct al_repo **ret_repo, struct al_error *err);

/**
 * Open a bare repository of airlock's own, outside every root.  Its git children may use this
 * repository and no file of the user; they get the user's settings like those of any repository.
 *
 * @param dir  Absolute and canonical.
 * @return as al_repo_open().
 */
int al_repo_open_own(struct al_git *git, const char *dir, struct al_run_limits *budget,
                     struct al_repo **ret_repo, struct al_error *err);

/** Make an empty one in the private directory, and open it.  Its directory is the caller's; the
 * private one goes with the process. */
int al_repo_make_own(struct al_git *git, struct al_run_limits *budget, struct al_repo **ret_repo,
                     struct al_error *err);

/** Its configuration. */
#define AL_REPO_OWN_CONFIG                                                                         \
    "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n"

/**
 * Resolve an agent's word to git's pathspec.  The word is relative to the working directory; a path
 * outside the roots or outside this working tree is refused.  Runs a git child only for a missing
 * file whose name looks like a pattern.
 *
 * A word is resolved once per call: later steps of the call use the pathspec that was shown and
 * approved, even if a file of that name has appeared or disappeared since.
 * al_repo_forget_pathspecs() resets this.
 */
int al_repo_pathspec(const struct al_repo *repo, const char *param, const char *given,
                     char **ret_spec, struct al_error *err);

/** Forget the resolved words. */
void al_repo_forget_pathspecs(struct al_repo *repo);

/** The pathspecs of several words (NULL: none), each ended by NUL, for --pathspec-from-file: no
 * limit on the length of a command line applies. */
int al_repo_pathspecs(const struct al_repo *repo, const struct al_strv *given,
                      struct al_str *ret_list, struct al_error *err);

/** Resolve a word that must name one file to a plain path, with the checks of al_repo_pathspec().
 */
int al_repo_file(const struct al_repo *repo, const char *param, const char *given, char **ret_path,
                 struct al_error *err);

/* --- Signature --- */

/*
 * Commit signatures: airlock makes none, and says so or refuses when the configuration asks for
 * one.
 *
 * Source: git-config(1) commit.gpgSign.
 */

/** Append, for an approval, that the commit will not be signed, if the configuration asks for a
 * signature. */
void al_git_show_unsigned(const struct al_repo *repo, struct al_str *out);

/** Append, for a result, that the commit was not signed, if the configuration asks for a signature.
 */
void al_git_skipped_signature(const struct al_repo *repo, struct al_str *out);

#endif
