// SPDX-License-Identifier: Apache-2.0
/*
 * Files of the user that git would write over: untracked, ignored or not, in the place of a file
 * that is to be written or of one of its directories.  git takes ignored ones for worthless, and
 * no checkpoint has them.
 */
#ifndef AL_GITOPS_SEQUENCER_OVERWRITE_H
#define AL_GITOPS_SEQUENCER_OVERWRITE_H

#include "gitops/repo/repo.h"
#include "util/str.h"

/** What is in the place of a file that is to be written: its own path, or that of one of its
 * directories which is no directory.  NULL: nothing.  Links are not followed.  Caller frees. */
char *al_overwrite_find(int top_fd, const char *path);

/**
 * Fail with AL_CODE_DIRTY_WORKDIR if one of these, which al_overwrite_find() found, is untracked,
 * or is a directory with something untracked.
 */
int al_overwrite_check(const struct al_repo *repo, const struct al_strv *found,
                       struct al_run_limits *budget, struct al_error *err);

/** The same for files that a command writes, relative to the top. */
int al_overwrite_check_files(const struct al_repo *repo, const struct al_strv *files,
                             struct al_run_limits *budget, struct al_error *err);

/** Test whether a merge in memory gave this name to a file in the way of a directory,
 * "<name>~<id>". git has another one for it in the working tree. */
bool al_overwrite_is_moved_away(const char *path);

/** The same for the files that differ between two commits, when the working tree goes from one to
 * the other. */
int al_overwrite_check_move(const struct al_repo *repo, const char *from, const char *to,
                            struct al_run_limits *budget, struct al_error *err);

/** The same for the files that one commit or tree has and the other one has not. */
int al_overwrite_check_added(const struct al_repo *repo, const char *from, const char *to,
                             struct al_run_limits *budget, struct al_error *err);

/**
 * The same for the files that commits write, each compared with all of its parents.
 *
 * @param commits  Their ids, which may be abbreviated.
 * @param reverts  They are taken back and not applied.
 */
int al_overwrite_check_commits(const struct al_repo *repo, const struct al_strv *commits,
                               bool reverts, struct al_run_limits *budget, struct al_error *err);

#endif
