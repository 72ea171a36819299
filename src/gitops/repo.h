// SPDX-License-Identifier: Apache-2.0
/*
 * A repository an agent may work in: found by descriptor, inside the roots in every part, owned by
 * the person, and vetted.
 *
 * Source: gitrepository-layout(5), git-worktree(1), git-config(1) safe.directory.
 */
#ifndef AL_GITOPS_REPO_H
#define AL_GITOPS_REPO_H

#include <stdbool.h>

#include "gitops/git.h"
#include "util/error.h"
#include "util/fs.h"
#include "util/str.h"

struct al_steady;
struct al_turn;
struct al_vetting;

struct al_repo {
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
    bool by_path;               /**< … git gets the paths; see al_repo_go_by_path() */
    struct al_pathspecs
        *pathspecs; /**< words that were resolved, see al_repo_pathspec(); private */
    const struct al_vetting *vetting; /**< what its configuration would run; owned reference */
    struct al_turn *turn;             /**< our turn to write, NULL while we have none; private */
};

/** What limits the children of one call. */
struct al_budget {
    struct al_cancel *cancel;        /**< may be NULL */
    uint32_t left_ms;                /**< counted down by the time children ran */
    void (*waits)(const char *line); /**< told when a foreign lock is waited for; NULL: nobody */
    int exit_code;                   /**< of the child that ended last; -1 when it did not exit */
    bool in_full;                    /**< what a user decides by is not cut to an excerpt */
    struct al_steady *steady; /**< gets the objects a user decides by; NULL: nobody is asked */
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
int al_repo_open(struct al_git *git, const char *base, const char *given, struct al_budget *budget,
                 struct al_repo **ret_repo, struct al_error *err);
void al_repo_free(struct al_repo *repo);

/** Make the top of the working tree the working directory: git runs there and words of an agent are
 * relative to it. */
int al_repo_go_to_top(struct al_repo *repo, struct al_error *err);

/** For a call that changes the repository: what is shown before is named as the commands that write
 * name it, so that where another repository got the name, that one is shown. */
void al_repo_go_by_path(struct al_repo *repo);

/**
 * Open the repository at `path` itself, bare or not, for git to fetch from or push to: a path of a
 * repository's configuration, relative to `base`, `..` allowed.  Vetted like any other.
 *
 * @return as al_repo_open().
 */
int al_repo_open_at(struct al_git *git, const char *base, const char *path,
                    struct al_budget *budget, struct al_repo **ret_repo, struct al_error *err);

/** Whether it was opened without a working tree: `top` is then its git directory. */
bool al_repo_is_bare(const struct al_repo *repo);

/**
 * Which words of an agent name something in this repository.  Resolves `given` against the working
 * directory, refuses what lies outside the roots or this working tree, and gives git's pathspec.
 * Asks git (one child) only for a missing file whose name looks like a pattern.
 *
 * A word is resolved once: what was shown and bound is what runs, also when a file of the name has
 * come or gone since.  al_repo_forget_pathspecs() begins anew.
 */
int al_repo_pathspec(const struct al_repo *repo, const char *param, const char *given,
                     struct al_budget *budget, char **ret_spec, struct al_error *err);

/** What words mean is to be looked at again. */
void al_repo_forget_pathspecs(struct al_repo *repo);

/** The pathspecs of several words, each with a NUL behind it, for --pathspec-from-file: no limit of
 * the command line applies. */
int al_repo_pathspecs(const struct al_repo *repo, const struct al_strv *given,
                      struct al_budget *budget, struct al_str *ret_list, struct al_error *err);

/** A word that must name one file: checked like a pathspec and given as a plain path. */
int al_repo_file(const struct al_repo *repo, const char *param, const char *given, char **ret_path,
                 struct al_error *err);

/** Whether a full ref name ("refs/heads/main") exists, from the files. */
bool al_repo_has_ref(const struct al_repo *repo, const char *ref);

/**
 * What an approval is bound to, as one hex digest: HEAD, what is in progress, the whole index (a
 * shared one too), the configuration, attributes, and the stat of the paths.
 *
 * @param paths    Agent words that al_repo_pathspec() accepted, or NULL.
 * @param objects  More bytes to be bound: what the words of the call were resolved to; or NULL.
 * @return 0, or AL_ERR_EXECUTION naming a file that cannot be read.
 */
int al_repo_state(const struct al_repo *repo, const struct al_strv *paths,
                  const struct al_str *objects, char ret_hex[65], struct al_error *err);

/** HEAD's object id from the files, "" on an unborn branch.  Caller frees. */
char *al_repo_head(const struct al_repo *repo);

/** The same for a full ref name; "" where there is none. */
char *al_repo_read_ref(const struct al_repo *repo, const char *ref);

/**
 * Open the top of the working tree, the git directory or the common one, by the path it was found
 * at and through no link, for the calls that take a descriptor (O_PATH).
 *
 * @return 0, or AL_ERR_EXECUTION when it is no longer there.
 */
int al_repo_open_top(const struct al_repo *repo, int *ret_fd, struct al_error *err);
int al_repo_open_git_dir(const struct al_repo *repo, int *ret_fd, struct al_error *err);
int al_repo_open_common_dir(const struct al_repo *repo, int *ret_fd, struct al_error *err);

/**
 * Append the branches that a commit would move: the one HEAD is on, and where that is a symbolic
 * reference those it leads to.  "HEAD" when it is on none, and the branch of a stopped rebase,
 * which moves when that has gone on to its end.
 */
void al_repo_current_branches(const struct al_repo *repo, struct al_strv *ret_names);

/**
 * Append the files of the index among `names` (relative to the top) and below them.  For names that
 * are not on the disk.  One git child for each 100 of them.
 */
int al_repo_tracked_files(const struct al_repo *repo, const struct al_strv *names,
                          struct al_budget *budget, struct al_strv *ret_files,
                          struct al_error *err);

/** True when the index holds a gitlink (or might: a wrong yes costs only exec-once). */
bool al_repo_may_have_gitlinks(const struct al_repo *repo);

/**
 * Wait for this repository's turn to write, first come first served within this process, then for
 * a foreign index.lock to go away.  The first wait counts towards nothing, the second towards
 * `budget`.
 * @return 0 (then al_repo_end_write() is owed); AL_ERR_CANCELLED; AL_ERR_EXECUTION with
 *         AL_CODE_LOCK_TIMEOUT.
 */
int al_repo_begin_write(struct al_repo *repo, struct al_budget *budget, struct al_error *err);
/** The same for what changes files without git, to which an index.lock is no obstacle. */
int al_repo_begin_turn(struct al_repo *repo, struct al_cancel *cancel, struct al_error *err);

/**
 * The turn of another repository, for a writer that may have the turn of its own.  Nothing to do
 * when both are one repository.
 * @return as al_repo_begin_turn(); AL_ERR_EXECUTION with AL_CODE_LOCK_TIMEOUT where the holder
 *         waits for the turn we have.
 */
int al_repo_begin_turn_beside(struct al_repo *other, const struct al_repo *own,
                              struct al_cancel *cancel, struct al_error *err);

/** NULL is fine. */
void al_repo_end_write(struct al_repo *repo);

/** Wait until there is no index.lock, at most budget->left_ms.  Counts down the budget. */
int al_repo_wait_index_lock(struct al_repo *repo, struct al_budget *budget, struct al_error *err);

#endif
