// SPDX-License-Identifier: Apache-2.0
/* The subcommands that print something about staged commits. */
#include <inttypes.h>
#include <unistd.h>

#include "cli/environment.h"
#include "cli/pager.h"
#include "cli/print.h"
#include "cli/staging/command.h"
#include "guard/text.h"
#include "staging/size.h"
#include "staging/staged_diff.h"

/* A diff is for a pager, and longer than this nobody reads it. */
#define DIFF_MAX_BYTES ((size_t)64 * 1024 * 1024)

#define DATE_CHARS     10 /* of "2026-01-31T12:34:56.789Z" */
#define TIME_CHARS     8

/* "2026-01-31 12:34:56" */
static void add_time(struct al_str *out, const char *created_at)
{
    al_str_addf(out, "%.*s %.*s UTC", DATE_CHARS, created_at, TIME_CHARS,
                created_at + DATE_CHARS + 1);
}

static void print(struct al_str *text)
{
    struct al_pager pager = AL_PAGER_INIT;

    al_pager_start(&pager, false);
    al_cli_print(STDOUT_FILENO, text);
    al_pager_end(&pager);
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
    print(&text);
}

int al_staging_list(struct al_staging_command *command, struct al_error *err)
{
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    int r = 0;

    if (command->staging)
        r = al_staged_list(command->staging, &command->budget, &list, err);
    if (r < 0)
        return r;
    if (command->json) {
        json_t *object = al_json_object(), *array = al_json_array();

        for (size_t i = 0; i < list.count; i++)
            al_json_append(array, al_staged_to_json(command->staging, &list.items[i]));
        al_json_set(object, "staged", array);
        al_staging_print_json(object);
    } else {
        print_list(&list);
    }
    return 0;
}

static void add_files(struct al_str *out, const struct al_staged *staged)
{
    for (size_t i = 0; i < staged->count; i++) {
        const struct al_staged_file *file = &staged->files[i];
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

    al_str_addf(&text, "staged commit %s\ncreated       ", staged->id);
    add_time(&text, staged->created_at);
    if (staged->worker) {
        al_auto(al_freep) char *worker = al_text_sanitize_shown_line(staged->worker);

        al_str_addf(&text, "\nworker        %s", worker);
    }
    for (size_t i = 0; i < staged->heads.count; i++) {
        const struct al_head *head = &staged->heads.items[i];
        al_auto(al_freep) char *target = al_text_sanitize_shown_line(head->target);
        al_auto(al_freep) char *branch = al_text_sanitize_shown_line(head->branch);

        al_str_addf(&text, "\nbased on      %s %s at %.12s", target, branch, head->commit);
    }
    al_str_adds(&text, "\n\n");
    al_text_add_indented(&text, staged->message, true);
    al_str_adds(&text, al_ends_with(text.buf, "\n") ? "\n" : "\n\n");
    add_files(&text, staged);
    print(&text);
}

int al_staging_show(struct al_staging_command *command, struct al_error *err)
{
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    json_t *object;
    int r = al_staging_command_find(command, &staged, err);

    if (r < 0)
        return r;
    if (!command->json) {
        print_staged(&staged);
        return 0;
    }
    object = al_staged_to_json(command->staging, &staged);
    al_json_set(object, "worker", staged.worker ? al_json_string(staged.worker) : json_null());
    al_json_set(object, "basedOn", al_heads_to_json(&staged.heads));
    al_staging_print_json(object);
    return 0;
}

int al_staging_diff(struct al_staging_command *command, struct al_error *err)
{
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    bool truncated = false;
    json_t *object;
    int r = al_staging_command_find(command, &staged, err);

    if (r == 0)
        r = al_staged_diff(command->staging, &staged, DIFF_MAX_BYTES, &command->budget, &text,
                           &truncated, err);
    if (r < 0)
        return r;
    if (!command->json) {
        print(&text);
        return 0;
    }
    object = al_json_object();
    al_json_set(object, "id", al_json_string(staged.id));
    al_json_set(object, "diff", al_json_string(text.buf));
    al_json_set(object, "truncated", al_json_bool(truncated));
    al_staging_print_json(object);
    return 0;
}

int al_staging_open(struct al_staging_command *command, struct al_error *err)
{
    const struct al_config *config = &command->setup.config;
    const char *path = config->staging.path ? config->staging.path : AL_STAGING_PATH_DEFAULT;
    al_auto(al_freep) char *absolute = al_environment_absolute(path);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    json_t *object;

    if (config->staging.backend != AL_STAGING_DIRECTORY)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the sandbox is in memory; with staging.backend = \"directory\" in the "
                            "configuration it is a directory");
    if (command->json) {
        object = al_json_object();
        al_json_set(object, "path", al_json_string(absolute));
        al_staging_print_json(object);
        return 0;
    }
    al_str_addf(&text, "%s\n", absolute);
    al_cli_print(STDOUT_FILENO, &text);
    return 0;
}
