// SPDX-License-Identifier: Apache-2.0
/* git_diff: a patch, and its hunks one by one. */
#include <inttypes.h>

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

/* Thousands of lines: they are written where they go, and not as values first.  The text is UTF-8.
 */
static void add_lines(struct al_str *out, const struct al_hunk *hunk)
{
    const char *at = hunk->body, *end = hunk->body + hunk->body_len;

    al_str_adds(out, ",\"lines\":[");
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;

        if (at > hunk->body)
            al_str_addc(out, ',');
        al_json_quote(at, (size_t)(stop - at), out);
        at = newline ? newline + 1 : end;
    }
    al_str_adds(out, "]}");
}

static void add_hunk(void *payload, const struct al_hunk *hunk)
{
    struct al_str *out = payload;
    al_auto(al_str_clear) struct al_str file = AL_STR_INIT;

    al_utf8_replace(hunk->file, strlen(hunk->file), &file);
    al_str_adds(out, out->buf[out->len - 1] == '[' ? "{\"file\":" : ",{\"file\":");
    al_json_quote(file.buf, file.len, out);
    al_str_addf(out,
                ",\"oldStart\":%" PRId64 ",\"oldLines\":%" PRId64 ",\"newStart\":%" PRId64
                ",\"newLines\":%" PRId64,
                hunk->old_start, hunk->old_lines, hunk->new_start, hunk->new_lines);
    if (hunk->header_len) {
        al_str_adds(out, ",\"header\":");
        al_json_quote(hunk->header, hunk->header_len, out);
    }
    add_lines(out, hunk);
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

static void add_object(const struct al_patch *patch, struct al_str *out)
{
    const char *bytes = patch->text.data ? patch->text.data : "";
    size_t len = patch->truncated ? whole_characters(bytes, patch->text.len) : patch->text.len;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_utf8_replace(bytes, len, &text);
    al_str_adds(out, "{\"diff\":");
    al_json_quote(text.buf, text.len, out);
    al_str_addf(out, ",\"truncated\":%s,\"filesChanged\":%zu", patch->truncated ? "true" : "false",
                patch->files);
    if (!patch->truncated) {
        al_str_adds(out, ",\"hunks\":[");
        (void)al_hunks_read(text.buf, text.len, add_hunk, out);
        al_str_addc(out, ']');
    }
    al_str_addc(out, '}');
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
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    struct al_patch patch;
    int r = al_git_read_diff(al_call_repo(call), &options, al_call_max_bytes(call),
                             al_call_budget(call), &patch, err);

    if (r < 0) {
        if (args->ref && err->reason && err->code == AL_CODE_NONE)
            err->code = AL_CODE_BRANCH_NOT_FOUND;
        return r;
    }
    result->truncated = patch.truncated;
    add_object(&patch, &json);
    al_result_set_json(result, &json);
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
