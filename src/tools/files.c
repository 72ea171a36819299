// SPDX-License-Identifier: Apache-2.0
/* The toolset `files`: read, write, list and delete the files of the sandbox, which the session
 * holds.  None of its tools needs a repository. */
#include "tools/toolsets.h"

#include <inttypes.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "call/answer.h"
#include "call/call.h"
#include "guard/glob.h"
#include "guard/text.h"
#include "staging/sandbox/sandbox.h"

/* Enforced but not printed in schemas. */
#define PATH_MAX_BYTES 4096

struct file_args {
    const char *path, *pattern, *content;
    struct al_opt_int offset, limit;
    int encoding; /* enum al_encoding */
};

#define FILE_ROW                                                                                   \
    AL_STRING(struct file_args, path, "Such as /workspace/notes.md.",                              \
              .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .min_bytes = 1,                          \
              .max_bytes = PATH_MAX_BYTES)

/* The part that the tools have. */
#define FILES_TOOL                                                                                 \
    .args_size = sizeof(struct file_args), .open_repository = al_call_without_repository

/* The path in the sandbox is the call's tool data. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct file_args *args = al_call_args(call);
    const char *given = args->path;
    al_auto(al_freep) char *path = NULL;
    int r = al_sandbox_path(given, &path, err);

    if (r == 0 && al_call_tool(call) != &al_tool_files_list && al_ends_with(given, "/")) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(given);

        return al_error_set(err, AL_ERR_BAD_ARGS, "'%s' names a directory; name a file", safe);
    }
    if (r == 0)
        al_call_set_tool_data(call, al_take(&path), free);
    return r;
}

/* --- read_file --- */

#define LIMIT_MAX_BYTES 5000000

static const struct al_param read_params[] = {
    FILE_ROW,
    AL_INT(struct file_args, offset, "First byte.", .max = INT64_C(1) << 53),
    AL_INT(struct file_args, limit, "Most bytes to read.", .min = 1, .max = LIMIT_MAX_BYTES),
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

/* The notes for clients that show the text alone. */
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

static int read_file(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct file_args *args = al_call_args(call);
    const char *path = al_call_tool_data(call);
    size_t max_bytes = al_call_max_bytes(call);
    bool less = args->limit.given && (size_t)args->limit.value < max_bytes;
    size_t want = less ? (size_t)args->limit.value : max_bytes;
    struct content content = { .bytes = AL_STR_INIT, .offset = (uint64_t)args->offset.value };
    struct al_str *text = &result->text;
    uint64_t next;
    int r = al_sandbox_read(al_call_session(call)->sandbox, path, content.offset, want + 1,
                            &content.bytes, &content.size, err);

    if (r == 0) {
        fit(&content, want, max_bytes);
        if (content.base64)
            al_base64_encode(content.bytes.buf, content.bytes.len, text);
        else
            al_str_add(text, content.bytes.buf, content.bytes.len);
        next = content.offset + content.bytes.len;
        result->truncated = next < content.size;
        result->structured = json_pack(
            "{s:o, s:o, s:s*, s:I, s:I, s:b, s:o*}", "path", al_json_string(args->path), "content",
            al_json_stringn(text->buf, text->len), "encoding", content.base64 ? "base64" : NULL,
            "size", (json_int_t)content.size, "offset", (json_int_t)content.offset, "truncated",
            result->truncated, "nextOffset", result->truncated ? al_json_int((int64_t)next) : NULL);
        add_notes(&content, result);
    }
    al_str_clear(&content.bytes);
    return r;
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "path": "", "content": "", "encoding?": "base64", "size": 1, "offset": 1,
    "truncated": true, "nextOffset?": 1
});
/* clang-format on */

const struct al_tool al_tool_files_read = {
    .name = "read_file",
    .title = "Read file",
    .about =
        "Read a file of the sandbox. Content that is not UTF-8 comes as base64, with encoding.",
    AL_TOOL_ONE(read_params, "read", NULL, AL_READS, read_file, AL_ASKS_NEVER),
    FILES_TOOL,
    .authorize = authorize,
    .summary = "Read {path}",
    .output_schema = output_schema,
};

/* --- write_file --- */

/* The most that one message of a client can hold. */
#define CONTENT_MAX_BYTES (10u << 20)

const struct al_choice al_encodings[] = {
    { "utf-8", AL_UTF_8 },
    { "base64", AL_BASE64 },
    { NULL, 0 },
};

static const struct al_param write_params[] = {
    FILE_ROW,
    AL_STRING(struct file_args, content, "The whole new file.", .flags = AL_PARAM_REQUIRED,
              .max_bytes = CONTENT_MAX_BYTES),
    AL_CHOICE(struct file_args, encoding, "Of content; base64 for binary files.",
              .choices = al_encodings),
};

int al_content_decode(const char *param, const char *given, int encoding, struct al_str *ret_bytes,
                      struct al_error *err)
{
    const size_t len = strlen(given);

    if (encoding == AL_UTF_8)
        al_str_add(ret_bytes, given, len);
    if (encoding == AL_UTF_8 || al_base64_decode(given, len, ret_bytes))
        return 0;
    for (int padding = 1; padding <= 2; padding++) {
        al_auto(al_freep) char *padded = al_asprintf("%s%.*s", given, padding, "==");
        al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;

        if (al_base64_decode(padded, len + (size_t)padding, &bytes))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "%s is base64 without its padding; end it with '%.*s'", param,
                                padding, "==");
    }
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s is not base64; leave encoding out for text",
                        param);
}

