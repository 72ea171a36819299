// SPDX-License-Identifier: Apache-2.0
/* The commands, a row for each, and the texts of --help. */
#ifndef AL_CLI_HELP_H
#define AL_CLI_HELP_H

struct al_nearest;

/** The shared options that a command knows, beside --audit, --config and --help. */
enum al_knows {
    AL_KNOWS_JSON = 1 << 0,
    AL_KNOWS_PLACE = 1 << 1,  /**< where it works: --root */
    AL_KNOWS_CALLS = 1 << 2,  /**< how calls are made; to one that knows a place alone they mean
                                   nothing, which is said */
    AL_KNOWS_AGENT = 1 << 3,  /**< the same for --agent */
    AL_KNOWS_SERVER = 1 << 4, /**< those of a server over HTTP */
    AL_KNOWS_TOOLS = 1 << 5,  /**< --help behind the name of a tool is about that tool */
};

struct al_command {
    const char *name;
    int (*run)(int argc, char **argv);
    unsigned knows; /**< of enum al_knows */
    const char *usage, *about, *shared_options, *own_options;
};

/** The command of this name; NULL: there is none, and `nearest` was offered the names.  It may be
 * NULL. */
const struct al_command *al_command_find(const char *word, struct al_nearest *nearest);

/** Print the overview to stdout.  Returns the exit code. */
int al_help_overview(void);

/** Print one command's help to stdout.  Returns the exit code: AL_EXIT_USAGE for an unknown
 * command. */
int al_help_command(const char *word);

#endif
