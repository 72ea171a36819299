// SPDX-License-Identifier: Apache-2.0
/*
 * What going back asks of git in the person's repository: which objects are missing, storing them,
 * and moving references.  No hook runs for any of it.
 *
 * Source: git-update-ref(1) --stdin, git-rev-list(1), git-index-pack(1), git-check-ignore(1).
 */
#ifndef AL_GITOPS_PLUMBING_RESTORE_PLUMBING_H
#define AL_GITOPS_PLUMBING_RESTORE_PLUMBING_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

/** The objects the entries of an index file name, gitlinks excepted, appended to `ret_oids`. */
int al_git_index_objects(const struct al_repo *repo, const char *index_path,
                         struct al_run_limits *budget, struct al_strv *ret_oids,
                         struct al_error *err);

/** Append those of some objects that the repository does not have. */
int al_git_missing_objects(const struct al_repo *repo, const struct al_strv *oids,
                           struct al_run_limits *budget, struct al_strv *ret_missing,
                           struct al_error *err);

/** Whether all that some objects reach is there, down to what references reach. */
int al_git_is_connected(const struct al_repo *repo, const struct al_strv *tips,
                        struct al_run_limits *budget, bool *ret_connected, struct al_error *err);

/** Store the objects of a pack; its bytes are borrowed. */
int al_git_store_pack(const struct al_repo *repo, const void *pack, size_t len,
                      struct al_run_limits *budget, struct al_error *err);

/** Where a reference is to lead.  Values are object ids, or "ref: <name>"; NULL for absent. */
struct al_ref_move {
    const char *name, *from, *to;
};

/**
 * Move references from where they are said to be, all or none; that one of them is elsewhere by now
 * is an error.  Symbolic ones are moved one by one, after the others.
 */
int al_git_move_refs(const struct al_repo *repo, const struct al_ref_move *moves, size_t nmoves,
                     struct al_run_limits *budget, struct al_error *err);

/** Append those of some paths, relative to the top, that the ignore rules of the files on the disk
 * name, tracked or not. */
int al_git_ignored_paths(const struct al_repo *repo, int top_fd, const struct al_strv *paths,
                         struct al_run_limits *budget, struct al_strv *ret_ignored,
                         struct al_error *err);

#endif
