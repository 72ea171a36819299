// SPDX-License-Identifier: Apache-2.0
/*
 * Checkpoints: what a repository was, byte for byte, before and after an execution.
 *
 * A checkpoint is a commit in a bare store of airlock's own; docs/CHECKPOINTS.md has the format.
 * Taking one reads the repository's files by descriptor and writes to the store alone: no hook, no
 * filter and no lock of the repository's is involved, and the repository gains nothing.
 *
 * An execution has a checkpoint before and, when it ended, one after.  The journal's `git_commit`
 * is the id of the one before; al_checkpoint_find_after() leads to the other.  Where there is none,
 * airlock died in between.
 *
 * Threads: a store handle is used by one thread at a time; several handles, also of several
 * processes, may be open on one store.
 *
 * Source: gitformat-pack(5), gitformat-index(5), gitrepository-layout(5).
 */
#ifndef AL_CHECKPOINT_CHECKPOINT_H
#define AL_CHECKPOINT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/oid.h"
#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

/** More files than this in one working tree are refused. */
#ifndef AL_CHECKPOINT_FILES_MAX /* a test that cannot make as many compiles with another */
#define AL_CHECKPOINT_FILES_MAX 1000000u
#endif

/** And more bytes than this of their names. */
#ifndef AL_CHECKPOINT_NAMES_BYTES
#define AL_CHECKPOINT_NAMES_BYTES (512u << 20)
#endif

/** What the person configured ([journal]) and where stores are. */
struct al_checkpoint_settings {
    const char *state_dir;    /**< absolute, outside every root; each store is a folder below it */
    uint64_t max_store_bytes; /**< a store that grew beyond it loses its oldest checkpoints */
    uint32_t keep_s; /**< but none younger than this: whoever fills a store must not be able to drop
                        what was taken before */
    int64_t began_ns; /**< nor any of this session, which began then (since 1970); 0: unknown */
    uint32_t max_age_days;   /**< older checkpoints go */
    uint64_t max_file_bytes; /**< larger files are left out, with a warning that names them */
    const struct al_strv
        *include_ignored; /**< globs of ignored files to take as well; NULL: none */
};

/** The open store of one working tree. */
struct al_store;

/**
 * Open the store of a repository's working tree and hold it: no checkpoint is dropped meanwhile.
 *
 * @param create  Make it when it is not there.
 * @param budget  For the wait while another process clears the store up.
 * @return 0; AL_ERR_NOT_FOUND without `create`; AL_ERR_EXECUTION when it cannot be made or read;
 *         AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 * Ownership: the caller closes it; `settings` and `repo` outlive the handle.
 */
int al_store_open(const struct al_checkpoint_settings *settings, struct al_repo *repo, bool create,
                  struct al_run_limits *budget, struct al_store **ret_store, struct al_error *err);
void al_store_close(struct al_store *store);

/**
 * Drop what is too old or too much and join small packs, when there is reason to.  Does nothing
 * while another handle is open on the store.
 */
int al_store_gc(struct al_store *store, struct al_run_limits *budget, struct al_error *err);

/** How much room a store has. */
enum al_room {
    AL_ROOM_ENOUGH, /**< it fits, or there is something that may go */
    AL_ROOM_SHORT,  /**< more than max_store_bytes, and nothing of it may go yet */
    AL_ROOM_NONE,   /**< and that twice over */
};

/** Look at it, before a checkpoint is taken. */
int al_store_room(struct al_store *store, struct al_run_limits *budget, enum al_room *ret_room,
                  struct al_error *err);

/** What a checkpoint is taken for; borrowed. */
struct al_checkpoint_reason {
    const char *tool, *operation; /**< for people who look at the store */
    const char
        *before; /**< id of the execution's checkpoint before, for the one after; else NULL */
    const struct al_strv *dropping; /**< full names of references the operation may drop; NULL */
    const struct al_strv
        *overwriting;            /**< files below the top the operation may write over; NULL */
    struct al_strv *ret_missing; /**< those of them that are there, in whole or in part, and that
                                    the checkpoint does not have; may be NULL */
    bool unnamed; /**< no reference yet: it counts once al_checkpoint_name() gave it one */
    bool preview; /**< nothing is going to change: what lost references reached is not packed */
};

/**
 * Take a checkpoint of the repository as it is.
 *
 * @param[out] ret_id  The commit; a new one for every call, whatever is in it.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_SNAPSHOT_DISABLED when it cannot be taken;
 *         AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 */
int al_checkpoint_create(struct al_store *store, const struct al_checkpoint_reason *reason,
                         struct al_run_limits *budget, char ret_id[AL_OID_TEXT],
                         struct al_error *err);

/**
 * Give a checkpoint that was taken unnamed its reference, as one before an execution.
 *
 * Until then, and if it never happens, it is what nobody names, and goes when the store is cleared
 * up; while the store is open it can be read.
 */
int al_checkpoint_name(struct al_store *store, const char *id, struct al_error *err);

/** Whether the store has this checkpoint (it may have been dropped). */
bool al_checkpoint_exists(struct al_store *store, const char *id);

/**
 * The checkpoint after the execution whose checkpoint before is `before`.
 * @return 0, or AL_ERR_NOT_FOUND: the execution never came to its end.
 */
int al_checkpoint_find_after(struct al_store *store, const char *before, char ret_id[AL_OID_TEXT],
                             struct al_error *err);

