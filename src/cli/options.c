// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <string.h>

#include "guard/text.h"
#include "util/nearest.h"

void al_options_clear(struct al_options *options)
{
    al_strv_clear(&options->roots);
    al_strv_clear(&options->toolsets);
    al_strv_clear(&options->http);
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

static int unknown_option(const struct al_options *options, const char *word, bool with_json,
                          struct al_error *err)
{
    static const char *const serving[] = { "--http",     "--token-file", "--no-token",
                                           "--tls-cert", "--tls-key",    "--behind-proxy" };
    static const char *const known[] = {
        "--json", "--root", "--toolset",         "--approval", "--audit",  "--config", "--grant",
        "--tool", "--help", "--command-timeout", "--no-git",   "--worker", "--agent",
    };
    al_auto(al_freep) char *name = al_strndup(word, strcspn(word, "="));
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);
    struct al_nearest nearest = { .word = name };

    for (size_t i = with_json ? 0 : 1; i < AL_COUNT(known); i++)
        al_nearest_offer(&nearest, known[i]);
    for (size_t i = 0; options->serves && i < AL_COUNT(serving); i++)
        al_nearest_offer(&nearest, serving[i]);
    if (nearest.found)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "unknown option '%s'; did you mean %s? See airlock --help", safe,
                            nearest.found);
    return al_error_set(err, AL_ERR_BAD_ARGS, "unknown option '%s'; see airlock --help", safe);
}

/* The options without a value.  NULL: there is no such option. */
static bool *find_flag(struct al_options *options, bool with_json, const char *word)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        { "-v", &options->verbose },
        { "--no-git", &options->no_git },
        { "--help", &options->help },
        { "-h", &options->help },
        { "--json", with_json ? &options->json : NULL },
        { "--no-token", options->serves ? &options->no_token : NULL },
        { "--behind-proxy", options->serves ? &options->behind_proxy : NULL },
    };

    for (size_t i = 0; i < AL_COUNT(flags); i++)
        if (!strcmp(flags[i].name, word))
            return flags[i].flag;
    return NULL;
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
        { "--http", &options->http, NULL }, /* from here on, options of a server */
        { "--token-file", NULL, &options->token_file },
        { "--tls-cert", NULL, &options->tls_cert },
        { "--tls-key", NULL, &options->tls_key },
    };
    const size_t known = AL_COUNT(valued) - (options->serves ? 0 : 4);
    const char *word = (*argv)[0];
    bool *flag;

    for (size_t i = 0; i < known; i++) {
        const char *value;
        int r = value_of(valued[i].name, argc, argv, &value, err);

        if (value && valued[i].list)
            al_strv_add(valued[i].list, value);
        else if (value)
            *valued[i].word = value;
        if (r < 0 || value)
            return r;
    }
    flag = find_flag(options, with_json, word);
    if (!flag)
        return unknown_option(options, word, with_json, err);
    *flag = true;
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
