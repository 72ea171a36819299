// SPDX-License-Identifier: Apache-2.0
/*
 * The files of a working tree in a checkpoint: byte for byte, recorded by git.
 *
 * git has an index over the working tree in the store (git/plumbing/snapshot.h).  Differences from
 * it since the last checkpoint are recorded, and the rest is as the index has it.  A nested
 * repository has an index of its own over its files, and one over its git directory.
 *
 *   in the checkpoint             of the working tree
 *
 *   worktree/<path>               a file
 *   dotgit/<nested>/<path>        a file in <nested>/.git, a directory
 *   dotfile/<nested>              <nested>/.git, a file
 *
 * <nested> is the path of the nested repository in which '%' is "%25" and '/' is "%2F".
 */
#ifndef AL_HISTORY_FILES_H
#define AL_HISTORY_FILES_H

#include "base/fs.h"
#include "base/str.h"
#include "git/plumbing/index_scan.h"
#include "history/modes.h"
#include "history/store.h"

#define AL_DIR_WORKTREE "worktree/"
#define AL_DIR_DOTGIT   "dotgit/"
#define AL_DIR_DOTFILE  "dotfile/"

/** The files of one checkpoint while it is written. */
struct al_files {
    struct al_str stream;    /**< what git-fast-import(1) is told after the checkpoint's tree is
                                empty */
    struct al_strv left_out; /**< too large, unreadable, or no file any more */
    bool whole;              /**< the index was new */
    struct al_file_id index; /**< the index that has them, but for nested repositories */
    char last[AL_OID_TEXT];  /**< the tree that the stream begins with; "": none */
    struct al_modes modes;
    bool is_inline; /**< the stream has the content of what changed: the index does not have it */
    struct al_strv inlined;  /**< these paths */
    struct al_oid_set blobs; /**< their content */
};

#define AL_FILES_INIT ((struct al_files){ .stream = AL_STR_INIT, .modes = AL_MODES_INIT })

void al_files_clear(struct al_files *files);

/**
 * Record the files of the working tree.
 *
 * @param top_fd  The top of the working tree.
 * @param reason  Its `writes` are all that is looked at after an execution, and where git cannot
 *                list the tree.
 * @return 0; AL_ERR_AGAIN when a file changed while it was read; AL_ERR_EXECUTION, AL_ERR_TIMEOUT,
 *         AL_ERR_CANCELLED.
 * Ownership: the caller clears *files in every case.
 */
int al_files_record(struct al_store *store, int top_fd, const struct al_checkpoint_reason *reason,
                    struct al_files *files, struct al_error *err);

/** Compare the next checkpoint with this one.
 *
 * @param tree  What the stream's command `ls` answered: the files without those of nested
 *              repositories.  "": there are none. */
int al_files_accept(struct al_store *store, struct al_files *files, const char *tree,
                    struct al_error *err);

/** Read the store's index over the working tree, as al_index_read() does. */
void al_files_read_index(const struct al_store *store,
                         bool (*give)(void *payload, const struct al_index_entry *entry),
                         void *payload);

/** Append the paths that the store's index over the working tree lacks.  `paths` is sorted. */
void al_files_find_new(const struct al_store *store, struct al_strv *paths,
                       struct al_strv *ret_new);

/** Forget what was recorded: the next checkpoint reads every file.  A store that has lost objects,
 * or an index, needs it. */
void al_files_forget(const struct al_store *store);

/** The path in the working tree of a path in the checkpoint, which begins with one of the three
 * directories; NULL: it is of none of them.  Caller frees. */
char *al_files_path(const char *saved);

/** The path in the checkpoint of a path of the working tree.  Caller frees. */
char *al_files_saved_path(const char *path);

#endif
