// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <stddef.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/print.h"

void al_options_clear(struct al_options *options)
{
    al_strv_clear(&options->roots);
    al_strv_clear(&options->toolsets);
    al_strv_clear(&options->http);
}

/* The options of a command line.  In a list every value counts, of a word the last one. */
static const struct option {
    const char *name;
    enum { FLAG, WORD, LIST } kind;
    size_t offset; /* of the field in struct al_options: bool, const char * or struct al_strv */
    unsigned of;   /* enum al_knows: the commands that know it; 0: all of them */
} known[] = {
    { "--root", LIST, offsetof(struct al_options, roots), AL_KNOWS_PLACE },
    { "--toolset", LIST, offsetof(struct al_options, toolsets), AL_KNOWS_CALLS },
    { "--approval", WORD, offsetof(struct al_options, approval), AL_KNOWS_CALLS },
    { "--audit", WORD, offsetof(struct al_options, audit), 0 },
    { "--config", WORD, offsetof(struct al_options, config), 0 },
    { "--agent", WORD, offsetof(struct al_options, agent), AL_KNOWS_AGENT },
    { "--grant", WORD, offsetof(struct al_options, grant), AL_KNOWS_CALLS },
    { "--worker", WORD, offsetof(struct al_options, worker), AL_KNOWS_CALLS },
    { "--tool", WORD, offsetof(struct al_options, tool), AL_KNOWS_CALLS },
    { "--command-timeout", WORD, offsetof(struct al_options, command_timeout), AL_KNOWS_CALLS },
    { "--no-git", FLAG, offsetof(struct al_options, no_git), AL_KNOWS_CALLS },
    { "--help", FLAG, offsetof(struct al_options, help), 0 },
    { "-h", FLAG, offsetof(struct al_options, help), 0 },
    { "-v", FLAG, offsetof(struct al_options, verbose), AL_KNOWS_CALLS },
    { "--json", FLAG, offsetof(struct al_options, json), AL_KNOWS_JSON },
    { "--http", LIST, offsetof(struct al_options, http), AL_KNOWS_SERVER },
    { "--token-file", WORD, offsetof(struct al_options, token_file), AL_KNOWS_SERVER },
    { "--tls-cert", WORD, offsetof(struct al_options, tls_cert), AL_KNOWS_SERVER },
    { "--tls-key", WORD, offsetof(struct al_options, tls_key), AL_KNOWS_SERVER },
    { "--no-token", FLAG, offsetof(struct al_options, no_token), AL_KNOWS_SERVER },
    { "--behind-proxy", FLAG, offsetof(struct al_options, behind_proxy), AL_KNOWS_SERVER },
};

/* The words of one command while they are read. */
struct reading {
    struct al_options *options;
    const struct al_command *command;
    const struct al_own_option *own;
};

/* How calls are made means nothing to a command that makes none. */
static bool means_nothing(const struct reading *reading, const struct option *option)
{
    return !(reading->command->knows & option->of) && (reading->command->knows & AL_KNOWS_PLACE) &&
           (option->of & (AL_KNOWS_CALLS | AL_KNOWS_AGENT));
}

static bool has(const struct reading *reading, const struct option *option)
{
    return !option->of || (reading->command->knows & option->of) || means_nothing(reading, option);
}

static int unknown_option(const struct reading *reading, const char *word)
{
    al_auto(al_freep) char *name = al_strndup(word, strcspn(word, "="));
    al_auto(al_freep) char *see = al_asprintf("see airlock %s --help", reading->command->name);
    struct al_nearest nearest = { .word = name };

    for (const struct al_own_option *own = reading->own; own && own->name; own++)
        if (own->name[1] == '-')
            al_nearest_offer(&nearest, own->name);
    for (size_t i = 0; i < AL_COUNT(known); i++)
        if (known[i].name[1] == '-' && has(reading, &known[i]))
            al_nearest_offer(&nearest, known[i].name);
    nearest.word = word;
    return al_cli_unknown("unknown option", &nearest, see);
}

/* Whether the first word is this option: "--root DIR" or "--root=DIR", or "--help" with a flag. */
static bool is_option(const char *word, const char *name, bool is_flag)
{
    const size_t len = strlen(name);

    return !strncmp(word, name, len) && (!word[len] || (word[len] == '=' && !is_flag));
}

