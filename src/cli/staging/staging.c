// SPDX-License-Identifier: Apache-2.0
/* Which subcommand, and the session it works in. */
#include "cli/staging/command.h"

#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "guard/text.h"
#include "proc/cancel.h"
#include "util/log.h"
#include "util/nearest.h"

#define PATIENCE_MS 600000u

/* One that calls a tool has no `run`. */
static const struct subcommand {
    const char *name;
    int (*run)(struct al_staging_command *command, struct al_error *err);
    int (*call)(struct al_staging_command *command, struct al_options *options);
    bool needs_id, needs_no_store, takes_target;
} subcommands[] = {
    { "list", .run = al_staging_list },
    { "show", .run = al_staging_show, .needs_id = true },
    { "diff", .run = al_staging_diff, .needs_id = true },
    { "discard", .call = al_staging_discard, .needs_id = true },
    { "open", .run = al_staging_open, .needs_no_store = true },
    { "push", .call = al_staging_push, .needs_id = true, .takes_target = true },
};

void al_staging_print_json(json_t *object)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_json_dump(object, false, &text);
    al_str_addc(&text, '\n');
    al_cli_print(STDOUT_FILENO, &text);
    json_decref(object);
}

int al_staging_command_find(struct al_staging_command *command, struct al_staged *ret_staged,
                            struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(command->id);

    if (command->staging)
        return al_staged_find(command->staging, command->id, &command->budget, ret_staged, err);
    return al_error_set(err, AL_ERR_EXECUTION,
                        "no staged commit '%s': nothing was staged below this root yet", safe);
}

/* The session opens the store if it offers a tool that needs it; else it is opened here. */
static int open_session(struct al_staging_command *command, const struct subcommand *sub,
                        const struct al_options *options, struct al_error *err)
{
    struct al_setup *setup = &command->setup;
    int r = al_setup_config(setup, options, err);

    if (r == 0)
        r = al_setup_tools(setup, err);
    if (r < 0 || sub->needs_no_store)
        return r;
    r = al_setup_session(setup, err);
    if (r == 0 && !setup->session.staging)
        r = al_setup_staging(setup, true, err);
    command->staging = setup->session.staging;
    return r == AL_ERR_NOT_FOUND ? 0 : r;
}

static int run(struct al_staging_command *command, const struct subcommand *sub,
               const struct al_options *options)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r = open_session(command, sub, options, &err);

    if (r < 0)
        return al_cli_fail(&err);
    al_signals_handle(&command->setup, al_cancel_ref(cancel));
    command->budget = (struct al_run_limits){ .cancel = cancel, .left_ms = PATIENCE_MS };
    r = sub->run(command, &err);
    return r < 0 ? al_cli_fail(&err) : AL_EXIT_OK;
}

static const struct subcommand *find(const char *word)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);
    struct al_nearest nearest = { .word = word };

    for (size_t i = 0; i < AL_COUNT(subcommands); i++) {
        if (!strcmp(subcommands[i].name, word))
            return &subcommands[i];
        al_nearest_offer(&nearest, subcommands[i].name);
    }
    if (nearest.found)
        al_log_note("staging: unknown command '%s'; did you mean %s?", safe, nearest.found);
    else
        al_log_note("staging: unknown command '%s'; see airlock staging --help", safe);
    return NULL;
}

int al_cmd_staging(int argc, char **argv)
{
    al_auto(al_options_clear) struct al_options options = { .json = false };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_staging_command command = { .id = NULL };
    const struct subcommand *sub;
    int code;

    if (al_staging_take_target(&command, &argc, argv, &err) < 0 ||
        al_options_read_all(&options, true, &argc, argv, &err) < 0) {
        (void)al_cli_fail(&err);
        return AL_EXIT_USAGE;
    }
    if (options.help)
        return al_help_command("staging");
    sub = find(argc ? argv[0] : "list");
    if (!sub)
        return AL_EXIT_USAGE;
    if ((argc > 1) != sub->needs_id || argc > 2) {
        al_log_note(sub->needs_id ? "staging %s needs the id of one staged commit"
                                  : "staging %s takes no words",
                    sub->name);
        return AL_EXIT_USAGE;
    }
    if (!sub->takes_target && (command.target || command.branch)) {
        al_log_note("staging %s takes neither --target nor --branch", sub->name);
        return AL_EXIT_USAGE;
    }
    command.id = argc > 1 ? argv[1] : NULL;
    command.json = options.json;
    code = sub->run ? run(&command, sub, &options) : sub->call(&command, &options);
    al_setup_clear(&command.setup);
    return code;
}
