// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/helpers.h"
#include "cli/print.h"
#include "guard/text.h"
#include "util/log.h"
#include "util/nearest.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "serve", al_cmd_serve },       { "call", al_cmd_call },         { "tools", al_cmd_tools },
    { "log", al_cmd_log },           { "policy", al_cmd_policy },     { "doctor", al_cmd_doctor },
    { "rollback", al_cmd_rollback }, { "diff", al_cmd_diff },         { "version", al_cmd_version },
    { "staging", al_cmd_staging },   { "complete", al_cmd_complete }, { "install", al_cmd_install },
    { "review", al_cmd_review },
};

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    int helper;

    if (al_helper_run(argc, argv, &helper))
        return helper;
    /* The journal's key and tokens are in memory; a dump would write them to a disk. */
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    /* Calls run in many threads.  Two arenas limit the free memory that each arena retains. */
    (void)mallopt(M_ARENA_MAX, 2);
    /* Fixed thresholds: otherwise malloc raises them after one large answer and never returns such
     * blocks (mallopt(3)).  Lower values would cost a page fault per page for each reused block. */
    (void)mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
    (void)mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
    if (!strcmp(word, "--version"))
        return al_cmd_version(argc - 2, argv + 2);
    if (!strcmp(word, "--tool-log"))
        return al_cmd_log(argc - 2, argv + 2);
    if (!strcmp(word, "--rollback"))
        return al_cmd_rollback(argc - 2, argv + 2);
    if (al_starts_with(word, "--rollback=")) {
        argv[1] += strlen("--rollback=");
        return al_cmd_rollback(argc - 1, argv + 1);
    }
    if (al_starts_with(word, "--tool-log=")) {
        argv[1] += strlen("--tool-log=");
        return al_cmd_log(argc - 1, argv + 1);
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
