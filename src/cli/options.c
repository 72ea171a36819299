// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <stddef.h>
#include <string.h>

#include "base/nearest.h"
#include "guard/text.h"

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
    enum { OF_ALL, OF_JSON, OF_SERVE, OF_SESSION, OF_CALLS, OF_AGENT } commands;
} known[] = {
    { "--root", LIST, offsetof(struct al_options, roots), OF_SESSION },
    { "--toolset", LIST, offsetof(struct al_options, toolsets), OF_CALLS },
    { "--approval", WORD, offsetof(struct al_options, approval), OF_CALLS },
    { "--audit", WORD, offsetof(struct al_options, audit), OF_ALL },
    { "--config", WORD, offsetof(struct al_options, config), OF_ALL },
    { "--agent", WORD, offsetof(struct al_options, agent), OF_AGENT },
    { "--grant", WORD, offsetof(struct al_options, grant), OF_CALLS },
    { "--worker", WORD, offsetof(struct al_options, worker), OF_CALLS },
    { "--tool", WORD, offsetof(struct al_options, tool), OF_CALLS },
    { "--command-timeout", WORD, offsetof(struct al_options, command_timeout), OF_CALLS },
    { "--no-git", FLAG, offsetof(struct al_options, no_git), OF_CALLS },
    { "--help", FLAG, offsetof(struct al_options, help), OF_ALL },
    { "-h", FLAG, offsetof(struct al_options, help), OF_ALL },
    { "-v", FLAG, offsetof(struct al_options, verbose), OF_CALLS },
    { "--json", FLAG, offsetof(struct al_options, json), OF_JSON },
    { "--http", LIST, offsetof(struct al_options, http), OF_SERVE },
    { "--token-file", WORD, offsetof(struct al_options, token_file), OF_SERVE },
    { "--tls-cert", WORD, offsetof(struct al_options, tls_cert), OF_SERVE },
    { "--tls-key", WORD, offsetof(struct al_options, tls_key), OF_SERVE },
    { "--no-token", FLAG, offsetof(struct al_options, no_token), OF_SERVE },
    { "--behind-proxy", FLAG, offsetof(struct al_options, behind_proxy), OF_SERVE },
};

static bool has(const struct al_options *options, bool with_json, const struct option *option)
{
    if (option->commands >= OF_SESSION)
        return !options->no_session;
    return option->commands == OF_ALL || (option->commands == OF_JSON && with_json) ||
           (option->commands == OF_SERVE && options->serves);
}

static int unknown_option(const struct al_options *options, const char *word, bool with_json,
                          struct al_error *err)
{
    al_auto(al_freep) char *name = al_strndup(word, strcspn(word, "="));
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);
    const char *of = options->command ? options->command : "", *space = *of ? " " : "";
    struct al_nearest nearest = { .word = name };

    for (const struct al_own_option *own = options->own; own && own->name; own++)
        if (own->name[1] == '-')
            al_nearest_offer(&nearest, own->name);
    for (size_t i = 0; i < AL_COUNT(known); i++)
        if (known[i].name[1] == '-' && has(options, with_json, &known[i]))
            al_nearest_offer(&nearest, known[i].name);
    if (nearest.found)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "unknown option '%s'; did you mean %s? See airlock%s%s --help", safe,
                            nearest.found, space, of);
    return al_error_set(err, AL_ERR_BAD_ARGS, "unknown option '%s'; see airlock%s%s --help", safe,
                        space, of);
}

/* Whether the first word is this option: "--root DIR" or "--root=DIR", or "--help" with a flag. */
static bool is_option(const char *word, const char *name, bool is_flag)
{
    const size_t len = strlen(name);

    return !strncmp(word, name, len) && (!word[len] || (word[len] == '=' && !is_flag));
}

/* The value of the first words, of which the last one is left. */
static int take_value(const char *name, int *argc, char ***argv, const char **ret_value,
                      struct al_error *err)
{
    const char *equals = (*argv)[0] + strlen(name);

    if (!*equals && *argc < 2)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s needs a value; see airlock --help", name);
    if (!*equals) {
        --*argc;
        ++*argv;
    }
    *ret_value = *equals ? equals + 1 : (*argv)[0];
    return 0;
}

static int read_one(struct al_options *options, bool with_json, int *argc, char ***argv,
                    struct al_error *err)
{
    const char *word = (*argv)[0], *value = NULL;

    for (const struct al_own_option *own = options->own; own && own->name; own++) {
        if (!is_option(word, own->name, own->flag))
            continue;
        if (!own->flag)
            return take_value(own->name, argc, argv, own->word, err);
        *own->flag = true;
        return 0;
    }
    for (size_t i = 0; i < AL_COUNT(known); i++) {
        const struct option *option = &known[i];
        void *field = (char *)options + option->offset;
        int r = 0;

        if (!has(options, with_json, option) ||
            !is_option(word, option->name, option->kind == FLAG))
            continue;
        if ((option->commands == OF_CALLS && options->no_calls) ||
            (option->commands == OF_AGENT && options->no_agent))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "%s means nothing to airlock %s, which makes no calls; see "
                                "airlock %s --help",
                                option->name, options->command, options->command);
        if (option->kind == FLAG)
            *(bool *)field = true;
        else if (option->kind == WORD)
            r = take_value(option->name, argc, argv, field, err);
        else if ((r = take_value(option->name, argc, argv, &value, err)) == 0)
            al_strv_add(field, value);
        return r;
    }
    return unknown_option(options, word, with_json, err);
}

int al_options_read(struct al_options *options, bool with_json, int *argc, char ***argv,
                    struct al_error *err)
{
    while (*argc > 0 && (*argv)[0][0] == '-' && (*argv)[0][1]) {
        bool end = !strcmp((*argv)[0], "--");
        int r = end ? 0 : read_one(options, with_json, argc, argv, err);

        if (r < 0)
            return r;
        --*argc;
        ++*argv;
        if (end)
            break;
    }
    return 0;
}

int al_options_read_all(struct al_options *options, bool with_json, int *argc, char **argv,
                        struct al_error *err)
{
    char **at = argv;
    int left = *argc, count = 0, r = 0;

    while (left > 0 && r == 0) {
        bool is_option = at[0][0] == '-' && at[0][1], end = !strcmp(at[0], "--");

        if (is_option && !end)
            r = read_one(options, with_json, &left, &at, err);
        else if (!end)
            argv[count++] = at[0];
        left--;
        at++;
        for (; end && left > 0; left--)
            argv[count++] = *at++;
    }
    *argc = count;
    return r;
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
