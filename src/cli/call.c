// SPDX-License-Identifier: Apache-2.0
/* airlock call: one tool call from the command line, through the same pipeline as every call. */
#include "cli/call.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/prepare.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "cli/tty.h"
#include "guard/text.h"
#include "proc/cancel.h"
#include "staging/sandbox/sandbox.h"
#include "staging/settings.h"
#include "tools/toolsets.h"

static json_t *arguments_of(const struct al_auto_pull *pull)
{
    const struct al_target *source = &pull->source;
    json_t *arguments = json_pack("{s:[s]}", "paths", pull->path);

    if (pull->has_source)
        al_json_set(arguments, "source",
                    json_pack("{s:s, s:s*, s:s*, s:s*}", "type", al_target_type_name(source->type),
                              "path", source->path, "repo", source->repo, "branch",
                              source->branch));
    return arguments;
}

static void pull_one(const struct al_setup *setup, const struct al_listed_tool *tool,
                     const struct al_auto_pull *pull, struct al_cancel *cancel)
{
    al_auto(al_json_decrefp) json_t *arguments = arguments_of(pull);
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;
    al_auto(al_freep) char *path = al_text_sanitize_line(pull->path);
    const json_t *conflicts;

    al_call_run(&setup->session,
                &(struct al_call_input){ .tool = tool, .arguments = arguments, .cancel = cancel },
                &result);
    conflicts = json_object_get(result.structured, "conflicts");
    if (al_cancel_fired(cancel))
        return;
    if (result.status < 0) {
        al_auto(al_freep) char *text = al_text_join_lines(result.text.buf);

        al_log_warn("auto_pull of '%s' failed: %s", path, text);
    } else if (json_array_size(conflicts)) {
        al_log_warn("auto_pull of '%s': %zu file(s) have conflict markers", path,
                    json_array_size(conflicts));
    }
}

static bool has_pulls(const struct al_setup *setup)
{
    const struct al_staging_settings *settings = setup->session.staging_settings;

    return setup->auto_pulls && settings && settings->npulls && setup->session.staging;
}

void al_auto_pull(const struct al_setup *setup, struct al_cancel *cancel)
{
    const struct al_staging_settings *settings = setup->session.staging_settings;
    /* An earlier toolset may have a tool of that name. */
    const struct al_listed_tool tool = { .toolset = al_toolset_find(&setup->toolsets, "staging"),
                                         .tool = &al_tool_staging_pull };

    if (!has_pulls(setup))
        return;
    for (size_t i = 0; i < settings->npulls && !al_cancel_fired(cancel); i++)
        pull_one(setup, &tool, &settings->pulls[i], cancel);
}

/* --- In the background --- */

struct al_auto_pulling {
    const struct al_setup *setup;
    struct al_cancel *cancel, *ended;
    pthread_t thread;
    bool has_thread;
};

static void *pull_all(void *payload)
{
    struct al_auto_pulling *pulling = payload;

    al_auto_pull(pulling->setup, pulling->cancel);
    al_cancel_fire(pulling->ended);
    return NULL;
}

struct al_auto_pulling *al_auto_pull_begin(const struct al_setup *setup)
{
    struct al_auto_pulling *pulling;

    if (!has_pulls(setup))
        return NULL;
    pulling = al_calloc(1, sizeof(*pulling));
    pulling->setup = setup;
    pulling->cancel = al_cancel_new();
    pulling->ended = al_cancel_new();
    pulling->has_thread = pthread_create(&pulling->thread, NULL, pull_all, pulling) == 0;
    if (!pulling->has_thread)
        (void)pull_all(pulling);
    return pulling;
}

const struct al_cancel *al_auto_pull_ended(const struct al_auto_pulling *pulling)
{
    return pulling ? pulling->ended : NULL;
}

void al_auto_pull_end(struct al_auto_pulling *pulling)
{
    if (!pulling)
        return;
    al_cancel_fire(pulling->cancel);
    if (pulling->has_thread)
        (void)pthread_join(pulling->thread, NULL);
    al_cancel_unref(pulling->cancel);
    al_cancel_unref(pulling->ended);
    free(pulling);
}

/* The terminal, once airlock review can be asked too. */
struct doors {
    struct al_setup *setup;
    struct al_approver terminal;
};

static int ask(void *payload, const struct al_approval_request *request, struct al_cancel *cancel,
               struct al_approval_answer *ret_answer, struct al_error *err)
{
    const struct doors *doors = payload;

    al_setup_review_listen(doors->setup);
    return doors->terminal.ask(doors->terminal.payload, request, cancel, ret_answer, err);
}

