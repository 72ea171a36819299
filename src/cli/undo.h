// SPDX-License-Identifier: Apache-2.0
/* What `airlock rollback` and `airlock diff` share. */
#ifndef AL_CLI_UNDO_H
#define AL_CLI_UNDO_H

#include "checkpoint/checkpoint.h"
#include "cli/options.h"
#include "cli/setup.h"
#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** A session, and the repository of the current directory.  Set up with AL_UNDO_INIT. */
struct al_undo {
    struct al_options options;
    struct al_setup setup;
    bool is_set_up;
    struct al_repo *repo;
    struct al_run_limits budget;
    size_t count; /**< how many executions; 0: not said */
};

#define AL_UNDO_INIT ((struct al_undo){ .repo = NULL })

/**
 * Read the words (those of every session, and one number) and find the repository.
 *
 * @param flags  Options of the command itself, NULL-terminated names; found ones set `values`.
 * @return AL_EXIT_OK, or the exit code after what is wrong was said; -1 when help was shown.
 */
int al_undo_open(struct al_undo *undo, const char *command, const char *const *flags, bool *values,
                 int argc, char **argv);
void al_undo_close(struct al_undo *undo);

/** A change that is not one of the working tree's files, as a line: what, from where, to where. */
void al_undo_add_change(struct al_str *out, const struct al_difference *change);

#endif
