// SPDX-License-Identifier: Apache-2.0
/* Run `git stash`. */
#ifndef AL_VERBS_PORCELAIN_STASH_H
#define AL_VERBS_PORCELAIN_STASH_H

#include <stdbool.h>
#include <stdint.h>

#include "git/command.h"
#include "git/repo/repo.h"
#include "git/run.h"

/** Actions that change the stash. */
enum al_stash_action {
    AL_STASH_PUSH,
    AL_STASH_POP,
    AL_STASH_APPLY,
    AL_STASH_DROP,
    AL_STASH_CLEAR,
};

/** Options of `git stash`. `message` and `include_untracked` are used with AL_STASH_PUSH; an entry
 * is shown with `patch` in full, and with `include_untracked` its untracked files alone. */
struct al_stash_options {
    enum al_stash_action action;
    const char *message;
    bool include_untracked, patch;
    bool keeps_staged; /**< with AL_STASH_POP and AL_STASH_APPLY: what was staged is staged again,
                          see al_git_stash_keeps_staged() */
    const struct al_strv *paths; /**< with AL_STASH_PUSH: as the agent wrote them; NULL: all */
    const char *agent;   /**< with AL_STASH_PUSH: who pushes, see stash_owners.h; NULL: nobody */
    const char *entries; /**< the object id of the entry; with AL_STASH_CLEAR those of the entries
                            to drop, separated by spaces, NULL: all */
};

/** The commits of an entry.  Set up with AL_STASH_COMMITS_INIT. */
struct al_stash_commits {
    struct al_strv
        parents;          /**< what it was made on, what was staged, and perhaps untracked files */
    struct al_strv trees; /**< of the entry, and of its first two parents, as far as they are */
};

#define AL_STASH_COMMITS_INIT                                                                      \
    ((struct al_stash_commits){ .parents = AL_STRV_INIT, .trees = AL_STRV_INIT })

void al_stash_commits_clear(struct al_stash_commits *commits);

/** Read them, of an entry given by its id. */
int al_git_read_stash_commits(const struct al_repo *repo, const char *entry,
                              struct al_stash_commits *commits, struct al_error *err);

/** Whether an entry has staged changes, and whether git can stage them again: nothing is staged
 * now, and the index has those files as they were before. */
int al_git_stash_keeps_staged(const struct al_repo *repo, const char *entry, bool *ret_has,
                              bool *ret_keeps, struct al_error *err);

/** Make a commit of `git stash create` the newest entry. */
int al_git_stash_store(const struct al_repo *repo, const char *message, const char *oid,
                       struct al_error *err);

/** Run `git stash show` of an entry. */
int al_git_stash_show(const struct al_repo *repo, const struct al_stash_options *options,
                      size_t max_bytes, struct al_git_output *ret_output, struct al_error *err);

/** Check an action before approval is asked for: entries exist, and no filter or merge driver is
 * needed. */
int al_git_stash_check(const struct al_repo *repo, const struct al_stash_options *options,
                       struct al_error *err);

/** Run `git stash push|pop|apply|drop|clear`. A non-zero exit code is an error; a conflict has
 * AL_CODE_CONFLICT.  Whose a new entry is gets recorded. */
int al_git_stash(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
                 struct al_git_output *ret_output, struct al_error *err);

/** One stash entry. Its index in the list is its number. */
struct al_stash_entry {
    char *oid;
    char *subject; /**< as git stash list shows it */
    char *message; /**< without git's prefix "On <branch>: " */
    char *branch;  /**< NULL: HEAD was detached, or the branch is unknown */
    char *date;    /**< ISO 8601, strict */
    char *whose;   /**< al_stash_owner_words(); NULL: there is one working tree */
};

/** Stash entries, newest first. */
struct al_stashes {
    struct al_stash_entry *items;
    size_t count;
    bool truncated;
};

#define AL_STASHES_INIT ((struct al_stashes){ .items = NULL })

void al_stashes_clear(struct al_stashes *stashes);

/** Append them as `git stash list` prints them, each with whose it is. */
void al_stashes_add_lines(const struct al_stashes *stashes, struct al_str *out);

/** Read the stash entries. At most one git child. */
int al_git_read_stashes(const struct al_repo *repo, size_t max_bytes,
                        struct al_stashes *ret_stashes, struct al_error *err);

/**
 * Append what a stash command would change: for a push the files it takes away (`files`, listed by
 * al_git_overwritten_files()), else the content of the entries that would be restored or dropped.
 *
 * @param[out] ret_any  Whether the command would do anything: there is a change to stash, or the
 *                      entry exists.
 */
int al_git_stash_preview(const struct al_repo *repo, const struct al_stash_options *options,
                         const struct al_strv *files, struct al_str *out, bool *ret_any,
                         struct al_error *err);

#endif
