// SPDX-License-Identifier: Apache-2.0
/* git_merge: merge versions of a file.  Nothing is written. */
#include "staging/pull/pull.h"

#include "guard/text.h"
#include "sandbox/sandbox.h"
#include "tool/call.h"
#include "toolsets/staging/staging.h"
#include "util/base64.h"

/* All versions of a file fit into one message of a client. */
#define VERSION_MAX_BYTES (10u << 20)

enum encoding { UTF_8, BASE64 };

struct merge_args {
    const char *path, *base, *ours, *theirs;
    int encoding; /* enum encoding */
};

static const struct al_choice encodings[] = {
    { "utf-8", UTF_8 },
    { "base64", BASE64 },
    { NULL, 0 },
};

static const struct al_param params[] = {
    AL_STRING(struct merge_args, path, "The file, for context.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .max_bytes = AL_STAGING_PATH_MAX_BYTES),
    AL_STRING(struct merge_args, base, "Content of the common ancestor.",
              .max_bytes = VERSION_MAX_BYTES),
    AL_STRING(struct merge_args, ours, "Content in the sandbox.", .flags = AL_PARAM_REQUIRED,
              .max_bytes = VERSION_MAX_BYTES),
    AL_STRING(struct merge_args, theirs, "Incoming content.", .flags = AL_PARAM_REQUIRED,
              .max_bytes = VERSION_MAX_BYTES),
    AL_CHOICE(struct merge_args, encoding, "Of all contents; base64 for binary files.",
              .choices = encodings),
};

static int decode(const char *name, const char *given, int encoding, struct al_str *ret,
                  struct al_error *err)
{
    size_t len = strlen(given);

    if (encoding == UTF_8)
        al_str_add(ret, given, len);
    else if (!al_base64_decode(given, len, ret))
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s is not base64; leave encoding out for text",
                            name);
    return 0;
}

static void set_result(const struct al_str *content, int encoding, bool is_clean,
                       struct al_result *result)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_result_set(result, "status", al_json_string(is_clean ? "clean" : "conflict"));
    if (encoding == UTF_8) {
        al_result_set(result, "content", al_json_stringn(content->buf, content->len));
        return;
    }
    al_base64_encode(content->buf, content->len, &text);
    al_result_set(result, "content", al_json_stringn(text.buf, text.len));
    al_result_set(result, "encoding", al_json_string("base64"));
}

/* What to do about a conflict that has no markers; NULL: there are some, or none are needed. */
static const char *note_of(enum al_merge_outcome outcome)
{
    if (outcome == AL_MERGE_BINARY)
        return "the content is binary and changed on both sides: this is ours, choose one of them";
    if (outcome == AL_MERGE_TOO_LARGE)
        return "the content is too large to be merged: this is ours, choose one of them";
    return NULL;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct merge_args *args = p;
    al_auto(al_str_clear) struct al_str base = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str ours = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str theirs = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    const struct al_merge_sides sides = { .base = args->base ? &base : NULL,
                                          .ours = &ours,
                                          .theirs = &theirs };
    enum al_merge_outcome outcome = AL_MERGE_CLEAN;
    int r = decode("ours", args->ours, args->encoding, &ours, err);

    if (r == 0)
        r = decode("theirs", args->theirs, args->encoding, &theirs, err);
    if (r == 0 && args->base)
        r = decode("base", args->base, args->encoding, &base, err);
    if (r == 0)
        r = al_merge(al_call_session(call)->staging, &sides, al_call_budget(call), &outcome,
                     &content, err);
    if (r < 0)
        return r;
    set_result(note_of(outcome) ? &ours : &content, args->encoding, outcome == AL_MERGE_CLEAN,
               result);
    if (note_of(outcome))
        al_result_note(result, note_of(outcome));
    return 0;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct merge_args *args = p;
    al_auto(al_freep) char *given = args->path[0] == '/'
                                        ? al_strdup(args->path)
                                        : al_asprintf(AL_SANDBOX_ROOT "/%s", args->path);
    al_auto(al_freep) char *path = NULL;

    (void)call;
    return al_sandbox_path(given, &path, err);
}

static const struct al_operation operations[] = {
    { "merge", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": ["clean", "conflict"]},
        "content": {"type": "string"},
        "encoding": {"type": "string", "enum": ["base64"]}
    },
    "required": ["status", "content"]
});
/* clang-format on */

const struct al_tool al_tool_staging_merge = {
    .name = "git_merge",
    .title = "Merge versions of a file",
    .about = "Merge two versions of a file line by line and return the result, with markers where "
             "they conflict. Writes nothing.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct merge_args),
    .open_repository = al_call_without_repository,
    .authorize = authorize,
    .output_schema = output_schema,
};
