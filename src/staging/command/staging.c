// SPDX-License-Identifier: Apache-2.0
/* The choice of the subcommand, and the session it works in. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/call.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/pager.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "git/command.h"
#include "guard/text.h"
#include "proc/cancel.h"
#include "staging/staged.h"

/* A subcommand while it runs. */
struct al_staging_command {
    struct al_setup setup;
    struct al_staging *staging;  /**< borrowed from the session; NULL: nothing was ever staged */
    struct al_run_limits budget; /**< without a deadline that a user would notice */
    const char *id;              /**< the word after the subcommand; NULL: none */
    const char *target, *branch; /**< of push; NULL: not given */
    bool json;
};

/* The subcommands that print something about staged commits. */

/* A diff is for a pager, and longer than this nobody reads it. */
#define DIFF_MAX_BYTES ((size_t)64 * 1024 * 1024)

#define DATE_CHARS     10 /* of "2026-01-31T12:34:56.789Z" */
#define TIME_CHARS     8

/* Find the staged commit that command->id names. */
static int staging_command_find(struct al_staging_command *command, struct al_staged *ret_staged,
                                struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(command->id);

    if (command->staging)
        return al_staged_find(command->staging, command->id, &command->budget, ret_staged, err);
    return al_error_set(err, AL_ERR_EXECUTION,
                        "no staged commit '%s': nothing was staged below this root yet", safe);
}

/* "2026-01-31 12:34:56" */
static void add_time(struct al_str *out, const char *created_at)
{
    al_str_addf(out, "%.*s %.*s UTC", DATE_CHARS, created_at, TIME_CHARS,
                created_at + DATE_CHARS + 1);
}

static void print_list(const struct al_staged_list *list)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!list->count)
        al_str_adds(&text, "No staged commits\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct al_staged *staged = &list->items[i];
        al_auto(al_freep) char *title = al_staged_title(staged);

        add_time(&text, staged->created_at);
        al_str_addf(&text, "  %s (%zu file%s)\n", title, staged->count,
                    staged->count == 1 ? "" : "s");
    }
    al_pager_print(&text, false);
}

static int staging_list(struct al_staging_command *command, struct al_error *err)
{
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    int r = 0;

    if (command->staging)
        r = al_staged_list(command->staging, &command->budget, &list, err);
    if (r < 0)
        return r;
    if (command->json) {
        json_t *array = al_json_array();

        for (size_t i = 0; i < list.count; i++)
            al_json_append(array, al_staged_to_json(command->staging, &list.items[i]));
        al_cli_print_json(json_pack("{s:o}", "staged", array));
    } else {
        print_list(&list);
    }
    return 0;
}

static void add_files(struct al_str *out, const struct al_staged *staged)
{
    for (size_t i = 0; i < staged->count; i++) {
        const struct al_sandbox_file *file = &staged->files[i];
        al_auto(al_freep) char *path = al_text_sanitize_shown_line(file->path);

        al_str_addf(out, "  %c /workspace/%s", al_staged_mark(file->operation), path);
        if (file->mode) {
            al_str_adds(out, " (");
            al_size_add(out, file->size);
            al_str_addc(out, ')');
        }
        al_str_addc(out, '\n');
    }
}

static void print_staged(const struct al_staged *staged)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const json_t *head;
    size_t i;

    al_str_addf(&text, "staged commit %s\ncreated       ", staged->id);
    add_time(&text, staged->created_at);
    if (staged->worker) {
        al_auto(al_freep) char *worker = al_text_sanitize_shown_line(staged->worker);

        al_str_addf(&text, "\nworker        %s", worker);
    }
    json_array_foreach(staged->heads, i, head)
    {
        const char *commit = al_json_get_string(head, "head");
        al_auto(al_freep) char *target =
            al_text_sanitize_shown_line(al_json_get_string(head, "target"));
        al_auto(al_freep) char *branch =
            al_text_sanitize_shown_line(al_json_get_string(head, "branch"));

        al_str_addf(&text, "\nbased on      %s %s at %.12s", target, branch, commit);
    }
    al_str_adds(&text, "\n\n");
    al_text_add_indented(&text, staged->message, true);
    al_str_adds(&text, al_ends_with(text.buf, "\n") ? "\n" : "\n\n");
    add_files(&text, staged);
    al_pager_print(&text, false);
}

static int staging_show(struct al_staging_command *command, struct al_error *err)
{
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    json_t *object;
    int r = staging_command_find(command, &staged, err);

    if (r < 0)
        return r;
    if (!command->json) {
        print_staged(&staged);
        return 0;
    }
    object = al_staged_to_json(command->staging, &staged);
    al_json_set(object, "worker", staged.worker ? al_json_string(staged.worker) : json_null());
    al_json_set(object, "basedOn", staged.heads ? json_incref(staged.heads) : al_json_array());
    al_cli_print_json(object);
    return 0;
}

static int staging_diff(struct al_staging_command *command, struct al_error *err)
{
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    bool truncated = false;
    int r = staging_command_find(command, &staged, err);

    if (r == 0)
        r = al_staged_diff(command->staging, &staged, DIFF_MAX_BYTES, &command->budget, &text,
                           &truncated, err);
    if (r < 0)
        return r;
    if (!command->json) {
        al_pager_print(&text, false);
        return 0;
    }
    al_cli_print_json(json_pack("{s:s, s:o, s:b}", "id", staged.id, "diff",
                                al_json_string(text.buf), "truncated", truncated));
    return 0;
}

