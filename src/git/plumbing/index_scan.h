// SPDX-License-Identifier: Apache-2.0
/*
 * The entries of an index, read from its file without git.
 *
 * Source: gitformat-index(5).
 */
#ifndef AL_GIT_PLUMBING_INDEX_SCAN_H
#define AL_GIT_PLUMBING_INDEX_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "git/command.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/repo/repo.h"

/** One entry; valid during the callback, or until the next one is read. */
struct al_index_entry {
    const char *name; /**< relative to the top, as raw bytes */
    struct al_oid oid;
    uint32_t changed_s;    /**< its file's ctime, in seconds since 1970 */
    uint32_t mode;         /**< file mode: 0100644, 0100755, 0120000, 0160000 or 0040000 */
    unsigned stage;        /**< 0, or a side of a conflict */
    bool skip_worktree;    /**< skip-worktree: the file need not be in the working tree */
    bool assume_unchanged; /**< assume-unchanged: git does not look at the file */
    bool intent_to_add;    /**< intent-to-add: only the name was staged */
};

/** The result of reading an index. */
enum al_index_end {
    AL_INDEX_WHOLE,          /**< every entry was read */
    AL_INDEX_STOPPED,        /**< the callback wanted no more */
    AL_INDEX_PARTIAL,        /**< some entries are in another file (split index), or stand for
                                directories (sparse index) */
    AL_INDEX_NOT_UNDERSTOOD, /**< the file was not understood: entries read so far are invalid */
};

/**
 * Read the entries of an index.
 *
 * @param fd         Open for reading.
 * @param oid_bytes  The length of an object id, 20 or 32; the file does not tell.
 * @param give       Gets each entry; false: no more are wanted.
 */
enum al_index_end al_index_read(int fd, size_t oid_bytes,
                                bool (*give)(void *payload, const struct al_index_entry *entry),
                                void *payload);

/** The digest of the entries of an index, with all that git-ls-files(1) -v -s -z prints of them:
 * equal entries have equal digests, whatever else the index has. */
void al_index_digest(const struct al_str *index, bool sha256, char ret_digest[AL_OID_TEXT]);

/** An index that is read entry by entry.  The members are private. */
struct al_index_scan {
    const unsigned char *data;
    size_t len, at;
    struct al_str file; /* what is read of it */
    struct al_str name; /* of the previous entry, from which version 4 continues */
    size_t oid_bytes;
    uint32_t version, entries; /* entries: not read yet */
    bool failed;
};

/** Begin to read.  There are no entries without a file (-1), or data (NULL). */
void al_index_begin(struct al_index_scan *in, int fd, size_t oid_bytes);
void al_index_begin_bytes(struct al_index_scan *in, const void *data, size_t len, size_t oid_bytes);

/** Read the next entry.  False: there is none. */
bool al_index_next(struct al_index_scan *in, struct al_index_entry *ret_entry);

/** Gets two entries of one name.  NULL: that index has none. */
typedef void al_index_pair_fn(void *payload, const struct al_index_entry *one,
                              const struct al_index_entry *other);

/** Read two indexes side by side to their ends, and release them.  False: one of them was not read
 * as a whole. */
bool al_index_compare(struct al_index_scan *one, struct al_index_scan *other,
                      al_index_pair_fn *give, void *payload);

/** Release it, once.  AL_INDEX_STOPPED when there are more entries. */
enum al_index_end al_index_end(struct al_index_scan *in);

/** Facts about the entries of an index. */
struct al_index_facts {
    /** One is marked as unchanged or as not in the working tree: git does not look at its file. */
    bool marks;
    bool gitlinks;
    bool conflicts;  /**< one is a side of a conflict */
    bool attributes; /**< there is a .gitattributes file, at the top or in a directory */
};

/** Read the repository's index.  A fact is false only if the index was understood completely, or
 * does not exist. */
struct al_index_facts al_repo_index_facts(const struct al_location *at);

/* --- Copies and the lock of an index --- */

/*
 * Scratch indexes: copies of a repository's index on which git stages, commits or resets without
 * the index itself being touched.  They are in the private directory that writing children may
 * write.
 *
 * Source: git(1) "GIT_INDEX_FILE".
 */

/**
 * Copy an index file.
 *
 * @param from      The file; NULL: the repository's own, which need not exist.
 * @param ret_path  The copy.  The caller removes and frees it with al_scratch_index_removep().
 */
int al_scratch_index_make(const struct al_repo *repo, const char *from, char **ret_path,
                          struct al_error *err);

/** git's own lock of an index, `index.lock`: nobody stages, switches or commits while it is held.
 * Set up with AL_INDEX_LOCK_INIT; the members are private. */
struct al_index_lock {
    int git_dir, fd; /* -1: not held */
};

#define AL_INDEX_LOCK_INIT ((struct al_index_lock){ .git_dir = -1, .fd = -1 })

/**
 * Take the lock, and wait for who holds it.  The caller holds the write lock.  Files to be put into
 * place with al_index_lock_install() are copied from the index after this.
 *
 * @return 0; otherwise as al_git_lock_wait().
 */
int al_index_lock_take(const struct al_repo *repo, struct al_index_lock *ret_lock,
                       struct al_error *err);

/** Give the lock back.  Nothing happens when it is not held. */
void al_index_lock_release(struct al_index_lock *lock);

/** Write what the repository's index is to become, which may be long before it does. */
int al_index_lock_write(struct al_index_lock *lock, const char *path, struct al_error *err);

/** Put what was written in the place of the repository's index, which ends the lock. */
int al_index_lock_install(struct al_index_lock *lock, struct al_error *err);

/** Remove the file, and free its name.  Takes the address of the variable. */
void al_scratch_index_removep(char **path);

/** `git read-tree` with these words, which end with NULL.  The caller holds the write lock.
 * @param index  NULL: the repository's own. */
int al_index_read_tree(const struct al_repo *repo, const char *index, const char *const *words,
                       struct al_error *err);

/** `git update-index` with an option for each of the paths, or lines of --index-info, that the
 * input has, NUL after each.
 * @param top_fd  The top of the working tree; 0: it is opened by its path.
 * @param index   NULL: the repository's own. */
int al_index_update(const struct al_repo *repo, int top_fd, const char *index, const char *option,
                    const struct al_str *input, struct al_error *err);

#endif
