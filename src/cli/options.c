// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/help.h"
#include "cli/print.h"
#include "tools/words.h"

/* The words of one command while they are read. */
struct reading {
    struct al_options *options;
    const struct al_command *command;
    char **words; /* the next one, and those behind it */
    int left;
};

/* NULL: there are no more. */
static char *next_word(struct reading *reading)
{
    return reading->left ? reading->left--, *reading->words++ : NULL;
}

/* The length of a row's name, without the value that follows it. */
static size_t name_len(const struct al_option_row *row)
{
    return strcspn(row->name, " ");
}

static bool takes(const struct al_command *command, const struct al_option_row *row)
{
    return al_command_shows(command, row) ||
           (command->more && al_shell_words_list(command->more, row->list));
}

/* Find the option that a word is among those of a command; NULL for the command: of sessions. */
static const struct al_option_row *find(const struct al_command *command, const char *word)
{
    for (const struct al_option_row *row = al_option_rows; row->name; row++) {
        const size_t len = name_len(row);

        if (command ? !takes(command, row)
                    : !row->list || !al_shell_words_list(" session agent more ", row->list))
            continue;
        if ((row->also && !strcmp(word, row->also)) ||
            (!strncmp(word, row->name, len) &&
             (!word[len] || (word[len] == '=' && row->name[len]))))
            return row;
    }
    return NULL;
}

static int unknown_option(const struct al_command *command, const char *word)
{
    al_auto(al_freep) char *name = al_strndup(word, strcspn(word, "="));
    al_auto(al_freep) char *see = al_asprintf("see airlock %s --help", command->name);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct al_nearest nearest = { .word = name };

    /* A command that makes no calls has no use for how they are made. */
    if (find(command, "--root") && find(NULL, word))
        return al_cli_usage("%s means nothing to airlock %s, which makes no calls; %s", name,
                            command->name, see);
    for (const struct al_option_row *row = al_option_rows; row->name; row++)
        if (takes(command, row) && row->name[1] == '-') {
            al_strv_take(&names, al_strndup(row->name, name_len(row)));
            al_nearest_offer(&nearest, names.items[names.count - 1]);
        }
    nearest.word = word;
    return al_cli_unknown("unknown option", &nearest, see);
}

/* Take the option that comes next, and its value. */
static int take_one(struct reading *reading)
{
    const char *word = next_word(reading), *equals = strchr(word, '=');
    const struct al_option_row *row = find(reading->command, word);
    struct al_strv *given = &reading->options->given;
    const char *value = "";

    if (!row)
        return unknown_option(reading->command, word);
    if (row->name[name_len(row)])
        value = equals ? equals + 1 : next_word(reading);
    if (!value)
        return al_cli_usage("%s needs a value; see airlock --help", word);
    al_strv_take(given, al_strndup(row->name, name_len(row)));
    al_strv_take(given, al_ends_with(row->name, " FILE") ? al_environment_absolute(value)
                                                         : al_strdup(value));
    return AL_EXIT_OK;
}

bool al_options_take(struct al_options *options, const struct al_command *command, int *argc,
                     char **argv, int *ret_code)
{
    struct reading reading = { options, command, argv, *argc };
    int count = 0;

    *ret_code = AL_EXIT_OK;
    while (reading.left && *ret_code == AL_EXIT_OK && command->words != AL_WORDS_ALL) {
        const bool is_option = reading.words[0][0] == '-' && reading.words[0][1];

        if (!is_option && command->words == AL_WORDS_LAST)
            break;
        if (!is_option)
            argv[count++] = next_word(&reading);
        else if (strcmp(*reading.words, "--") != 0)
            *ret_code = take_one(&reading);
        else if (next_word(&reading))
            break;
    }
    while ((argv[count] = next_word(&reading))) /* the list of words ends with NULL, too */
        count++;
    *argc = count;
    if (*ret_code != AL_EXIT_OK || !al_option(options, "--help") ||
        (count && command->words == AL_WORDS_TOOL))
        return *ret_code == AL_EXIT_OK;
    *ret_code = al_help_command(command->name);
    return false;
}
