// SPDX-License-Identifier: Apache-2.0
/* The options that commands share. */
#ifndef AL_CLI_OPTIONS_H
#define AL_CLI_OPTIONS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/** An option of one command alone. */
struct al_own_option {
    const char *name;  /**< NULL ends the list */
    bool *flag;        /**< set when it is there; NULL: it has a value */
    const char **word; /**< its value, borrowed from argv */
};

/** Options of one command line.  Those that are given replace the configuration file's values. */
struct al_options {
    struct al_strv roots, toolsets;
    const char *config, *audit, *approval, *agent, *grant,
        *worker;                 /**< borrowed from argv; NULL: not given */
    const char *tool;            /**< --tool, what bash_command may do; borrowed; NULL: not given */
    const char *command_timeout; /**< --command-timeout in seconds; borrowed; NULL: not given */
    struct al_strv http;         /**< --http: places to listen at */
    const char *token_file, *tls_cert,
        *tls_key; /**< options of a server over HTTP; borrowed; NULL: not given */
    bool no_token, behind_proxy;
    bool json, help;
    bool no_git;  /**< --no-git: take no checkpoints */
    bool verbose; /**< -v: write to stderr what each call does */
};

/**
 * Read the options of a command among its words up to "--".  What is wrong is reported, and --help
 * is shown.
 *
 * @param command     Its name.
 * @param own         Options of its own, which come first; NULL: none.
 * @param argc, argv  The words behind its name.  On return those that are no options.
 * @return false: the command is over, with this exit code.
 */
bool al_options_take(struct al_options *options, const char *command,
                     const struct al_own_option *own, int *argc, char **argv, int *ret_code);

/** The same up to the first word that is no option, or up to and including "--". */
bool al_options_take_first(struct al_options *options, const char *command,
                           const struct al_own_option *own, int *argc, char ***argv, int *ret_code);

/** Test whether the command line has one of these options, "--grant" say. */
bool al_options_have(const struct al_options *options, const char *name);

void al_options_clear(struct al_options *options);

#endif
