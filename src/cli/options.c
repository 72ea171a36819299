// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <string.h>

#include "guard/text.h"
#include "util/nearest.h"

void al_options_clear(struct al_options *options)
{
    al_strv_clear(&options->roots);
    al_strv_clear(&options->toolsets);
}

/* The value of "--root DIR" or "--root=DIR"; *ret_value is NULL for another option. */
static int value_of(const char *name, int *argc, char ***argv, const char **ret_value,
                    struct al_error *err)
{
    const char *word = (*argv)[0];
    size_t len = strlen(name);

    *ret_value = NULL;
    if (strncmp(word, name, len) != 0 || (word[len] && word[len] != '='))
        return 0;
    if (word[len] == '=') {
        *ret_value = word + len + 1;
    } else if (*argc > 1) {
        *ret_value = (*argv)[1];
        --*argc;
        ++*argv;
    } else {
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s needs a value; see airlock --help", name);
    }
    return 0;
}

static int unknown_option(const char *word, bool with_json, struct al_error *err)
{
    static const char *const known[] = {
        "--json", "--root", "--toolset",         "--approval", "--audit",  "--config", "--grant",
        "--tool", "--help", "--command-timeout", "--no-git",   "--worker", "--agent",
    };
    al_auto(al_freep) char *name = al_strndup(word, strcspn(word, "="));
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);
    struct al_nearest nearest = { .word = name };

    for (size_t i = with_json ? 0 : 1; i < AL_COUNT(known); i++)
        al_nearest_offer(&nearest, known[i]);
    if (nearest.found)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "unknown option '%s'; did you mean %s? See airlock --help", safe,
                            nearest.found);
    return al_error_set(err, AL_ERR_BAD_ARGS, "unknown option '%s'; see airlock --help", safe);
}

static int read_one(struct al_options *options, bool with_json, int *argc, char ***argv,
                    struct al_error *err)
{
    const struct {
        const char *name;
        struct al_strv *list; /* NULL: not a list, the last value is used */
        const char **word;
    } valued[] = {
        { "--root", &options->roots, NULL },
        { "--toolset", &options->toolsets, NULL },
        { "--approval", NULL, &options->approval },
        { "--audit", NULL, &options->audit },
        { "--config", NULL, &options->config },
        { "--agent", NULL, &options->agent },
        { "--grant", NULL, &options->grant },
        { "--worker", NULL, &options->worker },
        { "--tool", NULL, &options->tool },
        { "--command-timeout", NULL, &options->command_timeout },
    };
    const char *word = (*argv)[0];

    for (size_t i = 0; i < AL_COUNT(valued); i++) {
        const char *value;
        int r = value_of(valued[i].name, argc, argv, &value, err);

        if (value && valued[i].list)
            al_strv_add(valued[i].list, value);
        else if (value)
            *valued[i].word = value;
        if (r < 0 || value)
            return r;
    }
    if (!strcmp(word, "--json") && with_json) {
        options->json = true;
    } else if (!strcmp(word, "-v")) {
        options->verbose = true;
    } else if (!strcmp(word, "--no-git")) {
        options->no_git = true;
    } else if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        options->help = true;
    } else {
        return unknown_option(word, with_json, err);
    }
    return 0;
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

int al_options_refuse(const struct al_options *options, const char *command,
                      const char *const *names, struct al_error *err)
{
    const struct {
        const char *name;
        bool is_given;
    } given[] = {
        { "--toolset", options->toolsets.count > 0 },
        { "--approval", options->approval != NULL },
        { "--agent", options->agent != NULL },
        { "--grant", options->grant != NULL },
        { "--worker", options->worker != NULL },
        { "--tool", options->tool != NULL },
        { "--command-timeout", options->command_timeout != NULL },
        { "--no-git", options->no_git },
        { "-v", options->verbose },
    };

    for (; *names; names++)
        for (size_t i = 0; i < AL_COUNT(given); i++)
            if (given[i].is_given && !strcmp(given[i].name, *names))
                return al_error_set(err, AL_ERR_BAD_ARGS,
                                    "%s means nothing to airlock %s, which makes no calls; see "
                                    "airlock %s --help",
                                    *names, command, command);
    return 0;
}
