// SPDX-License-Identifier: Apache-2.0
/*
 * The store on disk, for the files of this folder.
 *
 *   store.git               objects; refs/staged/<uuid>; refs/base/<key>, see staging/base.h;
 *                           refs/pull/<key>, see staging/pull/private.h; none is packed
 *   staged/<uuid>.json      a staged commit: it exists as long as this file does
 *   sandboxes/<key>.alive   locked by the process of a memory sandbox
 *   lock                    locked by a process that changes any of these
 *
 * Files are written beside and renamed, so a reader needs no lock.  A process that reads, decides
 * and then writes holds the lock in between.  Objects that no reference holds may be deleted
 * whenever the lock is not held: after a day, and at once if the store is full.
 */
#ifndef AL_STAGING_STORE_H
#define AL_STAGING_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"
#include "git/oid.h"
#include "git/plumbing/bare.h"
#include "git/run.h"
#include "staging/stage.h"
#include "staging/staging.h"

#define AL_REF_STAGED       "refs/staged/"
#define AL_REF_BASE         "refs/base/"
#define AL_REF_PULL         "refs/pull/"

#define AL_STAGING_KEY_TEXT 33

/** See staging/staging.h. */
struct al_staging {
    struct al_staging_options options;
    char *dir; /* <state>/staging/<id> */
    int dir_fd, staged_fd, sandboxes_fd, pack_fd;
    struct al_location bare;       /* store.git; git gets al_staging_bare() of it */
    char key[AL_STAGING_KEY_TEXT]; /* of the sandbox; "" without one */
    int alive_fd;                  /* sandboxes/<key>.alive, locked; -1: not a memory sandbox */

    pthread_mutex_t mutex; /* held with the file lock; recursive */
    int lock_fd;
    unsigned depth; /* how often this thread has locked */
};

/**
 * Lock the store against other threads and processes.  The thread that holds the lock may lock it
 * again.
 *
 * @param budget  AL_ERR_TIMEOUT and AL_ERR_CANCELLED while waiting.
 */
int al_staging_lock(struct al_staging *staging, struct al_run_limits *budget, struct al_error *err);
void al_staging_unlock(struct al_staging *staging);

/** The first digits of a hash of two strings. */
void al_staging_make_key(const char *first, const char *second, char ret_key[AL_STAGING_KEY_TEXT]);

/** The store with the limits of a call, for git.  Borrows everything. */
struct al_location al_staging_bare(const struct al_staging *staging, struct al_run_limits *budget);

/** Test whether a sandbox was in memory, and its process has ended. */
bool al_staging_is_gone(const struct al_staging *staging, const char *key);

/** Remove objects that nothing names, however young they are, if there are too many of them.  A
 * push that waits for its approval may then have to be repeated.  The caller holds the lock. */
int al_staging_make_room(struct al_staging *staging, struct al_run_limits *budget,
                         struct al_error *err);

/** "cannot use the staging store '…': <errno>". */
int al_staging_unusable(const struct al_staging *staging, int errno_value, struct al_error *err);

/** The object of a reference of the store.  False: there is none. */
bool al_staging_read_ref(const struct al_staging *staging, const char *name,
                         struct al_oid *ret_oid);

/** Delete a reference, durable.  It need not exist. */
int al_staging_delete_ref(struct al_staging *staging, const char *name, struct al_error *err);

/** Put the names in a directory of store.git on the disk. */
int al_staging_sync(const struct al_staging *staging, const char *dir, struct al_error *err);

/* --- Records --- */

/* The record of a staged commit on disk, staged/<uuid>.json, for the files of this folder. */

/** Write a record, durable.  `pushed` is borrowed; NULL: it was not pushed. */
int al_staged_write(const struct al_staging *staging, const struct al_staged *staged,
                    const json_t *pushed, struct al_error *err);

/** Complete the pushes that a killed process began to record.  One that cannot be completed now is
 * left to the next call, which the log says.  The caller holds the lock. */
int al_staged_recover(struct al_staging *staging, struct al_run_limits *budget,
                      struct al_error *err);

/** Remove the record and then the reference. */
int al_staged_remove(struct al_staging *staging, const char *id, struct al_error *err);

/* --- Writing --- */

/*
 * Writing blobs and a commit into the store: a stream of git-fast-import(1), which is collected in
 * a file without a name and given to one git.  The caller holds the store's lock.
 */

