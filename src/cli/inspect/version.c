// SPDX-License-Identifier: Apache-2.0
/* airlock version: versions of airlock and git, and the kernel's Landlock ABI. */
#include <string.h>

#include "cli/cli.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "git/repo/git.h"
#include "proc/proc.h"

int al_cmd_version(struct al_options *options, int argc, char **argv)
{
    al_auto(al_freep) char *version = NULL;
    int abi = al_confine_abi();
    struct al_setup setup;

    if (argc > 0)
        return al_cli_usage("version takes no words, such as '%s'", argv[0]);
    (void)al_setup_config(&setup, options, NULL);
    (void)al_setup_git(&setup, NULL);
    al_cli_say("airlock %s\n", AIRLOCK_VERSION);
    if (*AIRLOCK_WITHOUT)
        al_cli_say("built without%s\n", AIRLOCK_WITHOUT);
    if (al_proc_init(setup.git_program, NULL) == 0 &&
        al_git_version(setup.git_program, &version, NULL) == 0)
        al_cli_say("git %s\n", version);
    else
        al_cli_say("git not found\n");
    if (abi)
        al_cli_say("Landlock ABI %d\n", abi);
    else
        al_cli_say("no Landlock in this kernel\n");
    al_setup_clear(&setup);
    return AL_EXIT_OK;
}