/** A checkpoint's own lines. */
struct al_checkpoint {
    char id[AL_OID_TEXT];
    char before[AL_OID_TEXT]; /**< of an "after": the id of its before; "" for a "before" */
    int64_t taken_ns;         /**< since 1970 */
};

struct al_checkpoint_list {
    struct al_checkpoint *items; /**< oldest first */
    size_t count;
};

/** Every checkpoint of the store.  Release with al_checkpoint_list_clear(). */
int al_checkpoint_list(struct al_store *store, struct al_run_limits *budget,
                       struct al_checkpoint_list *ret_list, struct al_error *err);
void al_checkpoint_list_clear(struct al_checkpoint_list *list);

/** One file of a checkpoint: of the working tree (relative to the top) or of the git directory. */
struct al_saved_file {
    char *path;            /**< bytes as on disk, not always UTF-8 */
    unsigned mode;         /**< st_mode: S_IFREG or S_IFLNK and the permission bits */
    char oid[AL_OID_TEXT]; /**< the blob: content, or the target of a link */
};

struct al_saved_files {
    struct al_saved_file *items; /**< sorted by path, as bytes */
    size_t count;
};

void al_saved_files_clear(struct al_saved_files *files);

/** The working tree of a checkpoint. */
int al_checkpoint_worktree(struct al_store *store, const char *id, struct al_run_limits *budget,
                           struct al_saved_files *ret_files, struct al_error *err);

/** One reference: `value` is an object id, or "ref: <name>" for a symbolic one. */
struct al_saved_ref {
    char *name, *value;
};

/** The files below a directory of it, "" for the top, named from there.  Of the mode, only the type
 * and whether it is executable. */
int al_checkpoint_files_in(struct al_store *store, const char *id, const char *dir,
                           struct al_run_limits *budget, struct al_saved_files *ret_files,
                           struct al_error *err);

/**
 * Whether files can be given back as they are now: each is a regular file with the content that the
 * checkpoint has.
 *
 * @param dir_fd  A directory of the working tree, O_PATH or not; `dir` is its path below the top,
 *                "" for the top itself.
 * @param names   Files in it.
 * @param[out] ret_missing  The first that cannot, borrowed from `names`; NULL: all of them can.
 */
int al_checkpoint_contains(struct al_store *store, const char *id, int dir_fd, const char *dir,
                           const struct al_strv *names, struct al_run_limits *budget,
                           const char **ret_missing, struct al_error *err);

/** All of a checkpoint but the working tree. */
struct al_saved_state {
    bool has_index;
    struct al_str index;       /**< the index file, byte for byte */
    char entries[AL_OID_TEXT]; /**< digest of its entries: the same for the same ones */
    char *head;                /**< HEAD's line, as a value of a reference */
    struct al_saved_ref *refs; /**< sorted by name; loose ones and packed ones alike */
    size_t nrefs;
    /** Files of the git directory, relative to it: the state of an operation (MERGE_HEAD,
     * rebase-merge/…), the configuration, and the stash's reflog as logs/refs/stash (which is in
     * the common directory, like refs and config). */
    struct al_saved_files files;
    struct al_strv left_out; /**< files that were too large or changed while they were read */
};

/** Read everything of a checkpoint that is small.  Release with al_saved_state_clear(). */
int al_checkpoint_state(struct al_store *store, const char *id, struct al_run_limits *budget,
                        struct al_saved_state *ret_state, struct al_error *err);
void al_saved_state_clear(struct al_saved_state *state);

/** Takes a blob's bytes, in pieces; `last` with the final one (which may be empty).  A negative
 * status stops the reading and is what al_checkpoint_read() returns. */
typedef int (*al_blob_fn)(void *payload, size_t which, const char *data, size_t len, bool last,
                          struct al_error *err);

/** Read blobs of the store, in the order given; `which` counts in it. */
int al_checkpoint_read(struct al_store *store, const char *const *oids, size_t noids,
                       al_blob_fn take, void *payload, struct al_run_limits *budget,
                       struct al_error *err);

/** What a difference is about. */
enum al_part {
    AL_PART_WORKTREE, /**< a file of the working tree */
    AL_PART_INDEX,    /**< the index, "index" */
    AL_PART_HEAD,     /**< "HEAD" */
    AL_PART_REF,      /**< a reference, by its full name */
    AL_PART_STASH,    /**< the stash's reflog, "logs/refs/stash" */
    AL_PART_STATE,    /**< another file of the git directory */
};

/** One difference between two checkpoints. */
struct al_difference {
    enum al_part part;
    char *name;
    unsigned from_mode, to_mode; /**< of a file; 0 where it is absent */
    char *from, *to; /**< a file's blob; the value of HEAD or a reference; NULL where absent */
};

struct al_differences {
    struct al_difference *items; /**< by part, then by name */
    size_t count;
};

/**
 * Compare two checkpoints of one store.
 *
 * Which references are packed and what an index remembers about file times does not count: two
 * indexes are the same when their entries are (mode, object, stage, path, and whether it is marked
 * unchanged or absent).
 */
int al_checkpoint_compare(struct al_store *store, const char *from, const char *to,
                          struct al_run_limits *budget, struct al_differences *ret_changes,
                          struct al_error *err);
void al_differences_clear(struct al_differences *changes);

#endif
