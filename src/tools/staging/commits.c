// SPDX-License-Identifier: Apache-2.0
/* The toolset `staging`: git_status, git_stage, git_diff and git_discard, of the sandbox's changes
 * and the staged commits. */
#include "tools/private.h"

#include "staging/stage.h"

struct commit_args {
    struct al_strv files;
    const char *message, *id;
};

/* clang-format off */
/* A StagedCommit, for `output_schema`. */
#define STAGED_COMMIT AL_JSON({                                                          \
    "id": "", "message": "",                                                                       \
    "files": [{"sandboxPath": "", "operation": "create|update|delete", "contentHash": "",          \
               "size": 1}],                                                                        \
    "createdAt": ""                                                                                \
})
/* clang-format on */

#define MESSAGE_MAX_BYTES 65536
#define ID_MAX_BYTES      256

/* The part that the tools have. */
#define COMMIT_TOOL                                                                                \
    .args_size = sizeof(struct commit_args), .open_repository = al_call_without_repository

/* --- git_status --- */

/* About the bytes of an entry in the structured result, without its path. */
#define ENTRY_BYTES 48u
#define FILE_BYTES  160u

/* Files with conflict markers that are named. */
#define MARKED_MAX 20

/* --- As text --- */

static void add_group(struct al_str *out, const struct al_sandbox_files *changes,
                      enum al_sandbox_operation operation, const char *title, size_t max_bytes)
{
    bool has_title = false;

    for (size_t i = 0; i < changes->count && out->len <= max_bytes; i++) {
        const struct al_sandbox_file *change = &changes->items[i];

        if (change->operation != operation)
            continue;
        if (!has_title)
            al_str_addf(out, "\n  %s:", title);
        has_title = true;
        al_str_adds(out, "\n    /workspace/");
        al_text_add_shown_line(change->path, out);
        if (!change->mode)
            continue;
        al_str_adds(out, " (");
        al_size_add(out, change->size);
        al_str_addc(out, ')');
    }
}

static void add_staged(struct al_str *out, const struct al_staged *staged, size_t max_bytes)
{
    al_auto(al_freep) char *line = al_strndup(staged->message, strcspn(staged->message, "\n"));
    al_auto(al_freep) char *message = al_text_join_shown_lines(line);

    al_str_addf(out, "\n  [%.*s] \"%s\" (%zu file%s)", AL_STAGED_SHORT_ID, staged->id, message,
                staged->count, staged->count == 1 ? "" : "s");
    for (size_t i = 0; i < staged->count && out->len <= max_bytes; i++) {
        al_str_addf(out, "\n    %c /workspace/", al_staged_mark(staged->files[i].operation));
        al_text_add_shown_line(staged->files[i].path, out);
    }
}

static void add_text(struct al_str *out, const struct al_sandbox_files *changes,
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

/* The GitStatus, as far as it fits. */
static json_t *to_json(const struct al_staging *staging, const struct al_sandbox_files *changes,
                       const struct al_staged_list *list, size_t max_bytes, bool *truncated)
{
    json_t *staged = al_json_array(), *unstaged = al_json_array();
    size_t left = max_bytes;

    for (size_t i = 0; i < list->count; i++) {
        const struct al_staged *commit = &list->items[i];
        size_t bytes = strlen(commit->message) + FILE_BYTES;

        for (size_t k = 0; k < commit->count; k++)
            bytes += strlen(commit->files[k].path) + FILE_BYTES;
        if (al_workflow_fits(&left, bytes))
            al_json_append(staged, al_staged_to_json(staging, commit));
        else
            *truncated = true;
    }
    for (size_t i = 0; i < changes->count; i++) {
        const struct al_sandbox_file *change = &changes->items[i];
        al_auto(al_freep) char *path = al_asprintf("/workspace/%s", change->path);

        if (!al_workflow_fits(&left, strlen(path) + ENTRY_BYTES)) {
            *truncated = true;
            break;
        }
        al_json_append(unstaged, json_pack("{s:o, s:s}", "path", al_json_string(path), "status",
                                           al_change_status(change)));
    }
    return json_pack("{s:o, s:o}", "staged", staged, "unstaged", unstaged);
}

/* The conflicts that have to be resolved before staging. */
static int note_markers(struct al_staging *staging, const struct al_comparison *found,
                        struct al_result *result, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv shown = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    int r = al_markers_find(staging, found, &paths, NULL, err);

    if (r < 0 || !paths.count)
        return r;
    for (size_t i = 0; i < paths.count && i <= MARKED_MAX; i++)
        al_strv_addf(&shown, "/workspace/%s", paths.items[i]);
    al_str_adds(&line, "Conflict markers of git_pull have to be resolved in: ");
    al_text_add_list(&line, &shown, MARKED_MAX);
    al_result_note(result, line.buf);
    return 0;
}

static int show_status(struct al_call *call, struct al_result *result, struct al_error *err)
{
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_comparison_clear) struct al_comparison found = { .files = AL_SANDBOX_FILES_INIT };
    size_t max_bytes = al_call_max_bytes(call);
    int r = al_comparison_make(staging, al_call_budget(call), &found, err);

    if (r == 0)
        r = note_markers(staging, &found, result, err);
    if (r < 0)
        return r;
    add_text(&result->text, &found.changes, &found.staged, max_bytes);
    result->truncated = al_text_truncate(&result->text, max_bytes);
    result->structured =
        to_json(staging, &found.changes, &found.staged, max_bytes, &result->truncated);
    return 0;
}

