// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/log.h"
#include "gitops/repo/git.h"
#include "gitops/version.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "util/log.h"
#include "util/nearest.h"

int al_cli_fail(const struct al_error *err)
{
    al_log_note("%s", err->message);
    if (err->remedy)
        al_log_note("%s", err->remedy);
    return err->status == AL_ERR_BAD_ARGS || err->status == AL_ERR_NOT_FOUND ? AL_EXIT_USAGE
                                                                             : AL_EXIT_FAILED;
}

int al_cmd_version(int argc, char **argv)
{
    static const struct al_options none = { .json = false };
    al_auto(al_freep) char *version = NULL;
    int abi = al_confine_abi();
    struct al_setup setup;

    if (argc > 0 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")))
        return al_help_command("version");
    (void)al_setup_config(&setup, &none, NULL);
    (void)al_setup_git(&setup, NULL);
    (void)printf("airlock %s\n", AIRLOCK_VERSION);
    if (al_proc_init(setup.git_program, NULL) == 0 &&
        al_git_version(setup.git_program, &version, NULL) == 0)
        (void)printf("git %s\n", version);
    else
        (void)printf("git not found\n");
    if (abi)
        (void)printf("Landlock ABI %d\n", abi);
    else
        (void)printf("no Landlock in this kernel\n");
    al_setup_clear(&setup);
    return AL_EXIT_OK;
}

/* The journal's place comes from the same options and configuration as everywhere. */
static int log_command(int argc, char **argv)
{
    al_auto(al_options_clear) struct al_options options = { .json = false };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_setup setup;
    char *word[2] = { NULL };
    int r = 0, code;

    if (argc > 0 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")))
        return al_help_command("log");
    /* --audit and --config may stand first; what follows is the log's own. */
    while (r == 0 && argc > 0 &&
           (al_starts_with(argv[0], "--audit") || al_starts_with(argv[0], "--config"))) {
        int words = strchr(argv[0], '=') || argc < 2 ? 1 : 2, left = words;
        char **at = word;

        memcpy(word, argv, (size_t)words * sizeof(*word));
        r = al_options_read(&options, false, &left, &at, &err);
        argc -= words;
        argv += words;
    }
    if (r < 0)
        return al_cli_fail(&err);
    r = al_setup_config(&setup, &options, &err);
    code = r < 0 ? al_cli_fail(&err) : al_cmd_log(setup.journal_file, argc, argv);
    al_setup_clear(&setup);
    return code;
}

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "serve", al_cmd_serve },       { "call", al_cmd_call },     { "tools", al_cmd_tools },
    { "log", log_command },          { "policy", al_cmd_policy }, { "doctor", al_cmd_doctor },
    { "rollback", al_cmd_rollback }, { "diff", al_cmd_diff },     { "version", al_cmd_version },
    { "complete", al_cmd_complete },
};

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    int helper;

    if (al_helper_run(argc, argv, &helper))
        return helper;
    /* Threads come and go with calls: two arenas keep what each of them left behind small. */
    (void)mallopt(M_ARENA_MAX, 2);
    /* Without fixed thresholds one large answer would teach malloc to keep such sizes for ever;
     * below this one, what is given back and asked for again costs a page fault for each page. */
    (void)mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
    (void)mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
    if (!strcmp(word, "--version"))
        return al_cmd_version(argc - 2, argv + 2);
    if (!strcmp(word, "--tool-log"))
        return log_command(argc - 2, argv + 2);
    if (!strcmp(word, "--rollback"))
        return al_cmd_rollback(argc - 2, argv + 2);
    if (al_starts_with(word, "--rollback=")) {
        argv[1] += strlen("--rollback=");
        return al_cmd_rollback(argc - 1, argv + 1);
    }
    if (al_starts_with(word, "--tool-log=")) {
        argv[1] += strlen("--tool-log=");
        return log_command(argc - 1, argv + 1);
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        int code = argc > 2 ? al_help_command(argv[2]) : al_help_overview();

        return argc > 1 ? code : AL_EXIT_USAGE;
    }
    for (size_t i = 0; i < AL_COUNT(commands); i++)
        if (!strcmp(commands[i].name, word))
            return commands[i].run(argc - 2, argv + 2);
    {
        al_auto(al_freep) char *safe = al_text_sanitize_line(word);
        struct al_nearest nearest = { .word = word };

        for (size_t i = 0; i < AL_COUNT(commands); i++)
            al_nearest_offer(&nearest, commands[i].name);
        if (nearest.found)
            al_log_note("unknown command '%s'; did you mean %s? See airlock --help", safe,
                        nearest.found);
        else
            al_log_note("unknown command '%s'; see airlock --help", safe);
    }
    return AL_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    return al_cli_finish(run(argc, argv));
}
