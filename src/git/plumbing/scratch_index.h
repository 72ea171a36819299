// SPDX-License-Identifier: Apache-2.0
/*
 * Scratch indexes: copies of a repository's index on which git stages, commits or resets without
 * the index itself being touched.  They are in the private directory that writing children may
 * write.
 *
 * Source: git(1) "GIT_INDEX_FILE".
 */
#ifndef AL_GIT_PLUMBING_SCRATCH_INDEX_H
#define AL_GIT_PLUMBING_SCRATCH_INDEX_H

#include "git/command.h"
#include "git/repo/repo.h"

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
 * Take the lock, and wait for who holds it.  With the write lock held.  Whatever is to be put into
 * place with al_index_lock_install() is copied from the index after this.
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

/** `git read-tree` with these words, which end with NULL.  With the write lock held.
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
