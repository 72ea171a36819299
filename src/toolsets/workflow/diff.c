// SPDX-License-Identifier: Apache-2.0
/* git_diff: a patch and the list of its hunks. */
#include <inttypes.h>

#include "gitops/diff/diff.h"
#include "gitops/diff/diff_stream.h"
#include "gitops/diff/hunks.h"
#include "guard/arg.h"
#include "guard/text.h"
#include "tool/call.h"
#include "toolsets/workflow/results.h"
#include "toolsets/workflow/workflow.h"

struct diff_args {
    bool staged;
    struct al_strv paths;
    const char *ref;
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_BOOL(struct diff_args, staged, "Diff what is staged."),
    AL_STRINGS(struct diff_args, paths, "Only these files or directories.", .flags = AL_PARAM_PATH),
    AL_STRING(struct diff_args, ref, "Commit to compare with, or a range, e.g. main..feature.",
              .flags = AL_PARAM_NAME),
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

/* JSON text, and the same text escaped for a JSON string.  Both are written while git still runs,
 * which takes no extra time. */
struct escaped_json {
    struct al_str json, quoted;
    size_t done; /* bytes of `json` that `quoted` already contains */
};

#define ESCAPED_JSON_INIT ((struct escaped_json){ .json = AL_STR_INIT, .quoted = AL_STR_INIT })

static void quote_new(struct escaped_json *text)
{
    al_json_escape(text->json.buf + text->done, text->json.len - text->done, &text->quoted);
    text->done = text->json.len;
}

/* The result: the object so far, and the hunks, which are appended at its end. */
struct diff_result {
    struct escaped_json object, hunks;
};

static void diff_result_clear(struct diff_result *parts)
{
    al_str_clear(&parts->object.json);
    al_str_clear(&parts->object.quoted);
    al_str_clear(&parts->hunks.json);
    al_str_clear(&parts->hunks.quoted);
}

static void begin_hunk(struct al_str *out, const struct al_hunk *hunk)
{
    al_str_adds(out, out->len ? "]},{\"file\":\"" : "{\"file\":\"");
    al_text_escape_name(hunk->file, out);
    al_str_addf(out,
                "\",\"oldStart\":%" PRId64 ",\"oldLines\":%" PRId64 ",\"newStart\":%" PRId64
                ",\"newLines\":%" PRId64,
                hunk->old_start, hunk->old_lines, hunk->new_start, hunk->new_lines);
    if (hunk->header_len) {
        al_str_adds(out, ",\"header\":\"");
        al_text_escape(hunk->header, hunk->header_len, out);
        al_str_addc(out, '"');
    }
    al_str_adds(out, ",\"lines\":[");
}

/* Add a line to the patch and to its hunk.  It is escaped once. */
static void add_line(void *payload, const struct al_patch_line *line)
{
    struct diff_result *parts = payload;
    struct al_str *json = &parts->object.json, *hunks = &parts->hunks.json;
    size_t at = json->len;

    al_text_escape(line->text, line->len, json);
    if (line->head)
        begin_hunk(hunks, line->head);
    if (line->in_hunk) {
        al_str_adds(hunks, hunks->buf[hunks->len - 1] == '[' ? "\"" : ",\"");
        al_str_add(hunks, json->buf + at, json->len - at);
        al_str_addc(hunks, '"');
    }
    if (line->ended)
        al_str_adds(json, "\\n");
    quote_new(&parts->object);
    quote_new(&parts->hunks);
}

static void append(struct escaped_json *to, const struct escaped_json *from)
{
    quote_new(to);
    al_str_add(&to->json, from->json.buf, from->json.len);
    al_str_add(&to->quoted, from->quoted.buf, from->quoted.len);
    to->done = to->json.len;
}

static void end_object(struct diff_result *parts, const struct al_hunks *patch)
{
    struct escaped_json *object = &parts->object, *hunks = &parts->hunks;

    al_str_addf(&object->json, "\",\"truncated\":%s,\"filesChanged\":%zu",
                patch->truncated ? "true" : "false", patch->files);
    if (!patch->truncated) {
        al_str_adds(&object->json, ",\"hunks\":[");
        append(object, hunks);
        al_str_adds(&object->json, hunks->json.len ? "]}]" : "]");
    }
    al_str_addc(&object->json, '}');
    quote_new(object);
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
    al_auto(diff_result_clear) struct diff_result parts = { ESCAPED_JSON_INIT, ESCAPED_JSON_INIT };
    al_auto(al_hunks_clear) struct al_hunks patch = AL_HUNKS_INIT(add_line, &parts);
    int r;

    al_str_adds(&parts.object.json, "{\"diff\":\"");
    r = al_git_read_diff(al_call_repo(call), &options, al_call_max_bytes(call),
                         al_call_budget(call), &patch, err);
    if (r < 0) {
        if (args->ref && err->reason && err->code == AL_CODE_NONE)
            err->code = AL_CODE_BRANCH_NOT_FOUND;
        return r;
    }
    result->truncated = patch.truncated;
    end_object(&parts, &patch);
    al_result_take_json(result, &parts.object.json, &parts.object.quoted);
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
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct diff_args),
    .check = check,
    .authorize = authorize,
    .summarize = summarize,
    .output_schema = output_schema,
};
