// SPDX-License-Identifier: Apache-2.0
/*
 * The git commands of a rollback in the user's repository: store objects, move references.  No hook
 * runs for any of them.
 *
 * Source: git-update-ref(1) --stdin, git-index-pack(1), git-check-ignore(1),
 * gitrepository-layout(5).
 */
#ifndef AL_GIT_PLUMBING_ROLLBACK_PLUMBING_H
#define AL_GIT_PLUMBING_ROLLBACK_PLUMBING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "git/repo/repo.h"

/** An entry of an index: a line "<s or -><a or -><n or -> SP <mode> SP <oid> SP <stage>" for each
 * stage, with the letters of skip-worktree, assume-unchanged and intent-to-add; NULL: none. */
struct al_entry_lines {
    const char *path, *lines;
};

/** Change entries of an index file.  intent-to-add cannot be set. */
int al_git_put_entries(const struct al_repo *repo, int top_fd, const char *index_path,
                       const struct al_entry_lines *entries, size_t count, struct al_error *err);

/** Store the objects of a pack, a file in a directory. */
int al_git_store_pack(const struct al_repo *repo, int dir_fd, const char *name,
                      struct al_error *err);

/** A move of a reference.  Values are object ids, or "ref: <name>"; NULL: the reference does not
 * exist. */
struct al_ref_move {
    const char *name, *from, *to;
};

/** Move references, all or none; an error if one does not have its `from` value any more.  Symbolic
 * references are moved one by one, after the others. */
int al_git_move_refs(const struct al_repo *repo, const struct al_ref_move *moves, size_t nmoves,
                     struct al_error *err);

/**
 * Check that git can read HEAD, packed-refs, these references, and the index.
 *
 * @param looks      Ask git too, where HEAD and the references look well.
 * @param put_aside  Move what it cannot read to airlock/damaged in the common git directory, and
 *                   say so; HEAD then leads to a branch without commits.
 * @return 0; AL_ERR_EXECUTION naming what git cannot read.
 */
int al_git_check_damage(const struct al_repo *repo, const struct al_strv *refs, bool looks,
                        bool put_aside, struct al_error *err);

/** Append those of `paths` (relative to the top) that the ignore rules on disk match, tracked or
 * not. */
int al_git_ignored_paths(const struct al_repo *repo, int top_fd, const struct al_strv *paths,
                         struct al_strv *ret_ignored, struct al_error *err);

#endif
