// SPDX-License-Identifier: Apache-2.0
/* The commands of the program and their exit codes. */
#ifndef AL_CLI_CLI_H
#define AL_CLI_CLI_H

#include <stdbool.h>

struct al_options;

/** Exit codes of every command. */
enum al_exit {
    AL_EXIT_OK = 0,
    AL_EXIT_FAILED = 1, /**< the tool call, or the check, failed */
    AL_EXIT_USAGE = 2,  /**< wrong words on the command line, or wrong configuration */
    AL_EXIT_NOT_APPROVED = 3,
};

/** The commands.  `argv` holds the words after the command's name that are no options.  Each
 * returns the exit code. */
int al_cmd_serve(struct al_options *options, int argc, char **argv);
int al_cmd_call(struct al_options *options, int argc, char **argv);
int al_cmd_tools(struct al_options *options, int argc, char **argv);
int al_cmd_log(struct al_options *options, int argc, char **argv);
int al_cmd_policy(struct al_options *options, int argc, char **argv);
int al_cmd_rollback(struct al_options *options, int argc, char **argv);
int al_cmd_diff(struct al_options *options, int argc, char **argv);
int al_cmd_git(struct al_options *options, int argc, char **argv);
int al_cmd_run(struct al_options *options, int argc, char **argv);
int al_cmd_snapshot(struct al_options *options, int argc, char **argv);
int al_cmd_hook(struct al_options *options, int argc, char **argv);
int al_cmd_review(struct al_options *options, int argc, char **argv);
int al_cmd_staging(struct al_options *options, int argc, char **argv);
int al_cmd_doctor(struct al_options *options, int argc, char **argv);
int al_cmd_install(struct al_options *options, int argc, char **argv);
int al_cmd_complete(struct al_options *options, int argc, char **argv);
int al_cmd_version(struct al_options *options, int argc, char **argv);

/** Whether --to goes to what a label names: it is not empty, and reads as no number and no time. */
bool al_cli_is_label(const char *text);

#endif
