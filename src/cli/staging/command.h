// SPDX-License-Identifier: Apache-2.0
/* airlock staging: what agents have staged below a root. */
#ifndef AL_CLI_STAGING_COMMAND_H
#define AL_CLI_STAGING_COMMAND_H

#include <stdbool.h>

#include "cli/options.h"
#include "cli/setup.h"
#include "gitops/command.h"
#include "staging/staged.h"
#include "util/error.h"

/** A subcommand while it runs. */
struct al_staging_command {
    struct al_setup setup;
    struct al_staging *staging;  /**< borrowed from the session; NULL: nothing was ever staged */
    struct al_run_limits budget; /**< without a deadline that a user would notice */
    const char *id;              /**< the word after the subcommand; NULL: none */
    const char *target, *branch; /**< of push; NULL: not given */
    bool json;
};

/** The subcommands.  Each prints its output; the caller reports a failure. */
int al_staging_list(struct al_staging_command *command, struct al_error *err);
int al_staging_show(struct al_staging_command *command, struct al_error *err);
int al_staging_diff(struct al_staging_command *command, struct al_error *err);
int al_staging_open(struct al_staging_command *command, struct al_error *err);

/** Take --target and --branch, which only push has, out of the words. */
int al_staging_take_target(struct al_staging_command *command, int *argc, char **argv,
                           struct al_error *err);

/** Push or discard a staged commit by the pipeline of every call, which asks on the terminal and
 * writes to the journal.  They return the exit code. */
int al_staging_push(struct al_staging_command *command, struct al_options *options);
int al_staging_discard(struct al_staging_command *command, struct al_options *options);

/** Find the staged commit that command->id names. */
int al_staging_command_find(struct al_staging_command *command, struct al_staged *ret_staged,
                            struct al_error *err);

/** Print an object, which is taken over, on one line. */
void al_staging_print_json(json_t *object);

#endif
