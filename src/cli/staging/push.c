// SPDX-License-Identifier: Apache-2.0
/* airlock staging push and discard: the tools git_push and git_discard, for a user in a terminal.
 */
#include <string.h>
#include <unistd.h>

#include "cli/call.h"
#include "cli/cli.h"
#include "cli/prepare.h"
#include "cli/print.h"
#include "cli/staging/command.h"
#include "guard/text.h"

#define TARGET_DEFAULT "local:."

/* "--target VALUE" or "--target=VALUE", removed from the words. */
static int take_option(const char *name, int *argc, char **argv, const char **ret_value,
                       struct al_error *err)
{
    const size_t len = strlen(name);

    for (int i = 0; i < *argc; i++) {
        int words = 1;

        if (strncmp(argv[i], name, len) != 0 || (argv[i][len] && argv[i][len] != '='))
            continue;
        if (!argv[i][len] && i + 1 == *argc)
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "%s needs a value; see airlock staging --help", name);
        words += !argv[i][len];
        *ret_value = words == 2 ? argv[i + 1] : argv[i] + len + 1;
        memmove(argv + i, argv + i + words, (size_t)(*argc - i - words) * sizeof(*argv));
        *argc -= words;
        i--;
    }
    return 0;
}

int al_staging_take_target(struct al_staging_command *command, int *argc, char **argv,
                           struct al_error *err)
{
    int r = take_option("--target", argc, argv, &command->target, err);

    return r < 0 ? r : take_option("--branch", argc, argv, &command->branch, err);
}

/* "local:DIR", "local-bare:DIR", "github:USER/NAME"; without a target and without a default target
 * in the session it is the repository at the root. */
static int add_target(const struct al_staging_command *command, json_t *arguments,
                      struct al_error *err)
{
    const char *target = command->target ? command->target : TARGET_DEFAULT;
    const char *colon = strchr(target, ':');
    json_t *object;

    if (!colon) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(target);

        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "--target is TYPE:PLACE, such as local:. or local-bare:backup.git or "
                            "github:user/name, and not '%s'",
                            safe);
    }
    object = al_json_object();
    al_json_set(object, "type", al_json_stringn(target, (size_t)(colon - target)));
    al_json_set(object, al_starts_with(target, "github:") ? "repo" : "path",
                al_json_string(colon + 1));
    if (command->branch)
        al_json_set(object, "branch", al_json_string(command->branch));
    al_json_set(arguments, "target", object);
    return 0;
}

/* The notes are lines. */
static void add_notes(const struct al_result *result, struct al_str *out)
{
    if (result->notes.len)
        al_str_addf(out, "%s\n", result->notes.buf);
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
    add_notes(result, &text);
    al_cli_print(conflict ? STDERR_FILENO : STDOUT_FILENO, &text);
}

/* Prepare the call of a tool for the staged commit that the command names. */
static int prepare(struct al_staging_command *command, struct al_options *options, const char *name,
                   const char *tool_name, const struct al_listed_tool **ret_tool,
                   json_t **ret_arguments, struct al_error *err)
{
    int r;

    al_strv_clear(&options->toolsets);
    al_strv_add(&options->toolsets, "staging");
    r = al_prepare_call(&command->setup, name, options, 1, (char *[]){ (char *)tool_name, NULL },
                        ret_tool, ret_arguments, err);
    if (r == 0)
        al_json_set(*ret_arguments, "commitId", al_json_string(command->id));
    return r;
}

int al_staging_discard(struct al_staging_command *command, struct al_options *options)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_json_decrefp) json_t *arguments = NULL;
    const struct al_listed_tool *tool = NULL;
    int r = prepare(command, options, "staging discard", "git_discard", &tool, &arguments, &err);

    return r < 0 ? al_cli_fail(&err)
                 : al_cli_run_call(&command->setup, tool, arguments, options->json, NULL);
}

int al_staging_push(struct al_staging_command *command, struct al_options *options)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_json_decrefp) json_t *arguments = NULL;
    const struct al_listed_tool *tool = NULL;
    int r = prepare(command, options, "staging push", "git_push", &tool, &arguments, &err);

    if (r < 0)
        return al_cli_fail(&err);
    if (command->target || command->branch || !command->setup.session.defaults.has_target)
        r = add_target(command, arguments, &err);
    if (r < 0) {
        (void)al_cli_fail(&err);
        return AL_EXIT_USAGE;
    }
    return al_cli_run_call(&command->setup, tool, arguments, options->json, show);
}
