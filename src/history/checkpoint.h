// SPDX-License-Identifier: Apache-2.0
/*
 * Checkpoints: what a repository was, byte for byte, before and after an execution.
 *
 * A checkpoint is a commit in a bare repository of airlock's own, the store.  docs/CHECKPOINTS.md
 * describes the format.  Taking a checkpoint opens the repository's files by descriptor and writes
 * to the store alone.  It runs no hook and no filter, takes no lock in the repository and writes
 * nothing there.
 *
 * The checkpoints of an execution:
 *
 *   before  taken first; the journal's `git_commit` is its id
 *   after   taken at the end; al_checkpoint_find_after() finds it by the id of the one before;
 *           missing when airlock died during the execution
 *
 * Threads: one thread at a time uses a store handle.  Several handles, also in several processes,
 * may be open on one store.
 *
 * Source: gitformat-pack(5), gitformat-index(5), gitrepository-layout(5).
 */
#ifndef AL_HISTORY_CHECKPOINT_H
#define AL_HISTORY_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "git/oid.h"
#include "git/repo/repo.h"

/** The configuration ([journal]) and the place of the stores. */
struct al_checkpoint_settings {
    /** Absolute path, outside every root.  Each store is a folder below it. */
    const char *state_dir;
    /** A store larger than this loses its oldest checkpoints. */
    uint64_t max_store_bytes;
    /** Checkpoints younger than this stay even in a store that is too large.  Otherwise an agent
     * could fill the store to get rid of what was taken before. */
    uint32_t keep_s;
    /** The beginning of this session (since 1970; 0 when unknown).  Checkpoints taken since then
     * stay as well. */
    int64_t began_ns;
    uint32_t max_age_days; /**< older checkpoints are dropped */
    /** Larger files are left out, with a warning that names them. */
    uint64_t max_file_bytes;
    /** Globs of ignored files that are included all the same; NULL for none. */
    const struct al_strv *include_ignored;
};

/** The open store of one working tree. */
struct al_store;

/**
 * Open the store of a repository's working tree and lock it shared: no checkpoint is dropped while
 * it is open.
 *
 * @param create  Create the store if there is none.
 * @return 0; AL_ERR_NOT_FOUND without `create`; AL_ERR_EXECUTION when the store cannot be created
 *         or read; AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 * Ownership: the caller closes the store.  `settings` and `repo` must outlive it.
 */
int al_store_open(const struct al_checkpoint_settings *settings, struct al_repo *repo, bool create,
                  struct al_store **ret_store, struct al_error *err);
void al_store_close(struct al_store *store);

/** Drop the checkpoints that are too old or too many and join small packs, if either is due.  Does
 * nothing while another handle is open on the store. */
int al_store_gc(struct al_store *store, struct al_error *err);

/** The room that a store has. */
enum al_room {
    /** The next checkpoint fits, or older ones can be dropped for it. */
    AL_ROOM_ENOUGH,
    /** The store is larger than max_store_bytes, and no checkpoint can be dropped yet. */
    AL_ROOM_SHORT,
    /** The store is larger than twice max_store_bytes, and no checkpoint can be dropped yet. */
    AL_ROOM_NONE,
};

/** Find out how much room the store has, before a checkpoint is taken. */
int al_store_room(struct al_store *store, enum al_room *ret_room, struct al_error *err);

/** The parts that a checkpoint may be without, since the execution cannot change them.  HEAD, the
 * configuration and the state of unfinished operations are in every checkpoint. */
enum al_checkpoint_parts {
    AL_PARTS_WORKTREE = 1 << 0, /**< the files of the working tree */
    AL_PARTS_INDEX = 1 << 1,
    AL_PARTS_REFS = 1 << 2,
};

struct al_differences;

/** Why a checkpoint is taken.  Borrowed. */
struct al_checkpoint_reason {
    const char *tool, *operation; /**< for users who look at the store */
    unsigned without; /**< the parts that the execution cannot change (enum al_checkpoint_parts) */
    /** The files, relative to the top, that the execution can write, or in a checkpoint after it
     * has written, among them all that are below one.  NULL: any. */
    const struct al_strv *writes;
    /** In the same way: "config" if the execution can change the configuration, "HEAD", and the
     * references that it can move, by full name or as "refs/remotes/".  NULL: all. */
    const struct al_strv *moves;
    bool rewrites;     /**< the execution may take commits from a reference that it moves */
    bool keeps_staged; /**< what is staged stays so, or gets into a commit or a stash */
    /** The linked worktrees that the execution makes or removes as "linked<top>", and those that
     * it may lock or unlock as "linked-lock<top>": the checkpoint has them as well
     * (history/worktree.h).  NULL: none. */
    const struct al_strv *linked;
    /** The id of the one before, for a checkpoint after an execution.  Else NULL. */
    const char *before;
    /** Full names of references that the operation may delete or move; may be NULL. */
    const struct al_strv *dropping;
    /** Files, relative to the top, that the operation may overwrite; may be NULL. */
    const struct al_strv *overwriting;
    /** Receives the files of `overwriting`, or those below them, that exist and that the checkpoint
     * does not have.  May be NULL. */
    struct al_strv *ret_missing;
    /** The changes of the execution, received with `before`.  The checkpoint before is the one
     * after as well if there are none, and no other is kept.  May be NULL. */
    struct al_differences *ret_changes;
};

