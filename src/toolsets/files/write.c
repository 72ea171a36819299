// SPDX-License-Identifier: Apache-2.0
/* write_file: create or replace a file of the sandbox. */
#include "guard/text.h"
#include "sandbox/sandbox.h"
#include "tool/call.h"
#include "toolsets/files/files.h"
#include "util/base64.h"

/* As much as one message of a client can hold. */
#define CONTENT_MAX_BYTES (10u << 20)

enum encoding { UTF_8, BASE64 };

struct write_args {
    const char *path, *content;
    int encoding; /* enum encoding */
};

static const struct al_choice encodings[] = {
    { "utf-8", UTF_8 },
    { "base64", BASE64 },
    { NULL, 0 },
};

static const struct al_param params[] = {
    AL_FILES_PATH_ROW(struct write_args),
    AL_STRING(struct write_args, content, "The whole new file.", .flags = AL_PARAM_REQUIRED,
              .max_bytes = CONTENT_MAX_BYTES),
    AL_CHOICE(struct write_args, encoding, "Of content; base64 for binary files.",
              .choices = encodings),
};

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct write_args *args = p;

    return al_files_authorize(call, args->path, err);
}

/* Why content is no base64: its padding is missing, or it has other characters. */
static int refuse_base64(const char *content, size_t len, struct al_error *err)
{
    for (int padding = 1; padding <= 2; padding++) {
        al_auto(al_freep) char *padded = al_asprintf("%s%.*s", content, padding, "==");
        al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;

        if (al_base64_decode(padded, len + (size_t)padding, &bytes))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "content is base64 without its padding; end it with '%.*s'",
                                padding, "==");
    }
    return al_error_set(err, AL_ERR_BAD_ARGS, "content is not base64; leave encoding out for text");
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct write_args *args = p;
    const char *path = al_call_tool_data(call);
    al_auto(al_freep) char *shown = al_text_sanitize_line(args->path);
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    size_t len = strlen(args->content);
    int r;

    if (args->encoding == UTF_8)
        al_str_add(&bytes, args->content, len);
    else if (!al_base64_decode(args->content, len, &bytes))
        return refuse_base64(args->content, len, err);
    r = al_sandbox_write(al_call_session(call)->sandbox, path, bytes.buf, bytes.len, err);
    if (r < 0)
        return r;
    al_str_addf(&result->text, "Wrote %zu byte%s to %s", bytes.len, bytes.len == 1 ? "" : "s",
                shown);
    result->exit_code = 0;
    return 0;
}

static const struct al_operation operations[] = {
    { "write", NULL, AL_WRITES_FILES, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    const struct write_args *args = p;

    al_str_addf(out, "Write %s in the sandbox", args->path);
}

const struct al_tool al_tool_files_write = {
    .name = "write_file",
    .title = "Write file",
    .about = "Create or replace a file of the sandbox.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct write_args),
    .open_repository = al_call_without_repository,
    .authorize = authorize,
    .summarize = summarize,
};