static int staging_open(struct al_staging_command *command, struct al_error *err)
{
    const struct al_config *config = &command->setup.config;
    const char *path = config->staging.path;
    al_auto(al_freep) char *absolute = al_environment_absolute(path);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (config->staging.backend != AL_STAGING_DIRECTORY)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the sandbox is in memory; with staging.backend = \"directory\" in the "
                            "configuration it is a directory");
    if (command->json) {
        al_cli_print_json(json_pack("{s:o}", "path", al_json_string(absolute)));
        return 0;
    }
    al_str_addf(&text, "%s\n", absolute);
    al_cli_print(STDOUT_FILENO, &text);
    return 0;
}

/* airlock staging push and discard: the tools git_push and git_discard, for a user in a terminal.
 */

#define TARGET_DEFAULT "local:."

/* "local:DIR", "local-bare:DIR", "github:USER/NAME"; without a target and without a default target
 * in the session it is the repository at the root. */
static int add_target(const struct al_staging_command *command, json_t *arguments,
                      struct al_error *err)
{
    const char *target = command->target ? command->target : TARGET_DEFAULT;
    const char *colon = strchr(target, ':');

    if (!colon) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(target);

        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "--target is TYPE:PLACE, such as local:. or local-bare:backup.git or "
                            "github:user/name, and not '%s'",
                            safe);
    }
    al_json_set(
        arguments, "target",
        json_pack("{s:o, s:o, s:o*}", "type", al_json_stringn(target, (size_t)(colon - target)),
                  al_starts_with(target, "github:") ? "repo" : "path", al_json_string(colon + 1),
                  "branch", command->branch ? al_json_string(command->branch) : NULL));
    return 0;
}

static void show(const struct al_result *result)
{
    const json_t *conflict = json_object_get(result->structured, "conflict");
    const char *commit = al_json_get_string(result->structured, "commitSha");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (conflict)
        al_str_addf(&text, "Conflict: %s\n", al_json_get_string(conflict, "message"));
    else
        al_str_addf(&text, "Pushed as commit %s\n", commit ? commit : "");
    if (result->notes.len)
        al_str_addf(&text, "%s\n", result->notes.buf);
    al_cli_print(conflict ? STDERR_FILENO : STDOUT_FILENO, &text);
}

#define PATIENCE_MS 600000u

/* One that calls a tool has no `run`. */
static const struct subcommand {
    const char *name;
    int (*run)(struct al_staging_command *command, struct al_error *err);
    const char *tool;
    bool needs_id, needs_no_store, takes_target;
} subcommands[] = {
    { "list", .run = staging_list },
    { "show", .run = staging_show, .needs_id = true },
    { "diff", .run = staging_diff, .needs_id = true },
    { "discard", .tool = "git_discard", .needs_id = true },
    { "open", .run = staging_open, .needs_no_store = true },
    { "push", .tool = "git_push", .needs_id = true, .takes_target = true },
};

/* Call a tool for the staged commit that the command names. */
static int call(struct al_staging_command *command, const struct subcommand *sub,
                struct al_options *options)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_json_decrefp) json_t *arguments = NULL;
    al_auto(al_freep) char *name = al_asprintf("staging %s", sub->name);
    const struct al_listed_tool *tool = NULL;

    al_option_set(options, "--toolset", "staging");
    if (al_prepare_call(&command->setup, name, options, 1, (char *[]){ (char *)sub->tool, NULL },
                        &tool, &arguments, &err) < 0)
        return al_cli_fail(&err);
    al_json_set(arguments, "commitId", al_json_string(command->id));
    if (sub->takes_target &&
        (command->target || command->branch || !command->setup.session.defaults.has_target) &&
        add_target(command, arguments, &err) < 0) {
        (void)al_cli_fail(&err);
        return AL_EXIT_USAGE;
    }
    return al_cli_run_call(&command->setup, tool, arguments, command->json,
                           sub->takes_target ? show : NULL);
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
        r = al_setup_staging(setup, &setup->session, true, err);
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
    struct al_nearest nearest = { .word = word };

    for (size_t i = 0; i < AL_COUNT(subcommands); i++) {
        if (!strcmp(subcommands[i].name, word))
            return &subcommands[i];
        al_nearest_offer(&nearest, subcommands[i].name);
    }
    (void)al_cli_unknown("staging: unknown command", &nearest, "see airlock staging --help");
    return NULL;
}

int al_cmd_staging(struct al_options *options, int argc, char **argv)
{
    struct al_staging_command command = { .target = al_option(options, "--target"),
                                          .branch = al_option(options, "--branch"),
                                          .json = al_option(options, "--json") };
    const struct subcommand *sub;
    int code;

    sub = find(argc ? argv[0] : "list");
    if (!sub)
        return AL_EXIT_USAGE;
    if ((argc > 1) != sub->needs_id || argc > 2)
        return al_cli_usage(sub->needs_id ? "staging %s needs the id of one staged commit"
                                          : "staging %s takes no words",
                            sub->name);
    if (!sub->takes_target && (command.target || command.branch))
        return al_cli_usage("staging %s takes neither --target nor --branch", sub->name);
    command.id = argc > 1 ? argv[1] : NULL;
    code = sub->run ? run(&command, sub, options) : call(&command, sub, options);
    al_setup_clear(&command.setup);
    return code;
}
