// SPDX-License-Identifier: Apache-2.0
/* The commands of the program and their exit codes. */
#ifndef AL_CLI_CLI_H
#define AL_CLI_CLI_H

#include <stdbool.h>

/** Exit codes of every command. */
enum al_exit {
    AL_EXIT_OK = 0,
    AL_EXIT_FAILED = 1, /**< the tool call, or the check, failed */
    AL_EXIT_USAGE = 2,  /**< wrong words on the command line, or wrong configuration */
    AL_EXIT_NOT_APPROVED = 3,
};

/** The commands.  `argv` holds the words after the command's name.  Each returns the exit code. */
int al_cmd_serve(int argc, char **argv);
int al_cmd_call(int argc, char **argv);
int al_cmd_tools(int argc, char **argv);
int al_cmd_log(int argc, char **argv);
int al_cmd_policy(int argc, char **argv);
int al_cmd_rollback(int argc, char **argv);
int al_cmd_diff(int argc, char **argv);
int al_cmd_git(int argc, char **argv);
int al_cmd_run(int argc, char **argv);
int al_cmd_snapshot(int argc, char **argv);
int al_cmd_hook(int argc, char **argv);
int al_cmd_review(int argc, char **argv);
int al_cmd_staging(int argc, char **argv);
int al_cmd_doctor(int argc, char **argv);
int al_cmd_install(int argc, char **argv);
int al_cmd_complete(int argc, char **argv);
int al_cmd_version(int argc, char **argv);

/** Whether --to goes to what a label names: it is not empty, and reads as no number and no time. */
bool al_cli_is_label(const char *text);

#endif
