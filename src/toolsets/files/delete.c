// SPDX-License-Identifier: Apache-2.0
/* delete_file: remove a file of the sandbox. */
#include "guard/text.h"
#include "sandbox/sandbox.h"
#include "tool/call.h"
#include "toolsets/files/files.h"

struct delete_args {
    const char *path;
};

static const struct al_param params[] = {
    AL_FILES_PATH_ROW(struct delete_args),
};

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct delete_args *args = p;

    return al_files_authorize(call, args->path, err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct delete_args *args = p;
    const char *path = al_call_tool_data(call);
    al_auto(al_freep) char *shown = al_text_sanitize_line(args->path);
    int r = al_sandbox_remove(al_call_session(call)->sandbox, path, NULL, err);

    if (r < 0)
        return r;
    al_str_addf(&result->text, "Deleted %s", shown);
    result->exit_code = 0;
    return 0;
}

static const struct al_operation operations[] = {
    { "delete", NULL, AL_WRITES_FILES, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    const struct delete_args *args = p;

    al_str_addf(out, "Delete %s from the sandbox", args->path);
}

const struct al_tool al_tool_files_delete = {
    .name = "delete_file",
    .title = "Delete file",
    .about = "Delete a file of the sandbox; directories go when they are empty.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct delete_args),
    .open_repository = al_call_without_repository,
    .authorize = authorize,
    .summarize = summarize,
};
