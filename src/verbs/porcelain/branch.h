// SPDX-License-Identifier: Apache-2.0
/* Run `git branch` and `git tag`. */
#ifndef AL_VERBS_PORCELAIN_BRANCH_H
#define AL_VERBS_PORCELAIN_BRANCH_H

#include <stdbool.h>

#include "git/repo/repo.h"
#include "git/run.h"

/** List branches as `git branch -v` prints them. */
int al_git_branch_list(const struct al_repo *repo, bool all, bool remote, size_t max_bytes,
                       struct al_git_output *ret_output, struct al_error *err);
/** Append the commits that deleting a branch would lose, those that no other branch, tag or remote
 * has, as an excerpt for an approval. Appends nothing when there are none. */
int al_git_branch_preview(const struct al_repo *repo, const char *name, struct al_str *out,
                          struct al_error *err);

/** Check that git would make a branch of this name: there is none. */
int al_git_branch_create_check(const struct al_repo *repo, const char *name, struct al_error *err);

/** Check that git would rename a branch: it is there, or HEAD is on it, and no branch has the new
 * name. */
int al_git_branch_rename_check(const struct al_repo *repo, const char *name, const char *new_name,
                               struct al_error *err);

/** The commits for which git does not delete a branch without force. */
struct al_branch_unmerged {
    char *target;    /**< its upstream, refs/remotes/origin/x, or if it has none "HEAD"; owned */
    uint64_t ahead;  /**< the commits that the target lacks; 0: git deletes the branch */
    bool is_in_head; /**< the target is the upstream, and HEAD has all the commits */
};

void al_branch_unmerged_clear(struct al_branch_unmerged *unmerged);

/** Find the commits for which git would not delete a branch that exists.
 *
 * @param[out] ret_unmerged  Released with al_branch_unmerged_clear().
 */
int al_git_branch_unmerged(const struct al_repo *repo, const char *name,
                           struct al_branch_unmerged *ret_unmerged, struct al_error *err);

/** Test whether a branch was at a commit before, as its log says. */
bool al_git_branch_was_at(const struct al_repo *repo, const char *name, const char *oid);

/** Delete or rename a branch; git prints what it did. */
int al_git_branch_delete(struct al_repo *repo, const char *name, bool force, size_t max_bytes,
                         struct al_git_output *ret_output, struct al_error *err);
int al_git_branch_rename(struct al_repo *repo, const char *from, const char *to, size_t max_bytes,
                         struct al_git_output *ret_output, struct al_error *err);

/** The options for making a tag. */
struct al_tag_options {
    const char *name;
    const char *rev;     /**< NULL: HEAD */
    const char *message; /**< NULL: a tag without a text of its own */
};

/** Run `git tag`, unsigned.  A non-zero exit code is an error. */
int al_git_tag_create(struct al_repo *repo, const struct al_tag_options *options,
                      struct al_error *err);

/** Run `git tag -d`. */
int al_git_tag_delete(struct al_repo *repo, const char *name, struct al_error *err);

/**
 * Run `git branch <name> <from>`, and take it back if the branch was made at another commit.
 *
 * @param from  A revision, whose branch it follows where git makes it do so; NULL: the commit.
 * @param oid   The commit that `from` led to; NULL: wherever HEAD is.
 */
int al_git_branch_create_from(struct al_repo *repo, const char *name, const char *from,
                              const char *oid, struct al_error *err);

#endif
