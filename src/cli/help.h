// SPDX-License-Identifier: Apache-2.0
/* The commands, a row for each, with their options, and the texts of --help. */
#ifndef AL_CLI_HELP_H
#define AL_CLI_HELP_H

#include <stdbool.h>

struct al_nearest;
struct al_options;

struct al_option_row {
    const char *list;  /**< of options that commands share, or a command; NULL: all take it */
    const char *name;  /**< "--yes", a flag; "--root DIR" has a value, which for FILE is a path */
    const char *about; /**< for --help; NULL: it is taken, and not shown */
    const char *also;  /**< another name, "-y"; NULL: there is none */
};

/** The options; one without a name ends them. */
extern const struct al_option_row al_option_rows[];

struct al_command {
    const char *name;
    int (*run)(struct al_options *options, int argc, char **argv);
    const char *usage, *about;
    const char *lists;  /**< that --help shows beside its own: " place agent " */
    const char *more;   /**< that are taken too; NULL: none */
    const char *option; /**< another name, "--rollback", which may have "=WORD"; NULL: none */
    enum {
        AL_WORDS_APART, /**< options stand anywhere */
        AL_WORDS_TOOL,  /**< the same; --help behind the name of a tool is about that tool */
        AL_WORDS_LAST,  /**< the first word ends the options */
        AL_WORDS_ALL    /**< there are no options */
    } words;
};

/** Test whether an option is the command's own, or on a list that --help shows. */
bool al_command_shows(const struct al_command *command, const struct al_option_row *row);

/** The command of this name, or of this option; NULL: there is none, and `nearest` was offered the
 * names.  It may be NULL. */
const struct al_command *al_command_find(const char *word, struct al_nearest *nearest);

/** Print one command's help to stdout, or the overview for NULL.  Returns the exit code:
 * AL_EXIT_USAGE for an unknown command. */
int al_help_command(const char *word);

#endif
