// SPDX-License-Identifier: Apache-2.0
/*
 * The working tree that a stash entry belongs to: the one in which airlock pushed it.  All working
 * trees of a repository share one stash, and git does not record this.
 *
 *   file       <state>/stashes/<device>-<inode of the common directory>
 *   record     <object id> TAB <git directory> TAB <worktree> TAB <agent> TAB .
 *   git directory  its inode and birth, <hex>.<hex>: not even one of the same name has both
 *   worktree   its name below worktrees/; empty for the main working tree
 *
 * A push that saved nothing is a record with "-" in place of the id.  Records are only appended: an
 * entry that a rollback brings back has its owner again.  The older half of a full file goes.  An
 * entry without a record belongs to nobody: it was not pushed by airlock, or airlock was killed
 * before it could say so.
 *
 * Source: git-stash(1); gitrepository-layout(5) on worktrees/.
 */
#ifndef AL_GIT_PLUMBING_STASH_OWNERS_H
#define AL_GIT_PLUMBING_STASH_OWNERS_H

#include <stdbool.h>

#include "base/str.h"
#include "git/repo/repo.h"

/** The knowledge of one moment.  Set up with AL_STASH_OWNERS_INIT. */
struct al_stash_owners {
    bool is_shared;       /**< the repository has several working trees */
    bool pushed_nothing;  /**< the last push in this working tree saved nothing */
    struct al_strv lines; /* the records, oldest first; private */
    char *own;            /* the part of a record that names this working tree; private */
};

#define AL_STASH_OWNERS_INIT ((struct al_stash_owners){ .lines = AL_STRV_INIT })

void al_stash_owners_clear(struct al_stash_owners *owners);

/** Read the records.  Every entry belongs to nobody without a readable file. */
void al_stash_owners_read(const struct al_repo *repo, struct al_stash_owners *ret_owners);

/** Test whether an entry belongs to this working tree, by its object id. */
bool al_stash_is_own(const struct al_stash_owners *owners, const char *oid);

/** Test whether an entry belongs to another working tree, which may be gone.  False for one of
 * nobody. */
bool al_stash_is_others(const struct al_stash_owners *owners, const char *oid);

/** Whose the entry is: "this worktree", "worktree x, agent y", "no worktree".  Safe text.  Caller
 * frees. */
char *al_stash_owner_words(const struct al_stash_owners *owners, const char *oid);

/**
 * Record what a push in this working tree did.  The caller holds the write lock.  A failure is a
 * warning: the entry then belongs to nobody.
 *
 * @param oid    The new entry; NULL: the push saved nothing.
 * @param agent  The name of the agent, safe text; NULL: none.
 */
void al_stash_owners_add(const struct al_repo *repo, const char *oid, const char *agent);

/** The identity of a git directory: "<inode>.<birth>".  Caller frees; NULL: it is gone. */
char *al_stash_owner_id(const char *git_dir);

/** The log of a stash that is in no file, in the form of that file, oldest entry first; git is
 * asked. */
void al_git_stored_stash(const struct al_location *at, struct al_str *log);

/** Let such a stash have the entries of a log. */
int al_git_store_stash(const struct al_repo *repo, const char *log, struct al_error *err);

/** The object ids of the entries, newest first: the index in the list is that of the entry.  An
 * entry that cannot be read is none. */
void al_git_stash_entries(const struct al_repo *repo, struct al_strv *ret_oids);

/**
 * Find the entry that a push has just made.  Another git may have pushed, too: then it is the one
 * whose message git printed last.
 *
 * @param before        The entries before the push.
 * @param said          What the push printed.
 * @param[out] ret_oid  Its id, which the caller frees; NULL: there is none, or it cannot be told.
 * @return the number of new entries.
 */
size_t al_git_stash_find_new(const struct al_repo *repo, const struct al_strv *before,
                             const struct al_str *said, char **ret_oid);

/** The index that an entry has now.  False when it is not there. */
bool al_git_stash_find(const struct al_repo *repo, const char *oid, int64_t *ret_index);

#endif
