// SPDX-License-Identifier: Apache-2.0
/*
 * Uncommitted changes that go along when the branch moves to another commit.  along.c also has the
 * branches that do (work.h).
 *
 * Changes of files that do not differ between the two commits stay as they are, which
 * git-read-tree(1) does.  The others are merged in memory: the index, and the files, each with the
 * new commit.  Nothing happens where that conflicts.  The changes wait where the operation stops.
 *
 * Source: git-stash(1), "create"; git-merge-tree(1); git-read-tree(1).
 */
#ifndef AL_VERBS_REPLAY_ALONG_H
#define AL_VERBS_REPLAY_ALONG_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"

/** Append the tracked files that have changes, with one git child. */
int al_uncommitted_files(const struct al_repo *repo, struct al_strv *files, bool *ret_staged,
                         struct al_error *err);

/**
 * Append the tracked files, but for those in conflict, with changes that are not staged; and those
 * with staged ones that the operation has not made.
 *
 * @param theirs  The commit that it stopped at; NULL: staged changes do not count.
 */
int al_git_changed_meanwhile(const struct al_repo *repo, const char *theirs, struct al_strv *out,
                             struct al_error *err);

/** Fail with AL_CODE_DIRTY_WORKDIR, saying why and naming the files. */
int al_uncommitted_refuse(const char *why, const struct al_strv *files, struct al_error *err);

/**
 * Merge the changes, and move index and files from one commit to the other.  The caller holds the
 * write lock.  The call puts back from its checkpoint what is left half done.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR, naming the files, where they conflict.
 */
int al_uncommitted_bring(struct al_repo *repo, const char *from, const char *to,
                         struct al_error *err);

/* --- Waiting --- */

/*
 * The uncommitted changes wait where an operation stops, until it ends: as the commit that
 * git-stash(1) "create" makes of them, named by the state file AL_WAITING_CHANGES.
 */

/**
 * Put the changes aside, so that index and files are those of HEAD, if git would not leave them
 * alone.
 *
 * @param view  The repository with what was made in memory.
 * @param from  The commit of HEAD.
 * @param to    The tree that the files go to from there: what is not staged, and in none of the
 *              files that differ, is left alone.  NULL: nothing is.
 * @return 0; AL_ERR_EXECUTION where they cannot be saved whole, and where others wait.
 */
int al_uncommitted_set_aside(struct al_repo *repo, const struct al_repo *view, const char *from,
                             const char *to, struct al_error *err);

/**
 * Bring back what waits, and merge it with what is there by now.  It becomes a stash entry where
 * that conflicts.
 *
 * @param saved  The commit, which exists.
 * @param agent  Whose the entry is; NULL: nobody's.
 * @param[out] ret_why  Why it is an entry; NULL: it is none.  Caller frees.
 */
int al_uncommitted_bring_back(struct al_repo *repo, const char *saved, const char *agent,
                              char **ret_why, struct al_error *err);

#endif