static int write_file(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct file_args *args = al_call_args(call);
    const char *path = al_call_tool_data(call);
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    int r = al_content_decode("content", args->content, args->encoding, &bytes, err);

    if (r == 0)
        r = al_sandbox_write(al_call_session(call)->sandbox, path, bytes.buf, bytes.len, err);
    if (r < 0)
        return r;
    al_place_addf(&result->text, "Wrote %zu byte%s to %s", bytes.len, bytes.len == 1 ? "" : "s",
                  args->path);
    return 0;
}

const struct al_tool al_tool_files_write = {
    .name = "write_file",
    .title = "Write file",
    .about = "Create or replace a file of the sandbox.",
    AL_TOOL_ONE(write_params, "write", NULL, AL_WRITES_FILES, write_file, AL_ASKS_NEVER),
    FILES_TOOL,
    .authorize = authorize,
    .summary = "Write {path} in the sandbox",
};

/* --- list_files --- */

/* Room for the line that counts the files left out. */
#define MORE_MAX_BYTES 96u

static const struct al_param list_params[] = {
    AL_STRING(struct file_args, path, "Directory.", .flags = AL_PARAM_NAME | AL_PARAM_HAS_DEFAULT,
              .default_str = AL_SANDBOX_ROOT, .min_bytes = 1, .max_bytes = PATH_MAX_BYTES),
    AL_STRING(struct file_args, pattern,
              "Glob of names (*.md) or of paths below the directory (docs/**/*.md).",
              .flags = AL_PARAM_NAME, .min_bytes = 1, .max_bytes = AL_GLOB_PATTERN_MAX),
};

/* Append as many lines as fit, and the number of the others. */
static bool add_lines(const struct al_strv *paths, size_t max_bytes, struct al_str *out)
{
    size_t room = max_bytes > MORE_MAX_BYTES ? max_bytes - MORE_MAX_BYTES : 0, fits = 0;

    for (size_t i = 0; i < paths->count; i++) {
        al_auto(al_freep) char *shown = al_text_sanitize_line(paths->items[i]);
        size_t more = strlen(AL_SANDBOX_ROOT) + 1 + strlen(shown) + 1;

        /* The last line needs no room behind it. */
        if (out->len + more > (i + 1 < paths->count ? room : max_bytes))
            break;
        al_str_addf(out, "%s/%s\n", AL_SANDBOX_ROOT, shown);
        fits++;
    }
    if (fits == paths->count)
        return false;
    al_str_addf(out, "... %zu more files; name a directory or a pattern", paths->count - fits);
    return true;
}

static int no_directory(struct al_call *call, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *shown = al_text_sanitize_line(given);
    al_auto(al_str_clear) struct al_str none = AL_STR_INIT;

    if (al_sandbox_read(al_call_session(call)->sandbox, al_call_tool_data(call), 0, 0, &none, NULL,
                        NULL) == 0)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is a file; name a directory", shown);
    return al_error_reason(
        al_error_set(err, AL_ERR_EXECUTION,
                     "no such directory: '%s'; list_files without path shows what is there", shown),
        err, "not_found");
}

/* Nothing was listed: is there nothing, or does nothing match? */
static int explain_none(struct al_call *call, const struct file_args *args, struct al_str *out,
                        struct al_error *err)
{
    const char *dir = al_call_tool_data(call);
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    int r = al_sandbox_list(al_call_session(call)->sandbox, dir, NULL, &all, err);

    if (r < 0)
        return r;
    al_place_addf(out, "no files in %s", args->path);
    if (all.count && args->pattern)
        al_place_addf(out, " match '%s'%s", args->pattern, al_sandbox_pattern_hint(args->pattern));
    return 0;
}

static int list_files(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct file_args *args = al_call_args(call);
    const char *dir = al_call_tool_data(call);
    al_auto(al_strv_clear) struct al_strv globs = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r;

    if (args->pattern)
        al_strv_add(&globs, args->pattern);
    r = al_sandbox_list(al_call_session(call)->sandbox, dir, &globs, &paths, err);
    if (r == AL_ERR_NOT_FOUND)
        return no_directory(call, args->path, err);
    if (r == 0 && !paths.count)
        r = explain_none(call, args, &result->text, err);
    if (r < 0)
        return r;
    result->truncated = add_lines(&paths, al_call_max_bytes(call), &result->text);
    result->truncated |= al_text_truncate(&result->text, al_call_max_bytes(call));
    return 0;
}

const struct al_tool al_tool_files_list = {
    .name = "list_files",
    .title = "List files",
    .about = "List the files of the sandbox, also in subdirectories, one path a line.",
    AL_TOOL_ONE(list_params, "list", NULL, AL_READS, list_files, AL_ASKS_NEVER),
    FILES_TOOL,
    .authorize = authorize,
    .summary = "List the files in {path}",
};

/* --- delete_file --- */

static const struct al_param delete_params[] = {
    FILE_ROW,
};

static int delete_file(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct file_args *args = al_call_args(call);
    const char *path = al_call_tool_data(call);
    int r = al_sandbox_remove(al_call_session(call)->sandbox, path, NULL, err);

    if (r < 0)
        return r;
    al_place_addf(&result->text, "Deleted %s", args->path);
    return 0;
}

const struct al_tool al_tool_files_delete = {
    .name = "delete_file",
    .title = "Delete file",
    .about = "Delete a file of the sandbox; directories go when they are empty.",
    AL_TOOL_ONE(delete_params, "delete", NULL, AL_WRITES_FILES, delete_file, AL_ASKS_NEVER),
    FILES_TOOL,
    .authorize = authorize,
    .summary = "Delete {path} from the sandbox",
};
