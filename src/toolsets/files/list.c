// SPDX-License-Identifier: Apache-2.0
/* list_files: the paths of the sandbox's files. */
#include <stdlib.h>

#include "guard/glob.h"
#include "guard/text.h"
#include "sandbox/sandbox.h"
#include "tool/call.h"
#include "toolsets/files/files.h"

/* Room for the line that counts the files left out. */
#define MORE_MAX_BYTES 96u

struct list_args {
    const char *path, *pattern;
};

static const struct al_param params[] = {
    AL_STRING(struct list_args, path, "Directory.", .flags = AL_PARAM_NAME | AL_PARAM_HAS_DEFAULT,
              .default_str = AL_SANDBOX_ROOT, .min_bytes = 1, .max_bytes = AL_FILES_PATH_MAX_BYTES),
    AL_STRING(struct list_args, pattern,
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

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct list_args *args = p;
    al_auto(al_freep) char *dir = NULL;
    int r = al_sandbox_path(args->path, &dir, err);

    if (r == 0)
        al_call_set_tool_data(call, al_take(&dir), free);
    return r;
}

static int no_directory(struct al_call *call, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *shown = al_text_sanitize_line(given);
    al_auto(al_str_clear) struct al_str none = AL_STR_INIT;

    if (al_sandbox_read(al_call_session(call)->sandbox, al_call_tool_data(call), 0, 0, &none, NULL,
                        NULL) == 0)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is a file; name a directory", shown);
    (void)al_error_set(err, AL_ERR_EXECUTION,
                       "no such directory: '%s'; list_files without path shows what is there",
                       shown);
    if (err)
        err->reason = "not_found";
    return AL_ERR_EXECUTION;
}

/* Nothing was listed: is there nothing, or does nothing match? */
static int explain_none(struct al_call *call, const struct list_args *args, struct al_str *out,
                        struct al_error *err)
{
    const char *dir = al_call_tool_data(call);
    al_auto(al_freep) char *shown = al_text_sanitize_line(args->path);
    al_auto(al_freep) char *pattern = args->pattern ? al_text_sanitize_line(args->pattern) : NULL;
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    int r = al_sandbox_list(al_call_session(call)->sandbox, dir, NULL, &all, err);

    if (r < 0)
        return r;
    al_str_addf(out, "no files in %s", shown);
    if (all.count && pattern)
        al_str_addf(out, " match '%s'%s", pattern, al_sandbox_pattern_hint(args->pattern));
    return 0;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct list_args *args = p;
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
    result->exit_code = 0;
    return 0;
}

static const struct al_operation operations[] = {
    { "list", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

static void summarize(const void *p, struct al_str *out)
{
    const struct list_args *args = p;

    al_str_addf(out, "List the files in %s", args->path);
}

const struct al_tool al_tool_files_list = {
    .name = "list_files",
    .title = "List files",
    .about = "List the files of the sandbox, also in subdirectories, one path a line.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct list_args),
    .open_repository = al_call_without_repository,
    .authorize = authorize,
    .summarize = summarize,
};
