// SPDX-License-Identifier: Apache-2.0
/* git_diff: a patch, and its hunks one by one. */
#include "gitops/hunks.h"
#include "gitops/queries.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "toolsets/workflow/workflow.h"
#include "util/utf8.h"

struct diff_args {
    bool staged;
    struct al_strv paths;
    const char *ref;
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_BOOL(struct diff_args, staged, "Diff what is staged.", .default_int = 0),
    AL_STRINGS(struct diff_args, paths, "Only these files or directories.", .flags = AL_PARAM_PATH,
               .max = AL_WORKFLOW_PATHS_MAX, .max_bytes = AL_WORKFLOW_PATH_MAX_BYTES),
    AL_STRING(struct diff_args, ref, "Commit to compare with, or a range, e.g. main..feature.",
              .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_WORKFLOW_CWD_ROW(struct diff_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct diff_args *args = p;
    bool is_range = false;
    int r = args->ref ? al_arg_check_range("ref", args->ref, &is_range, err) : 0;

    if (r == 0 && is_range && args->staged)
        r = al_error_set(err, AL_ERR_BAD_ARGS,
                         "staged compares with one commit; ref must not be a range");
    return r;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    return al_workflow_check_paths(call, "paths", &((const struct diff_args *)p)->paths, err);
}

/* Its lines, without their newlines. */
static json_t *lines_of(const struct al_hunk *hunk)
{
    const char *at = hunk->body, *end = hunk->body + hunk->body_len;
    json_t *lines = al_json_array();

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;

        al_json_append(lines, al_json_stringn(at, (size_t)(stop - at)));
        at = newline ? newline + 1 : end;
    }
    return lines;
}

static void add_hunk(void *payload, const struct al_hunk *hunk)
{
    json_t *object = al_json_object();

    al_json_set(object, "file", al_json_string(hunk->file));
    al_json_set(object, "oldStart", al_json_int(hunk->old_start));
    al_json_set(object, "oldLines", al_json_int(hunk->old_lines));
    al_json_set(object, "newStart", al_json_int(hunk->new_start));
    al_json_set(object, "newLines", al_json_int(hunk->new_lines));
    if (hunk->header_len)
        al_json_set(object, "header", al_json_stringn(hunk->header, hunk->header_len));
    al_json_set(object, "lines", lines_of(hunk));
    al_json_append(payload, object);
}

/* A cut may have left the beginning of a character. */
static size_t whole_characters(const char *text, size_t len)
{
    for (size_t back = 1; back < 4 && back <= len; back++) {
        uint32_t c;

        if (al_utf8_next(text + len - back, back, &c) == 0)
            return len - back;
    }
    return len;
}

static json_t *object_of(const struct al_patch *patch)
{
    const char *text = patch->text.data ? patch->text.data : "";
    size_t len = patch->truncated ? whole_characters(text, patch->text.len) : patch->text.len;
    json_t *object = al_json_object();

    al_json_set(object, "diff", al_json_stringn(text, len));
    al_json_set(object, "truncated", al_json_bool(patch->truncated));
    al_json_set(object, "filesChanged", al_json_int((int64_t)patch->files));
    if (!patch->truncated) {
        json_t *hunks = al_json_array();

        (void)al_hunks_read(text, len, add_hunk, hunks);
        al_json_set(object, "hunks", hunks);
    }
    return object;
}

static int show(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    const struct diff_args *args = p;
    const struct al_diff_options options = {
        .cached = args->staged,
        .unified = -1,
        .from_ref = args->ref,
        .paths = &args->paths,
    };
    struct al_patch patch;
    int r = al_git_read_diff(al_call_repo(call), &options, al_call_max_bytes(call),
                             al_call_budget(call), &patch, err);

    if (r < 0) {
        if (args->ref && err->reason && err->code == AL_CODE_NONE)
            err->code = AL_CODE_BRANCH_NOT_FOUND;
        return r;
    }
    result->truncated = patch.truncated;
    al_result_set_structured(result, object_of(&patch));
    al_patch_clear(&patch);
    return 0;
}

static const struct al_operation operations[] = {
    { "show", NULL, AL_READS, show, AL_ASKS_NEVER },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct diff_args *args = p;

    (void)op;
    al_str_addf(out, "Show diff%s%s%s", args->staged ? " of what is staged" : "",
                args->ref ? " against " : "", args->ref ? args->ref : "");
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "diff": {"type": "string"},
        "truncated": {"type": "boolean"},
        "filesChanged": {"type": "integer"},
        "hunks": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "file": {"type": "string"},
                "oldStart": {"type": "integer"},
                "oldLines": {"type": "integer"},
                "newStart": {"type": "integer"},
                "newLines": {"type": "integer"},
                "header": {"type": "string"},
                "lines": {"type": "array", "items": {"type": "string"}}
            },
            "required": ["file", "oldStart", "oldLines", "newStart", "newLines", "lines"]
        }}
    },
    "required": ["diff", "truncated", "filesChanged"]
});
/* clang-format on */

const struct al_tool al_tool_workflow_diff = {
    .name = "git_diff",
    .title = "Show changes",
    .about = "Show unstaged changes, staged ones, or those against a commit or within a range.",
    .params = params,
    .nparams = AL_COUNT(params),
    AL_WORKFLOW_TOOL(struct diff_args),
    .operations = operations,
    .noperations = AL_COUNT(operations),
    .check = check,
    .authorize = authorize,
    .summarize = summarize,
    .output_schema = output_schema,
};
