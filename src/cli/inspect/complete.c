// SPDX-License-Identifier: Apache-2.0
/* airlock complete: names for shell completion, one a line. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "git/command.h"
#include "guard/text.h"
#include "review/door.h"
#include "staging/staged.h"

#define LIST_MS 2000u

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

/* Names of staged commits need the session. */
static void add_staged(struct al_setup *setup, struct al_str *out)
{
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    struct al_run_limits budget = { .left_ms = LIST_MS };

    if (al_setup_session(setup, NULL) < 0)
        return;
    if (!setup->session.staging && al_setup_staging(setup, true, NULL) < 0)
        return;
    (void)al_staged_list(setup->session.staging, &budget, &list, NULL);
    for (size_t i = 0; i < list.count; i++) {
        al_auto(al_freep) char *title = al_staged_title(&list.items[i]);

        al_str_addf(out, "%.*s\t%s\n", AL_STAGED_SHORT_ID, list.items[i].id,
                    title + AL_STAGED_SHORT_ID + 1);
    }
}

static void add_questions(const struct al_setup *setup, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;
    const struct al_review_list *list;
    struct al_review_door *door;

    al_setup_review_dirs(setup, &dirs);
    door = al_review_door_peek(&dirs);
    if (!door)
        return;
    list = al_review_door_questions(door);
    for (size_t i = 0; i < list->count; i++) {
        const json_t *entry = list->items[i].entry;
        al_auto(al_freep) char *id = al_text_sanitize_line(al_json_get_string(entry, "id"));
        al_auto(al_freep) char *summary =
            al_text_join_shown_lines(al_json_get_string(entry, "summary"));

        al_str_addf(out, "%s\t%s\n", id, summary);
    }
    al_review_door_free(door);
}

/* Errors are not reported: the command that is being completed reports them when it runs. */
int al_cmd_complete(int argc, char **argv)
{
    al_auto(al_options_clear) struct al_options options = { .json = false };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_setup setup;
    int code;

    if (!al_options_take(&options, "complete", NULL, &argc, argv, &code))
        return code;
    if (argc != 1) {
        (void)al_help_command("complete");
        return AL_EXIT_USAGE;
    }
    if (al_setup_config(&setup, &options, NULL) == 0) {
        (void)al_setup_tools(&setup, NULL);
        if (!strcmp(argv[0], "staged"))
            add_staged(&setup, &text);
        else if (!strcmp(argv[0], "questions"))
            add_questions(&setup, &text);
        else
            add_names(&setup, argv[0], &text);
    }
    al_setup_clear(&setup);
    al_cli_print(STDOUT_FILENO, &text);
    return AL_EXIT_OK;
}
