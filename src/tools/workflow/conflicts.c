// SPDX-License-Identifier: Apache-2.0
/* git_conflict_info: the files in conflict, both sides of each, and their conflicted hunks; and
 * git_resolve_conflict: resolve one file with ours, theirs, or given content. */
#include "base/utf8.h"
#include "tools/private.h"
#include "verbs/sequencer/conflict_hunks.h"
#include "verbs/sequencer/resolve.h"

struct conflict_info_args {
    const char *working_dir;
};

static const struct al_param info_params[] = {
    AL_WORKFLOW_CWD_ROW(struct conflict_info_args),
};

/* The stages of so many files are held at once. */
#define FILES_AT_ONCE 16

/* The files while they are shown: the hunks of all come before the sides. */
struct showing {
    json_t *files;
    size_t left; /* bytes that may be added */
    bool truncated;
};

static bool is_text(const struct al_str *data)
{
    return !memchr(data->buf, '\0', data->len) && al_utf8_valid(data->buf, data->len);
}

static void add_names(const struct al_conflicts *conflicts, struct showing *to)
{
    to->truncated = conflicts->more;
    for (size_t i = 0; i < conflicts->count; i++) {
        json_t *object;

        if (!al_workflow_fits(&to->left, strlen(conflicts->items[i].path))) {
            to->truncated = true;
            return;
        }
        object = al_json_object();
        al_json_set(object, "path", al_json_string(conflicts->items[i].path));
        al_json_append(to->files, object);
    }
}

static void add_markers(const struct al_conflict_file *file, json_t *object, struct showing *to)
{
    al_auto(al_str_clear) struct al_str hunks = AL_STR_INIT;

    for (size_t i = 0; is_text(&file->disk) && i < file->blocks.count; i++) {
        const struct al_conflict_block *block = &file->blocks.items[i];
        size_t len = block->end - block->start;

        while (len && strchr("\r\n", file->disk.buf[block->start + len - 1]))
            len--;
        if (!al_workflow_fits(&to->left, (i > 0) + len)) {
            to->truncated = true;
            break;
        }
        al_str_adds(&hunks, i ? "\n" : "");
        al_str_add(&hunks, file->disk.buf + block->start, len);
    }
    al_json_set(object, "markers", al_json_stringn(hunks.buf, hunks.len));
}

/* Both sides that exist, or neither. */
static void add_sides(const struct al_conflict_file *file, json_t *object, struct showing *to)
{
    const struct al_blob *ours = &file->stages[AL_STAGE_OURS],
                         *theirs = &file->stages[AL_STAGE_THEIRS];

    if (ours->exists > ours->kept || theirs->exists > theirs->kept ||
        ours->size + theirs->size > to->left) {
        to->truncated = true;
        return;
    }
    if (!is_text(&ours->data) || !is_text(&theirs->data))
        return;
    to->left -= ours->size + theirs->size;
    if (ours->exists)
        al_json_set(object, "oursContent", al_json_stringn(ours->data.buf, ours->data.len));
    if (theirs->exists)
        al_json_set(object, "theirsContent", al_json_stringn(theirs->data.buf, theirs->data.len));
}

static int add_files(struct al_call *call, const struct al_conflicts *conflicts,
                     void (*add)(const struct al_conflict_file *, json_t *, struct showing *),
                     struct showing *to, struct al_error *err)
{
    const size_t count = json_array_size(to->files);
    int r = 0;

    for (size_t i = 0, n; r == 0 && i < count; i += n) {
        struct al_conflict_file files[FILES_AT_ONCE];

        n = count - i < FILES_AT_ONCE ? count - i : FILES_AT_ONCE;
        r = al_git_conflict_files(al_call_repo(call), &conflicts->items[i], n, files, err);
        for (size_t k = 0; k < n; k++) {
            if (r == 0)
                add(&files[k], json_array_get(to->files, i + k), to);
            al_conflict_file_clear(&files[k]);
        }
    }
    return r;
}

static int show(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    al_auto(al_json_decrefp) json_t *files = al_json_array();
    struct showing showing = { .files = files, .left = al_call_max_bytes(call) };
    int r = al_git_conflicts(al_call_repo(call), &conflicts, err);

    add_names(&conflicts, &showing);
    if (r == 0)
        r = add_files(call, &conflicts, add_markers, &showing, err);
    if (r == 0)
        r = add_files(call, &conflicts, add_sides, &showing, err);
    if (r < 0)
        return r;
    al_result_set(result, "hasConflicts", al_json_bool(conflicts.count > 0));
    al_result_set(result, "files", al_take(&files));
    result->truncated = showing.truncated;
    return 0;
}