/** A stream that is being written.  A failure to write it is reported at its end. */
struct al_import {
    struct al_staging *staging; /* borrowed */
    FILE *file;                 /* NULL: not begun */
    const char *ref;            /* of the commit; NULL: there are blobs alone; borrowed */
};

/** Begin a stream.  Release it with al_import_clear(). */
int al_import_begin(struct al_staging *staging, struct al_import *ret_import, struct al_error *err);
void al_import_clear(struct al_import *import);

/** Put a blob that is in memory. */
void al_import_put(struct al_import *import, const void *data, size_t len);

/**
 * Put the content of a changed file of the sandbox.
 *
 * @return 0; AL_ERR_AGAIN when it is no longer what the change says.
 */
int al_import_put_file(struct al_import *import, const struct al_sandbox_file *change,
                       struct al_deadline *deadline, struct al_error *err);

/**
 * Begin a commit.  The first one of a stream has no parent and no file; a second one of the same
 * reference follows it and has its files.
 *
 * @param ref     Borrowed until the end.
 * @param time_s  Of author and committer.
 */
void al_import_commit(struct al_import *import, const char *ref, const char *message,
                      int64_t time_s);

/** Set a file of the commit, whose blob the store has or gets with this stream; mode 0 removes it.
 * Removed files come first. */
void al_import_set(struct al_import *import, const char *path, unsigned mode,
                   const struct al_oid *oid);

/** Set all files of a base. */
void al_import_set_all(struct al_import *import, const struct al_base *base);

/**
 * Make it durable: the blobs, the commit and the reference to it.
 *
 * @param[out] ret_commit  The last commit; may be NULL.
 */
int al_import_end(struct al_import *import, struct al_run_limits *budget, struct al_oid *ret_commit,
                  struct al_error *err);

/* --- Conflict markers --- */

/*
 * Conflict markers that a pull wrote into files of the sandbox.  Such a file is not staged before
 * they are gone.
 *
 * The base says which files these are, since when, and whether every line `=======` of the file is
 * a marker: one that is left alone is found then, too.  A file staged since has none.  A path may
 * be known although its markers are gone, so the file itself is looked at when it is staged.
 */

/** The label of each side: "<<<<<<< ours (sandbox)", ">>>>>>> theirs (incoming)". */
#define AL_MERGE_LABEL_OURS   "ours (sandbox)"
#define AL_MERGE_LABEL_THEIRS "theirs (incoming)"

/** Test whether every line `=======` of a text with markers is a marker. */
bool al_markers_have_all_separators(const struct al_str *text);

/** Remember in a base that a file gets markers. */
void al_markers_remember(struct al_base *base, const char *path, bool has_all_separators);

/** These files were staged. */
void al_markers_forget(struct al_base *base, const struct al_staged *staged);

/**
 * Check changes that are to be staged.
 *
 * @return 0; AL_ERR_EXECUTION with the reason "conflict" naming a file that has markers.
 */
int al_markers_check(struct al_staging *staging, const struct al_comparison *found,
                     struct al_error *err);

/* --- Choosing files --- */

/* Choosing files by words: a file, a directory or a pattern.  The files of this room use it. */

/** The files to choose from.  Everything is borrowed. */
struct al_choosing {
    const void *items; /**< each begins with its path; sorted by the bytes of the paths */
    size_t count, item_bytes;
    bool *chosen; /**< one for each item; set, never cleared; NULL: it is only asked */
    struct al_deadline *deadline;
};

/** Some of the items. */
struct al_range {
    size_t begin, end;
};

/** The items that lie below a directory; all of them for "". */
struct al_range al_choose_range(const struct al_choosing *from, const char *dir);

/** Choose the file of this path, if it may be one, or else what is below the directory of this
 * path.  Tells whether there is any. */
bool al_choose_path(const struct al_choosing *from, const char *path, bool may_be_file);

/** Choose the files that a pattern matches, see al_sandbox_list().  `is_whole` makes it go by the
 * whole path, also without a '/'. */
int al_choose_matching(const struct al_choosing *from, const char *pattern, bool is_whole,
                       bool *ret_any, struct al_error *err);

/** Test whether a word has a character of patterns. */
bool al_choose_is_pattern(const char *word);

#endif
