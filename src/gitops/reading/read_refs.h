// SPDX-License-Identifier: Apache-2.0
/*
 * Branches and tags with what an agent decides by.
 *
 * Source: git-for-each-ref(1).
 */
#ifndef AL_GITOPS_READING_READ_REFS_H
#define AL_GITOPS_READING_READ_REFS_H

#include <stdbool.h>

#include "gitops/repo/repo.h"

/** One reference.  Valid only while it is passed on; raw bytes. */
struct al_listed_ref {
    const char *name; /**< without refs/heads/, refs/remotes/ or refs/tags/ */
    bool is_remote, is_current, is_annotated;
    const char *hash;     /**< abbreviated, whole with `ids`; of a tag the commit that it names */
    const char *date;     /**< 2026-02-07: of the commit, or of the tag */
    const char *subject;  /**< of the commit, or of an annotated tag's message */
    const char *upstream; /**< "origin/main", "" */
    const char *track;    /**< "ahead 3, behind 1", "gone", "" */
    const char *worktree; /**< the working tree that has it checked out; "" */
};

/** The references that are wanted.  Words of an agent are checked by the caller. */
struct al_refs_query {
    bool tags, remotes;      /**< tags; or beside local branches those of remotes */
    bool ids;                /**< of branches: name, id and upstream alone, in the order of names */
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
                     struct al_run_limits *budget, struct al_error *err);

#endif
