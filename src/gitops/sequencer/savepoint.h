// SPDX-License-Identifier: Apache-2.0
/*
 * Save the state of a repository before a git command that works in several steps, and restore it
 * when the command is killed half way: by its deadline, or because the call was cancelled.
 *
 * Saved:    HEAD and its branch; the index; the files that describe an operation in progress
 *           (MERGE_HEAD, rebase-merge/ and so on); the names of changed and untracked files.
 * Restored: all of these.  Changed and untracked files are the user's and git does not touch them;
 *           every other file is rewritten as the index has it.
 *
 *     al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
 *
 *     r = al_savepoint_create(repo, &incoming, budget, &savepoint, err);
 *     if (r < 0)
 *         return r;
 *     r = al_git_run(&repo->at, &command, &how, budget, &output, err);
 *     r = al_savepoint_restore_if_stopped(repo, &savepoint, r, err);
 *
 * The caller holds the repository's write lock from al_savepoint_create() on.
 */
#ifndef AL_GITOPS_SEQUENCER_SAVEPOINT_H
#define AL_GITOPS_SEQUENCER_SAVEPOINT_H

#include <time.h>

#include "gitops/repo/repo.h"
#include "proc/proc.h"
#include "util/str.h"

/** Limit on the names of changed and untracked files. */
#define AL_SAVEPOINT_NAMES_BYTES (32u << 20)

/** A larger index is not kept in memory. */
#define AL_SAVEPOINT_MEMORY_BYTES (4u << 20)

/** Limit on the content of the files that describe an operation in progress. */
#define AL_SAVEPOINT_FILES_BYTES (16u << 20)

/** One saved file of the git directory. */
struct al_savepoint_file {
    char *name; /* relative to the git directory */
    struct al_str text;
};

/** The saved state. Set up with AL_SAVEPOINT_INIT; the members are private to savepoint*.c. */
struct al_savepoint {
    char *head;          /* content of HEAD; NULL: HEAD is a symbolic link */
    char *commit;        /* commit that HEAD is at; "" on an unborn branch */
    struct al_strv refs; /* references that would move, each followed by its commit */
    struct al_savepoint_file *files;
    size_t nfiles;
    int index; /* a copy of the index, open for reading; -1: there was no index */
    struct timespec index_times[2]; /* of the index: last access and last change */
    struct al_strv incoming;        /* commits whose files may be written */
    /* Without `any_file`: the only files that the command can write or remove, sorted. */
    struct al_strv written;
    bool any_file;
    const struct al_watch *watch; /* of the call: what is put back destroys nothing newer */
    struct al_buffer dirty;       /* changed and untracked files, NUL-terminated names */
    struct al_buffer
        preexisting; /* what was in the place of files that only the incoming commits track */
};

#define AL_SAVEPOINT_INIT                                                                          \
    ((struct al_savepoint){ .index = -1,                                                           \
                            .dirty = { .max_bytes = AL_SAVEPOINT_NAMES_BYTES },                    \
                            .preexisting = { .max_bytes = AL_SAVEPOINT_NAMES_BYTES } })

void al_savepoint_clear(struct al_savepoint *savepoint);

/**
 * Save the state of the repository.
 *
 * @param incoming  Commits (revisions as git accepts them) whose content may be written into the
 *                  working tree.
 * @return 0; AL_ERR_EXECUTION when a limit is exceeded, or a file of the git directory is not a
 *         regular file.
 */
int al_savepoint_create(const struct al_repo *repo, const struct al_strv *incoming,
                        struct al_run_limits *budget, struct al_savepoint *ret_savepoint,
                        struct al_error *err);

/** Fail with AL_CODE_DIRTY_WORKDIR if the incoming commits write over something that is untracked,
 * ignored or not. */
int al_savepoint_check_no_overwrite(const struct al_repo *repo, struct al_savepoint *savepoint,
                                    struct al_run_limits *budget, struct al_error *err);

/**
 * The same before a command that can write or remove only these files, relative to the top.  A
 * restore leaves the other files as they are.
 *
 * @param files  NULL: any file.
 */
int al_savepoint_create_for(const struct al_repo *repo, const struct al_strv *incoming,
                            const struct al_strv *files, struct al_run_limits *budget,
                            struct al_savepoint *ret_savepoint, struct al_error *err);

/** Save the state except the index and the working tree. Restore with
 * al_savepoint_restore_git_dir(). */
int al_savepoint_take_git_dir(const struct al_repo *repo, struct al_savepoint *ret_savepoint,
                              struct al_error *err);
/** Restore the references and the files that describe an operation in progress. The index stays as
 * it is. */
int al_savepoint_restore_git_dir(struct al_repo *repo, const struct al_savepoint *savepoint,
                                 struct al_error *err);

/**
 * Restore everything.  Has its own time limit and cannot be cancelled.  Files that appeared since
 * and that git did not write stay.
 */
int al_savepoint_restore(struct al_repo *repo, const struct al_savepoint *savepoint,
                         struct al_error *err);

/**
 * Finish a command that ended with the status `r`: restore everything when it is AL_ERR_TIMEOUT or
 * AL_ERR_CANCELLED.  err->detail then says that the repository was restored, or why it could not
 * be.
 * @return `r`
 */
int al_savepoint_restore_if_stopped(struct al_repo *repo, const struct al_savepoint *savepoint,
                                    int r, struct al_error *err);

/**
 * The same, and restore everything also when the command ran and failed (AL_ERR_EXECUTION).  The
 * error stays as it is; err->detail is set when the restore failed.
 * @return `r`
 */
int al_savepoint_restore_if_failed(struct al_repo *repo, const struct al_savepoint *savepoint,
                                   int r, struct al_error *err);

/** savepoint_files.c: the part in the git directory. */
int al_savepoint_take_files(const struct al_repo *repo, struct al_savepoint *savepoint,
                            struct al_error *err);
int al_savepoint_restore_files(const struct al_repo *repo, const struct al_savepoint *savepoint,
                               struct al_error *err);

/** savepoint_index.c: the index.  Its copy is in memory; a larger one is a file without a name. */
int al_savepoint_take_index(const struct al_repo *repo, struct al_savepoint *savepoint,
                            struct al_error *err);
/** Replace the index by the copy, under git's own lock, with the times that it had. git compares
 * these with the times of the files. */
int al_savepoint_restore_index(const struct al_repo *repo, const struct al_savepoint *savepoint,
                               struct al_error *err);
/**
 * Write the copy as a file for GIT_INDEX_FILE, with the times of the index.
 *
 * @param ret_path  No file has this name when there was no index.  The caller frees the name and
 *                  removes the file.
 */
int al_savepoint_write_index(const struct al_repo *repo, const struct al_savepoint *savepoint,
                             char **ret_path, struct al_error *err);

/** savepoint_tree.c: the part in the working tree. */
int al_savepoint_take_tree(const struct al_repo *repo, struct al_run_limits *budget,
                           struct al_savepoint *savepoint, struct al_error *err);
int al_savepoint_restore_tree(const struct al_repo *repo, const struct al_savepoint *savepoint,
                              struct al_run_limits *budget, struct al_error *err);

#endif
