// SPDX-License-Identifier: Apache-2.0
/* git_status: what changed in the sandbox, and what is staged. */
#include "guard/text.h"
#include "staging/stage.h"
#include "staging/staged.h"
#include "staging/staging.h"
#include "tool/call.h"
#include "toolsets/staging/staging.h"

/* git_status takes no arguments. */
struct status_args {
    char none;
};

/* About the bytes of an entry in the structured result, without its path. */
#define ENTRY_BYTES 48u
#define FILE_BYTES  160u

/* Files with conflict markers that are named. */
#define MARKED_MAX 20

/* --- As text --- */

static void add_change(struct al_str *out, const struct al_staged_file *change)
{
    al_auto(al_freep) char *path = al_text_sanitize_shown_line(change->path);

    al_str_addf(out, "\n    /workspace/%s", path);
    if (!change->mode)
        return;
    al_str_adds(out, " (");
    al_size_add(out, change->size);
    al_str_addc(out, ')');
}

static void add_group(struct al_str *out, const struct al_changes *changes,
                      enum al_staged_operation operation, const char *title, size_t max_bytes)
{
    bool has_title = false;

    for (size_t i = 0; i < changes->count && out->len <= max_bytes; i++) {
        if (changes->items[i].operation != operation)
            continue;
        if (!has_title)
            al_str_addf(out, "\n  %s:", title);
        has_title = true;
        add_change(out, &changes->items[i]);
    }
}

static void add_staged(struct al_str *out, const struct al_staged *staged, size_t max_bytes)
{
    al_auto(al_freep) char *line = al_strndup(staged->message, strcspn(staged->message, "\n"));
    al_auto(al_freep) char *message = al_text_join_shown_lines(line);

    al_str_addf(out, "\n  [%.*s] \"%s\" (%zu file%s)", AL_STAGED_SHORT_ID, staged->id, message,
                staged->count, staged->count == 1 ? "" : "s");
    for (size_t i = 0; i < staged->count && out->len <= max_bytes; i++) {
        al_auto(al_freep) char *path = al_text_sanitize_shown_line(staged->files[i].path);

        al_str_addf(out, "\n    %c /workspace/%s", al_staged_mark(staged->files[i].operation),
                    path);
    }
}

static void add_text(struct al_str *out, const struct al_changes *changes,
                     const struct al_staged_list *list, size_t max_bytes)
{
    al_str_adds(out, "Sandbox Status:");
    if (!changes->count)
        al_str_adds(out, "\n  No changes");
    add_group(out, changes, AL_STAGED_UPDATE, "Modified", max_bytes);
    add_group(out, changes, AL_STAGED_CREATE, "New", max_bytes);
    add_group(out, changes, AL_STAGED_DELETE, "Deleted", max_bytes);
    if (list->count)
        al_str_adds(out, "\n\nStaged Commits:");
    for (size_t i = 0; i < list->count && out->len <= max_bytes; i++)
        add_staged(out, &list->items[i], max_bytes);
}

/* --- As an object --- */

/* Whether there is room for so many bytes more. */
static bool fits(size_t *left, size_t bytes, bool *truncated)
{
    if (*left < bytes) {
        *truncated = true;
        return false;
    }
    *left -= bytes;
    return true;
}

static size_t bytes_of(const struct al_staged *staged)
{
    size_t bytes = strlen(staged->message) + FILE_BYTES;

    for (size_t i = 0; i < staged->count; i++)
        bytes += strlen(staged->files[i].path) + FILE_BYTES;
    return bytes;
}

/* The GitStatus, as far as it fits. */
static json_t *to_json(const struct al_staging *staging, const struct al_changes *changes,
                       const struct al_staged_list *list, size_t max_bytes, bool *truncated)
{
    json_t *object = al_json_object(), *staged = al_json_array(), *unstaged = al_json_array();
    size_t left = max_bytes;

    for (size_t i = 0; i < list->count; i++)
        if (fits(&left, bytes_of(&list->items[i]), truncated))
            al_json_append(staged, al_staged_to_json(staging, &list->items[i]));
    for (size_t i = 0; i < changes->count; i++) {
        const struct al_staged_file *change = &changes->items[i];
        al_auto(al_freep) char *path = al_asprintf("/workspace/%s", change->path);
        json_t *entry;

        if (!fits(&left, strlen(path) + ENTRY_BYTES, truncated))
            break;
        entry = al_json_object();
        al_json_set(entry, "path", al_json_string(path));
        al_json_set(entry, "status", al_json_string(al_change_status(change)));
        al_json_append(unstaged, entry);
    }
    al_json_set(object, "staged", staged);
    al_json_set(object, "unstaged", unstaged);
    return object;
}

/* What has to be resolved before it can be staged. */
static int note_markers(struct al_staging *staging, const struct al_changes *changes,
                        struct al_result *result, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv shown = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    int r = al_markers_find(staging, changes, &paths, err);

    if (r < 0 || !paths.count)
        return r;
    for (size_t i = 0; i < paths.count && i <= MARKED_MAX; i++)
        al_strv_addf(&shown, "/workspace/%s", paths.items[i]);
    al_str_adds(&line, "Conflict markers of git_pull have to be resolved in: ");
    al_text_add_list(&line, &shown, MARKED_MAX);
    al_result_note(result, line.buf);
    return 0;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_comparison_clear) struct al_comparison found = { .files = AL_SANDBOX_FILES_INIT };
    size_t max_bytes = al_call_max_bytes(call);
    int r = al_comparison_make(staging, al_call_budget(call), &found, err);

    (void)p;
    if (r == 0)
        r = note_markers(staging, &found.changes, result, err);
    if (r < 0)
        return r;
    add_text(&result->text, &found.changes, &found.staged, max_bytes);
    result->truncated = al_text_truncate(&result->text, max_bytes);
    result->structured =
        to_json(staging, &found.changes, &found.staged, max_bytes, &result->truncated);
    result->exit_code = 0;
    return 0;
}

static const struct al_operation operations[] = {
    { "status", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    (void)p;
    al_str_adds(out, "Show the status of the sandbox");
}

static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "staged": {"type": "array", "items": ) AL_STAGED_COMMIT_SCHEMA AL_JSON(},
        "unstaged": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "status": {"type": "string", "enum": ["new", "modified", "deleted"]}
            },
            "required": ["path", "status"]
        }}
    },
    "required": ["staged", "unstaged"]
});

const struct al_tool al_tool_staging_status = {
    .name = "git_status",
    .title = "Show sandbox status",
    .about = "Show which sandbox files changed, and the staged commits.",
    .args_size = sizeof(struct status_args),
    .open_repository = al_call_without_repository,
    .operations = operations,
    .noperations = AL_COUNT(operations),
    .summarize = summarize,
    .output_schema = output_schema,
};