/* clang-format off */
static const char status_schema[] = AL_JSON({"staged": [) STAGED_COMMIT AL_JSON(],
    "unstaged": [{"path": "", "status": "new|modified|deleted"}]
});
/* clang-format on */

const struct al_tool al_tool_staging_status = {
    .name = "git_status",
    .title = "Show sandbox status",
    .about = "Show which sandbox files changed, and the staged commits.",
    COMMIT_TOOL,
    .operations =
        &(const struct al_operation){ "status", NULL, AL_READS, show_status, AL_ASKS_NEVER },
    .noperations = 1,
    .summary = "Show the status of the sandbox",
    .output_schema = status_schema,
};

/* --- git_stage --- */

static const struct al_param stage_params[] = {
    AL_STRINGS(struct commit_args, files, "Files, directories or patterns below /workspace/.",
               .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .min = 1, .max = AL_STAGING_PATHS_MAX,
               .max_bytes = AL_STAGING_PATH_MAX_BYTES),
    AL_STRING(struct commit_args, message, "The commit message.", .flags = AL_PARAM_REQUIRED,
              .min_bytes = 1, .max_bytes = MESSAGE_MAX_BYTES,
              .bad_message = "message must not be empty"),
};

static int stage(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct commit_args *args = al_call_args(call);
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    int r = al_stage(staging, &args->files, args->message, al_call_budget(call), &staged, err);

    if (r < 0)
        return r;
    al_result_set_structured(result, al_staged_to_json(staging, &staged));
    return 0;
}

const struct al_tool al_tool_staging_stage = {
    .name = "git_stage",
    .title = "Stage changes",
    .about = "Make a staged commit of changed sandbox files. It leaves the sandbox with git_push.",
    AL_TOOL_ONE(stage_params, "stage", NULL, AL_WRITES_FILES, stage, AL_ASKS_NEVER),
    COMMIT_TOOL,
    .summary = "Stage {files:2}",
    .output_schema = STAGED_COMMIT,
};

/* --- git_diff --- */

static const struct al_param diff_params[] = {
    AL_STRING_AS(struct commit_args, id, "commitId",
                 "Id or its first 6 or more characters; without it, all staged commits.",
                 .flags = AL_PARAM_NAME, .max_bytes = ID_MAX_BYTES),
};

static int show_all(struct al_call *call, struct al_result *result, struct al_error *err)
{
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    size_t max_bytes = al_call_max_bytes(call);
    int r = al_staged_list(staging, al_call_budget(call), &list, err);

    if (r == 0 && !list.count)
        al_str_adds(&result->text, "No staged commits");
    for (size_t i = 0; i < list.count && r == 0 && !result->truncated; i++) {
        if (i)
            al_str_addc(&result->text, '\n');
        r = al_staged_diff(staging, &list.items[i],
                           max_bytes > result->text.len ? max_bytes - result->text.len : 0,
                           al_call_budget(call), &result->text, &result->truncated, err);
    }
    return r;
}

static int show_diff(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct commit_args *args = al_call_args(call);
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    int r = args->id ? al_staged_find(staging, args->id, al_call_budget(call), &staged, err)
                     : show_all(call, result, err);

    if (r == 0 && args->id)
        r = al_staged_diff(staging, &staged, al_call_max_bytes(call), al_call_budget(call),
                           &result->text, &result->truncated, err);
    result->truncated |= al_text_truncate(&result->text, al_call_max_bytes(call));
    return r;
}

const struct al_tool al_tool_staging_diff = {
    .name = "git_diff",
    .title = "Show staged changes",
    .about = "Show the unified diff of a staged commit, or of all of them.",
    AL_TOOL_ONE(diff_params, "diff", NULL, AL_READS, show_diff, AL_ASKS_NEVER),
    COMMIT_TOOL,
    .summary = "Show [commitId?staged commit {commitId}][!commitId?what is staged]",
};

/* --- git_discard --- */

static const struct al_param discard_params[] = {
    AL_STRING_AS(struct commit_args, id, "commitId", "Id or its first 6 or more characters.",
                 .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .max_bytes = ID_MAX_BYTES),
};

static int discard(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct commit_args *args = al_call_args(call);
    struct al_staging *staging = al_call_session(call)->staging;
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    al_auto(al_freep) char *title = NULL;
    int r = al_staged_find(staging, args->id, al_call_budget(call), &staged, err);

    if (r == 0)
        r = al_staged_discard(staging, &staged, al_call_budget(call), err);
    if (r < 0)
        return r;
    title = al_staged_title(&staged);
    al_str_addf(&result->text,
                "Discarded staged commit %s; the files in the sandbox stay as they "
                "are",
                title);
    return 0;
}

const struct al_tool al_tool_staging_discard = {
    .name = "git_discard",
    .title = "Discard staged commit",
    .about = "Forget a staged commit. The files in the sandbox stay as they are.",
    AL_TOOL_ONE(discard_params, "discard", NULL, AL_WRITES_FILES | AL_DISCARDS_WORK, discard,
                AL_ASKS_NEVER),
    COMMIT_TOOL,
    .summary = "Discard staged commit {commitId}",
};
