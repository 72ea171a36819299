// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "gitops/git.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "util/log.h"

int al_cli_fail(const struct al_error *err)
{
    al_log_note("%s", err->message);
    return err->status == AL_ERR_BAD_ARGS || err->status == AL_ERR_NOT_FOUND ? AL_EXIT_USAGE
                                                                              : AL_EXIT_FAILED;
}

int al_cmd_version(void)
{
    al_auto(al_freep) char *program = al_git_find_program(getenv("PATH"));
    al_auto(al_freep) char *version = NULL;
    int abi = al_confine_abi();

    (void)printf("airlock %s\n", AIRLOCK_VERSION);
    if (al_proc_init(program, NULL) == 0 && al_git_version(program, &version, NULL) == 0)
        (void)printf("git %s\n", version);
    else
        (void)printf("git not found\n");
    if (abi)
        (void)printf("Landlock ABI %d\n", abi);
    else
        (void)printf("no Landlock in this kernel\n");
    return AL_EXIT_OK;
}

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "serve", al_cmd_serve },   { "call", al_cmd_call }, { "tools", al_cmd_tools },
    { "doctor", al_cmd_doctor },
};

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";

    /* Threads come and go with calls: two arenas keep what each of them left behind small. */
    (void)mallopt(M_ARENA_MAX, 2);
    if (!strcmp(word, "--version"))
        return al_cmd_version();
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        int code = argc > 2 ? al_help_command(argv[2]) : al_help_overview();

        return argc > 1 ? code : AL_EXIT_USAGE;
    }
    for (size_t i = 0; i < AL_COUNT(commands); i++)
        if (!strcmp(commands[i].name, word))
            return commands[i].run(argc - 2, argv + 2);
    {
        al_auto(al_freep) char *safe = al_text_word(word);

        al_log_note("unknown command '%s'; see airlock --help", safe);
    }
    return AL_EXIT_USAGE;
}