/**
 * Take a checkpoint of the repository as it is now.
 *
 * @param[out] ret_id  The commit.  Every call makes a new one, even if nothing changed.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_SNAPSHOT_DISABLED when it cannot be taken;
 *         AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 */
int al_checkpoint_create(struct al_store *store, const struct al_checkpoint_reason *reason,
                         char ret_id[AL_OID_TEXT], struct al_error *err);

/** A checkpoint that the store does not have yet. */
struct al_pending_checkpoint;

/**
 * Take a checkpoint before an execution that may still be refused.
 *
 * No list of the store has it until al_checkpoint_accept(), and al_checkpoint_exists() denies it.
 * Functions that read from `store` find it by its id.  Meanwhile neither another checkpoint may be
 * taken with this handle nor al_store_gc() called.
 *
 * @param reason  Without `before` and `dropping`.
 * @return As al_checkpoint_create().
 * Ownership: the caller frees *ret_pending before it closes the store.
 */
int al_checkpoint_create_pending(struct al_store *store, const struct al_checkpoint_reason *reason,
                                 struct al_pending_checkpoint **ret_pending,
                                 char ret_id[AL_OID_TEXT], struct al_error *err);

/**
 * Make a pending checkpoint one of the store, as al_checkpoint_create() does.  Call it once.
 *
 * @param dropping  As in struct al_checkpoint_reason.
 * @return As al_checkpoint_create().
 */
int al_checkpoint_accept(struct al_pending_checkpoint *taken, const struct al_strv *dropping,
                         struct al_error *err);

/** Write a commit beside a pending checkpoint that has its working tree with changes made to it.
 * al_bare_diff() compares the two. */
int al_pending_checkpoint_changed(struct al_pending_checkpoint *taken,
                                  const struct al_differences *changes, char ret_id[AL_OID_TEXT],
                                  struct al_error *err);

/** Write a blob in the same way. */
int al_pending_checkpoint_blob(struct al_pending_checkpoint *taken, const struct al_str *content,
                               char ret_oid[AL_OID_TEXT], struct al_error *err);

/** Release it.  One that was not accepted is gone without a trace.  NULL is allowed. */
void al_pending_checkpoint_free(struct al_pending_checkpoint *taken);

/** Test whether the store has this checkpoint.  It may have been dropped. */
bool al_checkpoint_exists(struct al_store *store, const char *id);

/**
 * Find the checkpoint after the execution whose checkpoint before is `before`.
 * @return 0, or AL_ERR_NOT_FOUND: the execution did not come to its end.
 */
int al_checkpoint_find_after(struct al_store *store, const char *before, char ret_id[AL_OID_TEXT],
                             struct al_error *err);

/** The subject of a difference. */
enum al_part {
    AL_PART_WORKTREE, /**< a file of the working tree */
    AL_PART_INDEX,    /**< the index; its name is "index" */
    AL_PART_HEAD,     /**< HEAD; its name is "HEAD" */
    AL_PART_REF,      /**< a reference, by its full name */
    AL_PART_STASH,    /**< the stash's reflog, "logs/refs/stash" */
    AL_PART_STATE,    /**< another file of the git directory */
    AL_PART_LINKED,   /**< a linked worktree as a whole, "linked<top>", or whether it is locked,
                         "linked-lock<top>" */
};

/** One difference between two checkpoints; or, with only `to` and `to_mode`, one thing that a
 * checkpoint has. */
struct al_difference {
    enum al_part part;
    char *name;
    unsigned from_mode, to_mode; /**< st_mode of a file; 0 where it is absent */
    /** NULL where it is absent.  A file's blob; of a reference or HEAD an object id, or "ref:
     * <name>" for a symbolic one; of the index a digest of its entries. */
    char *from, *to;
    /** A file of the working tree that is absent in `from` because it was left out. */
    bool was_left_out;
};

struct al_differences {
    struct al_difference *items; /**< sorted by part, then by name */
    size_t count;
    /** The bytes of the index differ.  Its entries, and with them `items`, may be equal. */
    bool index_was_written;
};

void al_differences_clear(struct al_differences *changes);

/** Order differences by part, then by name: for qsort(3) and bsearch(3), and all of them. */
int al_difference_order(const void *a, const void *b);
void al_differences_sort(struct al_differences *changes);

/** Append one, whose values the caller sets. */
struct al_difference *al_differences_add(struct al_differences *changes, enum al_part part,
                                         const char *name);

/** Find one by its part and name; NULL: there is none. */
struct al_difference *al_change_find(const struct al_differences *changes, enum al_part part,
                                     const char *name);

/** Remove one of them. */
void al_change_drop(struct al_differences *changes, struct al_difference *change);

/** The first one whose name is not before `name`, of the same part or a later one. */
size_t al_change_at(const struct al_differences *changes, enum al_part part, const char *name);

/** Append references as a checkpoint has them, "<value> SP <name>" LF each, with their values as
 * `to`.  False when the text is not in that form. */