static void print_line(int fd, const char *prefix, const struct al_str *text)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_adds(&line, prefix);
    al_str_add(&line, text->buf, text->len);
    if (!line.len || line.buf[line.len - 1] != '\n')
        al_str_addc(&line, '\n');
    al_cli_print(fd, &line);
}

/* A file's content is exact, so a terminal gets it made safe. */
static void print_text(const struct al_str *text)
{
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT, shown = AL_STR_INIT;

    if (isatty(STDOUT_FILENO))
        al_text_sanitize(text->buf, text->len, &safe);
    al_tty_add_text(safe.buf, "", al_tty_colours(STDOUT_FILENO), &shown);
    print_line(STDOUT_FILENO, "", shown.len ? &shown : text);
}

static void print_result(const struct al_result *result, bool json,
                         void (*show)(const struct al_result *result))
{
    if (json) {
        al_auto(al_str_clear) struct al_str object = AL_STR_INIT;

        al_result_dump(result, NULL, &object);
        print_line(STDOUT_FILENO, "", &object);
    } else if (result->status == AL_OK && show) {
        show(result);
    } else if (result->status == AL_OK || result->structured) {
        if (result->text.len)
            print_text(&result->text);
        if (result->notes.len) /* not to stdout, which a program may parse as one object */
            print_line(STDERR_FILENO, "", &result->notes);
    } else {
        const char *kind = al_status_kind(result->status);
        al_auto(al_freep) char *prefix = al_asprintf("%s: ", kind);

        print_line(STDERR_FILENO, strcmp(result->text.buf, kind) ? prefix : "", &result->text);
    }
}

static int exit_code_of(const struct al_result *result)
{
    if (result->status == AL_ERR_APPROVAL_REQUIRED || result->status == AL_ERR_APPROVAL_DENIED)
        return AL_EXIT_NOT_APPROVED;
    if (result->status == AL_ERR_CANCELLED && al_signals_caught())
        return 128 + al_signals_caught();
    return result->status == AL_OK ? AL_EXIT_OK : AL_EXIT_FAILED;
}

int al_cli_run_call(struct al_setup *setup, const struct al_listed_tool *tool,
                    const json_t *arguments, bool json,
                    void (*show)(const struct al_result *result))
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;
    const struct al_sandbox *sandbox = setup->session.sandbox;
    struct doors doors = { .setup = setup };
    const struct al_approver approver = { .name = "terminal", .ask = ask, .payload = &doors };
    struct al_tty *tty;
    int code;

    al_setup_one_call(setup);
    al_setup_review(setup);
    al_signals_handle(setup, al_cancel_ref(cancel));
    al_auto_pull(setup, cancel);
    tty = al_tty_open();
    if (tty)
        doors.terminal = al_tty_approver(tty);
    else
        al_setup_review_await(setup);
    al_call_run(&setup->session,
                &(struct al_call_input){
                    .tool = tool,
                    .arguments = arguments,
                    .cancel = cancel,
                    .approvers = &approver,
                    .napprovers = tty ? 1 : 0,
                    .waiting = &(struct al_waiting){ .set = al_cli_note_wait },
                },
                &result);
    print_result(&result, json, show);
    code = exit_code_of(&result);
    /* A sandbox in memory is gone when this command ends. */
    if (code == AL_EXIT_OK && !strcmp(tool->toolset->name, "files") && sandbox &&
        !al_sandbox_dir(sandbox) && al_effects_have_side_effects(al_tool_effects(tool->tool)))
        al_log_note("the sandbox is in memory and ends with this command; with staging.backend = "
                    "\"directory\" it stays");
    if (code == AL_EXIT_OK && show && result.not_done)
        code = AL_EXIT_FAILED;
    al_tty_free(tty);
    return code;
}

int al_cmd_call(int argc, char **argv)
{
    al_auto(al_options_clear) struct al_options options = { .json = false };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_json_decrefp) json_t *arguments = NULL;
    const struct al_listed_tool *tool = NULL;
    struct al_setup setup;
    int r, code;

    if (!al_options_take(&options, "call", NULL, &argc, argv, &code))
        return code;
    if (options.help)
        return al_tools_show(&options, argv[0]);
    r = al_prepare_call(&setup, "call", &options, argc, argv, &tool, &arguments, &err);
    setup.auto_pulls = true;
    code = r < 0 ? al_cli_fail(&err) : al_cli_run_call(&setup, tool, arguments, options.json, NULL);
    al_setup_clear(&setup);
    return code;
}
