// SPDX-License-Identifier: Apache-2.0
/* airlock log: what was done, and whether the record of it can be trusted. */
#ifndef AL_CLI_LOG_H
#define AL_CLI_LOG_H

/**
 * Run `airlock log [N] [--json] [--verify] [--follow] [--running] [--tool NAME] [--since WHEN]`.
 *
 * @param journal_file  The journal's absolute path; it need not exist.
 * @param argv          The words after the command's name and the global options.
 * @return the exit code.
 */
int al_cmd_log(const char *journal_file, int argc, char **argv);

#endif
