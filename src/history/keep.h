// SPDX-License-Identifier: Apache-2.0
/*
 * Keeping commits that a repository loses.
 *
 * A checkpoint names the commits of the repository and does not hold them.  Commits that a
 * reference which is gone reached alone, and those that only the stash, a detached HEAD or an
 * unfinished operation reaches, are packed into the store, in packs with a `.keep` file.
 *
 * The file `seen` of the store has what the last checkpoint saw.  A store without it knows of
 * nothing lost, and what is easily lost is packed once more:
 *
 *   <id> SP <hash>    a pack holds it
 *   <id> SP ref       a reference
 *   <id> SP -         it is easily lost, and was reached from a reference
 */
#ifndef AL_HISTORY_KEEP_H
#define AL_HISTORY_KEEP_H

#include "git/plumbing/gitdir.h"
#include "history/store.h"

/** The work of keeping what a repository loses. */
struct al_keeping;

/**
 * Begin to pack what was lost since the last checkpoint and what is easily lost.  git works on
 * until al_keep_end().
 *
 * @param refs, files   The repository as it is now; `refs` is NULL if they were not listed.
 * @param dropping      References that the operation may delete or move, by full name; may be NULL.
 * @param nothing_lost  Only note the references: they were moved forward.
 * @return 0; an error of git that did not start.  al_keep_free() is due in each case.
 * Threads: git ends with the thread that called.
 */
int al_keep_begin(struct al_store *store, const struct al_differences *refs,
                  const struct al_gitdir_files *files, const struct al_strv *dropping,
                  bool nothing_lost, struct al_keeping **ret_keeping, struct al_error *err);

/** Wait for the packs, and note what is kept. */
int al_keep_end(struct al_keeping *keeping, struct al_error *err);

/** Forget the work.  A git that has not ended is stopped.  NULL is fine. */
void al_keep_free(struct al_keeping *keeping);

/** Before a program runs, which may delete a reference and let git prune what it led to: hold all
 * objects of the repository by a second name of each file, as far as the store is in the same file
 * system.  It is there when al_keep_begin() next looks for what was lost. */
void al_keep_hold(struct al_store *store, int common_fd);

/** Give the repository back what is held and it has not any more: a program has removed objects. */
void al_keep_give_back(const struct al_store *store);

/** Give the repository objects back that the store has or borrows: revisions, one a line, as for
 * al_bare_pack(). */
int al_keep_return(struct al_store *store, const struct al_repo *repo, const struct al_str *lines,
                   struct al_error *err);

/** Let packs go that no checkpoint taken since `oldest_s` (since 1970) has seen needed. */
void al_keep_release(struct al_store *store, int64_t oldest_s);

#endif
