// SPDX-License-Identifier: Apache-2.0
/* airlock complete: names for shell completion, one a line. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "guard/text.h"

static void add_names(const struct al_setup *setup, const char *what, struct al_str *out)
{
    const struct al_registry *tools = &setup->registry;
    const struct al_grants *grants = &setup->config.grants;

    for (size_t i = 0; !strcmp(what, "tools") && i < tools->count; i++)
        if (al_grant_has_tool(setup->session.grant, tools->items[i].tool->name))
            al_str_addf(out, "%s\t%s\n", tools->items[i].tool->name, tools->items[i].tool->about);
    for (size_t i = 0; !strcmp(what, "grants") && i < grants->count; i++) {
        al_auto(al_freep) char *name = al_text_sanitize_line(grants->items[i].name);

        al_str_addf(out, "%s\n", name);
    }
}

/* Errors are not reported: the command that is being completed reports them when it runs. */
int al_cmd_complete(struct al_options *options, int argc, char **argv)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_setup setup;

    if (argc != 1) {
        (void)al_help_command("complete");
        return AL_EXIT_USAGE;
    }
    if (al_setup_config(&setup, options, NULL) == 0) {
        (void)al_setup_tools(&setup, NULL);
        add_names(&setup, argv[0], &text);
    }
    al_setup_clear(&setup);
    al_cli_print(STDOUT_FILENO, &text);
    return AL_EXIT_OK;
}
