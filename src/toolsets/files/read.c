// SPDX-License-Identifier: Apache-2.0
/* read_file: the content of a file of the sandbox, byte for byte. */
#include <inttypes.h>

#include "sandbox/sandbox.h"
#include "tool/call.h"
#include "toolsets/files/files.h"
#include "util/base64.h"
#include "util/utf8.h"

#define LIMIT_MAX_BYTES 5000000

struct read_args {
    const char *path;
    struct al_opt_int offset, limit;
};

static const struct al_param params[] = {
    AL_FILES_PATH_ROW(struct read_args),
    AL_INT(struct read_args, offset, "First byte.", .max = INT64_C(1) << 53),
    AL_INT(struct read_args, limit, "Most bytes to read.", .min = 1, .max = LIMIT_MAX_BYTES),
};

/** The part that was read. */
struct content {
    struct al_str bytes;
    uint64_t offset, size; /* of the file */
    bool base64;
};

/* Keep at most `want` bytes, and what fits into the cap: text that is UTF-8 as it is and in whole
 * characters, other bytes as base64.  One byte more was read, to see whether a character ends. */
static void fit(struct content *content, size_t want, size_t max_bytes)
{
    const struct al_str *bytes = &content->bytes;
    size_t len = bytes->len > want ? al_utf8_floor(bytes->buf, want) : bytes->len;

    content->base64 = (!len && bytes->len) || !al_utf8_valid(bytes->buf, len);
    if (content->base64)
        len = want < max_bytes / 4 * 3 ? want : max_bytes / 4 * 3;
    al_str_truncate(&content->bytes, len);
}

static json_t *object_of(const struct read_args *args, const struct content *content,
                         const struct al_str *text)
{
    uint64_t next = content->offset + content->bytes.len;
    json_t *object = al_json_object();

    al_json_set(object, "path", al_json_string(args->path));
    al_json_set(object, "content", al_json_stringn(text->buf, text->len));
    if (content->base64)
        al_json_set(object, "encoding", al_json_string("base64"));
    al_json_set(object, "size", al_json_int((int64_t)content->size));
    al_json_set(object, "offset", al_json_int((int64_t)content->offset));
    al_json_set(object, "truncated", al_json_bool(next < content->size));
    if (next < content->size)
        al_json_set(object, "nextOffset", al_json_int((int64_t)next));
    return object;
}

/* For clients that show the text alone. */
static void add_notes(const struct content *content, struct al_result *result)
{
    uint64_t next = content->offset + content->bytes.len;
    al_auto(al_freep) char *part = NULL;

    if (content->base64)
        al_result_note(result, "the content is base64");
    if (content->offset > content->size) {
        part = al_asprintf("offset %" PRIu64 " is past the end: the file has %" PRIu64 " byte%s",
                           content->offset, content->size, content->size == 1 ? "" : "s");
        al_result_note(result, part);
    }
    if (!content->bytes.len || next >= content->size)
        return;
    part =
        al_asprintf("bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64 "; go on with offset %" PRIu64,
                    content->offset, next - 1, content->size, next);
    al_result_note(result, part);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct read_args *args = p;

    return al_files_authorize(call, args->path, err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct read_args *args = p;
    const char *path = al_call_tool_data(call);
    size_t max_bytes = al_call_max_bytes(call);
    bool less = args->limit.given && (size_t)args->limit.value < max_bytes;
    size_t want = less ? (size_t)args->limit.value : max_bytes;
    struct content content = { .bytes = AL_STR_INIT, .offset = (uint64_t)args->offset.value };
    int r = al_sandbox_read(al_call_session(call)->sandbox, path, content.offset, want + 1,
                            &content.bytes, &content.size, err);

    if (r == 0) {
        fit(&content, want, max_bytes);
        if (content.base64)
            al_base64_encode(content.bytes.buf, content.bytes.len, &result->text);
        else
            al_str_add(&result->text, content.bytes.buf, content.bytes.len);
        result->structured = object_of(args, &content, &result->text);
        result->truncated = content.offset + content.bytes.len < content.size;
        result->exit_code = 0;
        add_notes(&content, result);
    }
    al_str_clear(&content.bytes);
    return r;
}

static const struct al_operation operations[] = {
    { "read", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    const struct read_args *args = p;

    al_str_addf(out, "Read %s", args->path);
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "content": {"type": "string"},
        "encoding": {"type": "string", "enum": ["base64"]},
        "size": {"type": "integer"},
        "offset": {"type": "integer"},
        "truncated": {"type": "boolean"},
        "nextOffset": {"type": "integer"}
    },
    "required": ["path", "content", "size", "offset", "truncated"]
});
/* clang-format on */

const struct al_tool al_tool_files_read = {
    .name = "read_file",
    .title = "Read file",
    .about =
        "Read a file of the sandbox. Content that is not UTF-8 comes as base64, with encoding.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct read_args),
    .open_repository = al_call_without_repository,
    .authorize = authorize,
    .summarize = summarize,
    .output_schema = output_schema,
};
