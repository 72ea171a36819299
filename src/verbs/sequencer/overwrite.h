// SPDX-License-Identifier: Apache-2.0
/*
 * Files of the user that git would write over: untracked, ignored or not, in the place of a file
 * that is to be written or of one of its directories.  git takes ignored ones for worthless, and
 * no checkpoint has them.
 */
#ifndef AL_VERBS_SEQUENCER_OVERWRITE_H
#define AL_VERBS_SEQUENCER_OVERWRITE_H

#include "base/str.h"
#include "git/repo/repo.h"

/** Fail with AL_CODE_DIRTY_WORKDIR if there is such a file when the working tree goes from one
 * commit or tree to the other. */
int al_overwrite_check(const struct al_repo *repo, const char *from, const char *to,
                       struct al_error *err);

/** The same when it goes there commit by commit: by all that `from..to` writes. */
int al_overwrite_check_steps(const struct al_repo *repo, const char *from, const char *to,
                             struct al_error *err);

/** List what would be lost where a command writes these files, relative to the top: of a directory
 * in the way one file. */
int al_overwrite_list(const struct al_repo *repo, const struct al_strv *files,
                      struct al_strv *ret_lost, struct al_error *err);

/** The same check for such files. */
int al_overwrite_check_files(const struct al_repo *repo, const struct al_strv *files,
                             struct al_error *err);

/** The '~' of a name "<name>~<id>" that a merge in memory gave to a file in the way of a directory;
 * NULL: it is another name.  git has another one for it in the working tree. */
const char *al_overwrite_moved_away(const char *path);

#endif
