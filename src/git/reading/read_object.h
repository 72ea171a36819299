// SPDX-License-Identifier: Apache-2.0
/* Objects as git show answers them: what a revision names, and files and directories in it. */
#ifndef AL_GIT_READING_READ_OBJECT_H
#define AL_GIT_READING_READ_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "git/oid.h"
#include "git/repo/repo.h"
#include "git/run.h"

/** An object.  Set up with AL_OBJECT_INFO_INIT. */
struct al_object_info {
    enum al_object_type type; /**< AL_OBJECT_NONE: the word names nothing */
    char *oid;
    uint64_t bytes;
};

#define AL_OBJECT_INFO_INIT ((struct al_object_info){ .oid = NULL })

void al_object_info_clear(struct al_object_info *info);

/**
 * Find out what a word names.  One git child.
 *
 * @param word  A revision, or "revision:path".  Checked by the caller.
 */
int al_git_read_object_info(const struct al_repo *repo, const char *word,
                            struct al_object_info *ret_info, struct al_error *err);

/** Pass the content of an object on: a blob's bytes, a tag's text. */
int al_git_read_object(const struct al_repo *repo, const struct al_object_info *info,
                       struct al_sink to, struct al_error *err);

/** One entry of a directory.  Valid only while it is passed on. */
struct al_tree_entry {
    const char *name; /**< raw bytes, without the directory */
    unsigned mode;
    uint64_t bytes; /**< of a file; 0 for others, and in a partial clone */
};

/** List a directory.  False from `take` ends the listing. */
int al_git_read_tree(const struct al_repo *repo, const struct al_object_info *info,
                     bool (*take)(void *payload, const struct al_tree_entry *entry), void *payload,
                     struct al_error *err);

/** One reference.  Valid only while it is passed on; raw bytes. */
struct al_listed_ref {
    const char *name; /**< without refs/heads/, refs/remotes/ or refs/tags/ */
    bool is_remote, is_current;
    const char *hash;     /**< abbreviated, of a tag the commit that it names; whole with `ids` */
    const char *date;     /**< 2026-02-07: of the commit, or of the tag */
    const char *subject;  /**< of the commit, or of an annotated tag's message */
    const char *upstream; /**< "origin/main", "" */
    const char *track;    /**< "ahead 3, behind 1", "gone", "" */
    const char *worktree; /**< the working tree that has it checked out; "" */
};

/** The references that are wanted.  Words of an agent are checked by the caller. */
struct al_refs_query {
    bool tags, remotes;      /**< tags; or beside local branches those of remotes */
    bool ids;                /**< name, own id and upstream alone, in the order of names */
    const char *pattern;     /**< a glob for the name; NULL: all */
    const char *merged_into; /**< only what this commit contains; NULL */
    const char *contains;    /**< only what contains this commit; NULL */
};

/**
 * List references, the newest first unless `ids`; remote-tracking branches last.  One git child.
 *
 * @param take  False ends the listing.
 */
int al_git_read_refs(const struct al_repo *repo, const struct al_refs_query *query,
                     bool (*take)(void *payload, const struct al_listed_ref *ref), void *payload,
                     struct al_error *err);

#endif
