// SPDX-License-Identifier: Apache-2.0
/* The common part of `airlock rollback` and `airlock diff`. */
#ifndef AL_CLI_HISTORY_UNDO_H
#define AL_CLI_HISTORY_UNDO_H

#include "cli/options.h"
#include "cli/setup.h"
#include "gitops/command.h"
#include "gitops/repo/repo.h"
#include "history/checkpoint.h"

/** A session and the repository of the current directory.  Initialise with AL_UNDO_INIT;
 * al_undo_close() follows in every case. */
struct al_undo {
    struct al_options options;
    struct al_setup setup;
    bool is_set_up;
    struct al_repo *repo;
    struct al_run_limits budget;
    size_t count;             /**< number of executions; 0: not given */
    size_t execution, newest; /**< of --execution and --newest; 0: not given */
};

#define AL_UNDO_INIT ((struct al_undo){ .repo = NULL })

/**
 * Read the command line, set up the session and open the repository.
 *
 * The words are the shared options, the command's own flags, --execution N, and at most one number;
 * for the rollback --newest N too.
 *
 * @param command  Name of the command, for error messages and --help.
 * @param flags    Names of the command's own flags, NULL-terminated.
 * @param values   One for each flag; set to true for those that are given.
 * @return AL_EXIT_OK; another exit code, with the error reported; -1: help was shown.
 */
int al_undo_open(struct al_undo *undo, const char *command, const char *const *flags, bool *values,
                 int argc, char **argv);
void al_undo_close(struct al_undo *undo);

/** Append a line for a change outside the working tree, such as a reference, with its old and new
 * value. */
void al_undo_add_change(struct al_str *out, const struct al_difference *change);

#endif
