// SPDX-License-Identifier: Apache-2.0
/*
 * What a repository was before a git command that works in several steps, so that it can be put
 * back when that command is killed half way: by its deadline, or because the call was cancelled.
 *
 * Noted are HEAD and the branch it is on, the index, the files that say what is in progress
 * (MERGE_HEAD, rebase-merge/ …), and which files of the working tree were changed or untracked.
 * Those were the person's and git does not touch them; every other file is what the index says, and
 * is made so again.
 *
 *     al_auto(al_savepoint_clear) struct al_savepoint before = AL_SAVEPOINT_INIT;
 *
 *     r = al_savepoint_take(repo, &incoming, budget, &before, err);
 *     if (r == 0)
 *         r = al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = …, .waits_for_lock
 * = true }, ); r = al_savepoint_restore_if_stopped(repo, &before, r, err);
 *
 * The repository's turn to write is the caller's all the while.
 */
#ifndef AL_GITOPS_SEQUENCER_SAVEPOINT_H
#define AL_GITOPS_SEQUENCER_SAVEPOINT_H

#include "gitops/repo/repo.h"
#include "proc/proc.h"
#include "util/str.h"

/** Names of changed and untracked files beyond this are too many to remember. */
#define AL_SAVEPOINT_NAMES_BYTES (32u << 20)

/** Files that say what is in progress beyond this are not remembered. */
#define AL_SAVEPOINT_FILES_BYTES (16u << 20)

/** One file of the git directory. */
struct al_savepoint_file {
    char *name; /* relative to the git directory */
    struct al_str text;
};

/** All that was noted.  Set up with AL_SAVEPOINT_INIT; private to the files before*.c. */
struct al_savepoint {
    char *head;          /* what HEAD holds; NULL: it is a link */
    char *commit;        /* the commit that is, "" on an unborn branch */
    struct al_strv refs; /* the references that would move, each followed by its commit */
    struct al_savepoint_file *files;
    size_t nfiles;
    char *index;             /* a copy of it, in the private directory */
    bool had_index;          /* else the copy is an empty name */
    struct al_strv incoming; /* commits whose files may be written */
    struct al_buffer dirty;  /* NUL-terminated names: changed and untracked files */
    struct al_buffer
        preexisting; /* files that only the incoming commits track, and that were there */
};

#define AL_SAVEPOINT_INIT                                                                          \
    ((struct al_savepoint){ .dirty = { .max_bytes = AL_SAVEPOINT_NAMES_BYTES },                    \
                            .preexisting = { .max_bytes = AL_SAVEPOINT_NAMES_BYTES } })

void al_savepoint_clear(struct al_savepoint *savepoint);

/**
 * Note what the repository is.
 *
 * @param incoming  Commits (words git takes) whose content may be written into the working tree.
 * @return 0; AL_ERR_EXECUTION when there is too much to remember, or a file of the git directory is
 *         no plain file.
 */
int al_savepoint_take(const struct al_repo *repo, const struct al_strv *incoming,
                      struct al_run_limits *budget, struct al_savepoint *ret_savepoint,
                      struct al_error *err);

/** The same without the working tree, for what writes none: to be put back with
 * al_savepoint_restore_git_dir(). */
int al_savepoint_take_git_dir(const struct al_repo *repo, struct al_savepoint *ret_savepoint,
                              struct al_error *err);
/** References and the files that say what is in progress are put back; the index stays. */
int al_savepoint_restore_git_dir(struct al_repo *repo, const struct al_savepoint *savepoint,
                                 struct al_error *err);

/**
 * Put everything back.  Has time of its own and cannot be cancelled.  Files that appeared since and
 * were written by no git stay.
 */
int al_savepoint_restore(struct al_repo *repo, const struct al_savepoint *savepoint,
                         struct al_error *err);

/**
 * What to do when the command has ended with `r`: put everything back when that is AL_ERR_TIMEOUT
 * or AL_ERR_CANCELLED, and say in err->detail that it was, or why it could not be.
 * @return `r`
 */
int al_savepoint_restore_if_stopped(struct al_repo *repo, const struct al_savepoint *savepoint,
                                    int r, struct al_error *err);

/**
 * The same for a command that ran to its end and failed with AL_ERR_EXECUTION: what failed has not
 * happened, not half of it.  The error stays what it was; err->detail says when something could not
 * be put back.
 * @return `r`
 */
int al_savepoint_restore_if_failed(struct al_repo *repo, const struct al_savepoint *savepoint,
                                   int r, struct al_error *err);

/** before_files.c: the part in the git directory. */
int al_savepoint_take_files(const struct al_repo *repo, struct al_savepoint *savepoint,
                            struct al_error *err);
int al_savepoint_restore_files(const struct al_repo *repo, const struct al_savepoint *savepoint,
                               struct al_error *err);
int al_savepoint_restore_index(const struct al_repo *repo, const struct al_savepoint *savepoint,
                               struct al_error *err);

/** before_tree.c: the part in the working tree. */
int al_savepoint_take_tree(const struct al_repo *repo, struct al_run_limits *budget,
                           struct al_savepoint *savepoint, struct al_error *err);
int al_savepoint_restore_tree(const struct al_repo *repo, const struct al_savepoint *savepoint,
                              struct al_run_limits *budget, struct al_error *err);

#endif