bool al_refs_parse(const char *text, size_t len, struct al_differences *refs);

/** Append the differences between two lists of things, both sorted.
 * @param without  The parts that are not compared (enum al_checkpoint_parts). */
void al_values_compare(const struct al_differences *from, const struct al_differences *to,
                       unsigned without, struct al_differences *changes);

/** The commit of HEAD on a branch without commits. */
#define AL_COMMIT_NONE "none"

/** A checkpoint as it was read. */
struct al_saved {
    char id[AL_OID_TEXT];
    unsigned without; /**< the parts that it does not have (enum al_checkpoint_parts) */
    bool writes_all;  /**< the execution can write every file of the working tree */
    /** Otherwise: those that it can.  In a checkpoint after an execution whose files are known:
     * these, and those that git was seen to write.  Sorted. */
    struct al_strv writes;
    bool moves_all; /**< the execution can change every reference, HEAD and the configuration */
    struct al_strv moves;      /**< otherwise: see struct al_checkpoint_reason */
    struct al_strv pieces;     /**< blobs that are the index file together; none: it has none */
    struct al_str index;       /**< that file, if al_checkpoint_load_index() read it */
    int64_t index_mtime_ns;    /**< when it was written, since 1970; 0: unknown */
    char entries[AL_OID_TEXT]; /**< digest of its entries */
    struct al_strv staged;     /**< blobs of entries that HEAD's commit does not have */
    /** The commit that HEAD led to; AL_COMMIT_NONE: none yet.  "": a checkpoint that has
     * references, which tell it, or one for which nobody asks. */
    char commit[AL_OID_TEXT];
    char repository[AL_OID_TEXT]; /**< see al_store_repository(); "": unknown */
    struct al_strv
        left_out; /**< files that were too large or changed while they were read; sorted */
    /** The files of the working tree (relative to the top, as bytes on disk); the index; HEAD; the
     * references; and files of the git directory, relative to it: the state of an unfinished
     * operation (MERGE_HEAD, rebase-merge/…), the configuration, and the stash's reflog.
     * Configuration and reflog are in the common directory, as references are.  Sorted. */
    struct al_differences values;
    struct al_str modes; /**< the permissions of the files, as history/modes.h has them */

    bool has_files; /* `values` has those of the working tree */
    bool is_kept;
    struct al_saved *next;
};

/** The parts of the tree of a checkpoint that are files of the working tree, ended by NULL. */
extern const char *const al_saved_files[];

/**
 * Read a checkpoint, but for the files of its working tree.
 *
 * @param keep  It stays valid until the store is closed.  Otherwise at least until three others
 *              have been loaded.
 */
int al_checkpoint_load(struct al_store *store, const char *id, bool keep,
                       const struct al_saved **ret_saved, struct al_error *err);

/** Append the content of blobs of a store, one after the other. */
int al_store_read_blobs(struct al_store *store, const char *const *oids, size_t count,
                        struct al_str *ret_text, struct al_error *err);

/** Read its index too. */
int al_checkpoint_load_index(struct al_store *store, const char *id, bool keep,
                             const struct al_saved **ret_saved, struct al_error *err);

/** Read its files too. */
int al_checkpoint_load_files(struct al_store *store, const char *id, bool keep,
                             const struct al_saved **ret_saved, struct al_error *err);

/**
 * Check whether a checkpoint could give files back: each is a regular file with the content that
 * the checkpoint has.
 *
 * @param dir_fd  A directory of the working tree, O_PATH or not.  `dir` is its path below the top,
 *                "" for the top itself.
 * @param names   Files in that directory.
 * @param[out] ret_missing  The first file that the checkpoint could not give back, borrowed from
 *                          `names`; NULL when there is none.
 */
int al_checkpoint_contains(struct al_store *store, const char *id, int dir_fd, const char *dir,
                           const struct al_strv *names, const char **ret_missing,
                           struct al_error *err);

/** Find out which blobs the store has, or the repository whose objects it borrows: sets ret_has[i]
 * for oids[i]. */
int al_store_has_blobs(struct al_store *store, const struct al_oid *oids, size_t count,
                       bool *ret_has, struct al_error *err);

/**
 * Compare the checkpoints before and after an execution, in the parts that both have: the
 * differences that it can have made.  Parts that its operation does not change were changed by
 * another program meanwhile.
 *
 * Packing references or refreshing the file times in an index makes no difference.  Two indexes are
 * equal when their entries are: mode, object, stage, path, and the intent-to-add, skip-worktree and
 * assume-unchanged bits.
 *
 * @param before  The checkpoint before the execution.
 * @param end     The one after.  A later one if the execution was interrupted.
 */
int al_checkpoint_changes_of(struct al_store *store, const char *before, const char *end,
                             struct al_differences *ret_changes, struct al_error *err);

/** Whether a file is one of these, below one of them, or in the way of one. */
bool al_files_concern(const struct al_strv *files, const char *path);

/** Test whether a reference or file of the git directory is one of those that can be moved, see
 * struct al_checkpoint_reason. */
bool al_moves_concern(const struct al_strv *moves, const char *name);

#endif
