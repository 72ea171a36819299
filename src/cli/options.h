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
    bool serves; /**< set by the caller: the command knows the options of a server over HTTP */
    const struct al_own_option *own; /**< set by the caller; they come first; NULL: none */
    const char *command; /**< set by the caller: whose --help an error names; NULL: airlock's */
    bool no_session;     /**< set by the caller: of the shared options only --audit and --config */
    bool no_calls;       /**< set by the caller, with `command`: it makes no calls, so that options
                              which say how they are made mean nothing; without --agent */
    bool no_agent;       /**< the same for --agent */
    bool json, help;
    bool no_git;  /**< --no-git: take no checkpoints */
    bool verbose; /**< -v: write to stderr what each call does */
};

/**
 * Read options up to the first word that is not an option, or up to and including "--".
 *
 * @param argc, argv  The words after the command's name; both are advanced past the options.
 * @param with_json   Whether the command knows --json.
 * @return 0 or AL_ERR_BAD_ARGS.
 */
int al_options_read(struct al_options *options, bool with_json, int *argc, char ***argv,
                    struct al_error *err);

/**
 * Read options anywhere among the words up to "--".
 *
 * @param argc, argv  On return `argv` begins with the words that are not options; *argc counts
 *                    them.
 * @param with_json   Whether the command knows --json.
 * @return 0 or AL_ERR_BAD_ARGS.
 */
int al_options_read_all(struct al_options *options, bool with_json, int *argc, char **argv,
                        struct al_error *err);

/** Test whether the command line has one of these options, "--grant" say. */
bool al_options_have(const struct al_options *options, const char *name);

void al_options_clear(struct al_options *options);

#endif