/* clang-format off */
static const char info_schema[] = AL_JSON({
    "hasConflicts": true,
    "files": [{"path": "", "oursContent?": "", "theirsContent?": "", "markers": ""}]
});
/* clang-format on */

const struct al_tool al_tool_workflow_conflict_info = {
    .name = "git_conflict_info",
    .title = "Conflicts",
    .about = "Show files in conflict; one side absent: deleted there, both: no text or too large.",
    AL_TOOL_ONE(info_params, "conflict_info", NULL, AL_READS, show, AL_ASKS_NEVER),
    AL_WORKFLOW_TOOL(struct conflict_info_args),
    .summary = "Show conflicts",
    .output_schema = info_schema,
};

#define CONTENT_MAX_BYTES (4u << 20)

struct resolve_args {
    const char *path, *content;
    int strategy; /* enum al_resolution */
    const char *working_dir;
};

static const struct al_choice strategies[] = {
    { "ours", AL_RESOLVE_OURS },
    { "theirs", AL_RESOLVE_THEIRS },
    { "content", AL_RESOLVE_CONTENT },
    { NULL, 0 },
};

static const struct al_param resolve_params[] = {
    AL_STRING(struct resolve_args, path, NULL, .flags = AL_PARAM_REQUIRED | AL_PARAM_PATH,
              .min_bytes = 1),
    AL_CHOICE(struct resolve_args, strategy, "What to keep.", .choices = strategies,
              .flags = AL_PARAM_REQUIRED),
    AL_STRING(struct resolve_args, content, "The whole new file.", .max_bytes = CONTENT_MAX_BYTES),
    AL_WORKFLOW_CWD_ROW(struct resolve_args),
};

static int check(void *p, struct al_error *err)
{
    const struct resolve_args *args = p;

    if (args->strategy == AL_RESOLVE_CONTENT && !args->content)
        return al_error_set(err, AL_ERR_BAD_ARGS, "content is required with strategy content");
    if (args->strategy != AL_RESOLVE_CONTENT && args->content)
        return al_error_set(err, AL_ERR_BAD_ARGS, "content goes with strategy content only");
    return 0;
}

static struct al_resolve_options options_of(const struct resolve_args *args)
{
    return (struct al_resolve_options){
        .path = args->path,
        .how = (enum al_resolution)args->strategy,
        .content = args->content,
    };
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct al_resolve_options options = options_of(al_call_args(call));

    return al_git_resolve_check(al_call_repo(call), &options, 1, err);
}

static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct al_resolve_options options = options_of(al_call_args(call));

    (void)err;
    al_git_resolve_affected_files(al_call_repo(call), &options, out);
    return 0;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_resolve_options options = options_of(al_call_args(call));

    return al_git_resolve_preview(al_call_repo(call), &options, 1, out, err);
}

static int resolve(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct resolve_args *args = al_call_args(call);
    const struct al_resolve_options options = options_of(args);
    int r = al_git_resolve(al_call_repo(call), &options, 1, err);

    if (r < 0)
        return r;
    al_result_set(result, "resolved", al_json_bool(true));
    al_result_set(result, "path", al_json_string(args->path));
    al_result_set(result, "strategy", al_json_string(strategies[args->strategy].name));
    return 0;
}

/* clang-format off */
static const char resolve_schema[] = AL_JSON({
    "resolved": true, "path": "", "strategy": "ours|theirs|content"
});
/* clang-format on */

const struct al_tool al_tool_workflow_resolve_conflict = {
    .name = "git_resolve_conflict",
    .title = "Resolve",
    .about = "Resolve a file in conflict; git_commit concludes when none is left.",
    AL_TOOL_ONE(resolve_params, "resolve_conflict", NULL,
                AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_DISCARDS_WORK, resolve, AL_ASKS_ALWAYS),
    AL_WORKFLOW_TOOL(struct resolve_args),
    .check = check,
    .authorize = authorize,
    .affected_files = affected_files,
    .preview = preview,
    .summary = "Resolve the conflict in {path} with [strategy=ours?our side]"
               "[strategy=theirs?their side][strategy=content?new content]",
    .output_schema = resolve_schema,
};