/* The value of the first words, of which the last one is left.  AL_EXIT_OK, or there is none. */
static int take_value(const char *name, int *argc, char ***argv, const char **ret_value)
{
    const char *equals = (*argv)[0] + strlen(name);

    if (!*equals && *argc < 2)
        return al_cli_usage("%s needs a value; see airlock --help", name);
    if (!*equals) {
        --*argc;
        ++*argv;
    }
    *ret_value = *equals ? equals + 1 : (*argv)[0];
    return AL_EXIT_OK;
}

static int read_known(const struct reading *reading, const struct option *option, int *argc,
                      char ***argv)
{
    const char *command = reading->command->name, *value = NULL;
    void *field = (char *)reading->options + option->offset;
    int code = AL_EXIT_OK;

    if (means_nothing(reading, option))
        return al_cli_usage("%s means nothing to airlock %s, which makes no calls; see airlock %s "
                            "--help",
                            option->name, command, command);
    if (option->kind == FLAG)
        *(bool *)field = true;
    else if (option->kind == WORD)
        code = take_value(option->name, argc, argv, field);
    else if ((code = take_value(option->name, argc, argv, &value)) == AL_EXIT_OK)
        al_strv_add(field, value);
    return code;
}

static int read_one(const struct reading *reading, int *argc, char ***argv)
{
    const char *word = (*argv)[0];

    for (const struct al_own_option *own = reading->own; own && own->name; own++) {
        if (!is_option(word, own->name, own->flag))
            continue;
        if (!own->flag)
            return take_value(own->name, argc, argv, own->word);
        *own->flag = true;
        return AL_EXIT_OK;
    }
    for (size_t i = 0; i < AL_COUNT(known); i++)
        if (has(reading, &known[i]) && is_option(word, known[i].name, known[i].kind == FLAG))
            return read_known(reading, &known[i], argc, argv);
    return unknown_option(reading, word);
}

static bool is_any_option(const char *word)
{
    return word[0] == '-' && word[1];
}

/* Whether the command goes on when its options were read with this exit code. */
static bool goes_on(const struct reading *reading, int words, int *code)
{
    if (*code != AL_EXIT_OK || !reading->options->help ||
        (words && (reading->command->knows & AL_KNOWS_TOOLS)))
        return *code == AL_EXIT_OK;
    *code = al_help_command(reading->command->name);
    return false;
}

bool al_options_take_first(struct al_options *options, const char *command,
                           const struct al_own_option *own, int *argc, char ***argv, int *ret_code)
{
    const struct reading reading = { options, al_command_find(command, NULL), own };

    *ret_code = AL_EXIT_OK;
    for (bool end = false; !end && *argc > 0 && is_any_option((*argv)[0]); --*argc, ++*argv) {
        end = !strcmp((*argv)[0], "--");
        *ret_code = end ? AL_EXIT_OK : read_one(&reading, argc, argv);
        if (*ret_code != AL_EXIT_OK)
            break;
    }
    return goes_on(&reading, *argc, ret_code);
}

bool al_options_take(struct al_options *options, const char *command,
                     const struct al_own_option *own, int *argc, char **argv, int *ret_code)
{
    const struct reading reading = { options, al_command_find(command, NULL), own };
    char **at = argv;
    int left = *argc, count = 0;

    *ret_code = AL_EXIT_OK;
    for (; left > 0 && *ret_code == AL_EXIT_OK && strcmp(at[0], "--") != 0; left--, at++)
        if (is_any_option(at[0]))
            *ret_code = read_one(&reading, &left, &at);
        else
            argv[count++] = at[0];
    while (--left > 0) /* behind "--" */
        argv[count++] = *++at;
    *argc = count;
    return goes_on(&reading, count, ret_code);
}

bool al_options_have(const struct al_options *options, const char *name)
{
    const struct option *option = known;
    const void *field;

    while (strcmp(option->name, name) != 0)
        option++;
    field = (const char *)options + option->offset;
    if (option->kind == FLAG)
        return *(const bool *)field;
    return option->kind == LIST ? ((const struct al_strv *)field)->count > 0
                                : *(const char *const *)field != NULL;
}
