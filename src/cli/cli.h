// SPDX-License-Identifier: Apache-2.0
/* The commands, and what they share. */
#ifndef AL_CLI_CLI_H
#define AL_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "checkpoint/checkpoint.h"
#include "config/config.h"
#include "guard/root.h"
#include "tool/call.h"
#include "util/error.h"

/** Exit codes of every command. */
enum al_exit {
    AL_EXIT_OK = 0,
    AL_EXIT_FAILED = 1, /**< the tool call, or what was checked, failed */
    AL_EXIT_USAGE = 2,  /**< wrong words on the command line, or wrong configuration */
    AL_EXIT_NOT_APPROVED = 3,
};

/* options.c */

/** Options before the tool name or after the command name, on top of the configuration file. */
struct al_options {
    struct al_strv roots, toolsets;
    const char *config, *audit, *approval, *grant;
    const char *tool;            /**< --tool: what bash_command may do */
    const char *command_timeout; /**< --command-timeout, in seconds */
    bool json, help;
    bool no_git;  /**< take no checkpoints */
    bool verbose; /**< say what each call does */
};

/**
 * Read options up to the first word that is none (or after "--").
 *
 * @param argv      The words after the command's name; *argv is advanced.
 * @param with_json Whether the command knows --json.
 * @return 0 or AL_ERR_BAD_ARGS.
 */
int al_options_read(struct al_options *options, bool with_json, int *argc, char ***argv,
                    struct al_error *err);
/** The same, wherever options stand among the words up to "--"; those that are none are moved to
 * the front of *argv, and *argc counts them. */
int al_options_read_all(struct al_options *options, bool with_json, int *argc, char **argv,
                        struct al_error *err);
void al_options_clear(struct al_options *options);

/* setup.c */

/** Everything a session needs, set up from options and configuration. */
struct al_setup {
    struct al_config config;
    char *home, *state_dir, *journal_file, *git_program;
    char *fallback_dir; /**< stands in for the state directory where that cannot be written */
    struct al_roots roots;
    struct al_registry registry;
    struct al_checkpoint_settings checkpoints;
    struct al_session session;
    const char *confinement;
    bool runs_commands; /**< --tool has `command` or `all` */
};

/** Where things are: configuration, home, journal file.  Nothing is created. */
int al_setup_config(struct al_setup *setup, const struct al_options *options, struct al_error *err);

/** The tools of the chosen toolsets; after al_setup_config(). */
int al_setup_tools(struct al_setup *setup, struct al_error *err);

/** The roots, and the git to run, which must not lie in one; after al_setup_config().  git is
 * looked for in any case.  AL_ERR_BAD_ARGS when a root cannot be used. */
int al_setup_git(struct al_setup *setup, struct al_error *err);

/** Roots, journal, git; after al_setup_tools().  AL_ERR_BAD_ARGS is the person's to mend (exit 2).
 */
int al_setup_session(struct al_setup *setup, struct al_error *err);
void al_setup_clear(struct al_setup *setup);

/* helpers.c */

/** Whether this process was started by a git under the name of a helper; then it has done that
 * helper's work, and *ret_code is its exit code. */
bool al_helper_run(int argc, char **argv, int *ret_code);

/* signals.c */

/**
 * End orderly on SIGINT, SIGTERM and SIGHUP: `cancel`, when there is one, is fired first and the
 * process goes on; a second signal, or the first without `cancel`, kills the children, removes the
 * session's private files and ends the process.  Call before any thread is started.
 */
void al_signals_handle(const struct al_setup *setup, struct al_cancel *cancel);

/** The signal that fired `cancel`; 0: none did. */
int al_signals_caught(void);

/** From here on a signal leaves the session alone, which is about to be released.  Does not return
 * when one is already ending the process. */
void al_signals_forget(void);

/* tty.c */

struct al_tty;

/** The terminal as an approver, NULL where there is none. */
struct al_tty *al_tty_open(void);
void al_tty_free(struct al_tty *tty);
struct al_approver al_tty_approver(struct al_tty *tty);

/** Whether to write colours to this stream: a terminal, no NO_COLOR, TERM not dumb. */
bool al_tty_colours(int fd);

/* output */

/** Write text of a command; what cannot be written is said once on stderr. */
void al_cli_print(int fd, const struct al_str *text);

/** Columns of what commands say about themselves. */
#define AL_CLI_COLUMNS 80

/** Append text to the line begun in `out`, from column `indent` on, in as many lines as it needs.
 */
void al_cli_wrap(struct al_str *out, size_t indent, const char *text);

/** Print "airlock: <line>" to stderr: what a command waits for. */
void al_cli_tell(const char *line);

/** The exit code of the process: a command that is done has failed when its output is lost. */
int al_cli_finish(int code);

/** Print "airlock: <message>" to stderr and return the exit code for a failed setup. */
int al_cli_fail(const struct al_error *err);

/* call.c */

/**
 * Set up a session for one call: the words are a tool and its arguments (al_arguments_read()).
 *
 * @param command        What to say when the words are wrong ("call").
 * @param ret_arguments  The caller's reference.
 * @return 0; AL_ERR_BAD_ARGS for what is wrong with the words, the configuration or the roots.
 */
int al_prepare_call(struct al_setup *setup, const char *command, const struct al_options *options,
                    int argc, char **argv, const struct al_listed_tool **ret_tool,
                    json_t **ret_arguments, struct al_error *err);

/** Commands: the words after the command's name in, the exit code out. */
int al_cmd_serve(int argc, char **argv);
int al_cmd_call(int argc, char **argv);
int al_cmd_tools(int argc, char **argv);
int al_cmd_policy(int argc, char **argv);
int al_cmd_rollback(int argc, char **argv);
int al_cmd_diff(int argc, char **argv);
int al_cmd_doctor(int argc, char **argv);
int al_cmd_complete(int argc, char **argv);
int al_cmd_version(int argc, char **argv);

#endif
