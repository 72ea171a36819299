// SPDX-License-Identifier: Apache-2.0
/* git_add: stage files for the next commit. */
#include "base/log.h"
#include "call/call.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/skipped.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "guard/text.h"
#include "tools/git/git.h"
#include "verbs/porcelain/commit.h"
#include "verbs/preview/affected_files.h"

#define SUMMARY_FILES 2

struct add_args {
    struct al_strv paths;
    bool all, update;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_STRINGS(struct add_args, paths, "Ignored with all.", .flags = AL_PARAM_PATH,
               .unless = "all update"),
    AL_BOOL(struct add_args, all, "All changes, new files too.", .flags = AL_PARAM_EVERY_PATH),
    AL_BOOL(struct add_args, update, "Tracked files only.", .flags = AL_PARAM_EVERY_PATH),
    AL_GIT_TIMEOUT_ROW(struct add_args),
    AL_GIT_WORKING_DIR_ROW(struct add_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct add_args *args = p;

    if (!args->paths.count && !args->all && !args->update)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "At least one of paths, all, or update must be specified");
    if (args->all && args->update)
        return al_error_set(err, AL_ERR_BAD_ARGS, "all and update are mutually exclusive");
    return 0;
}

static struct al_add_options options_of(const struct add_args *args)
{
    return (struct al_add_options){
        .mode = args->all      ? AL_ADD_ALL
                : args->update ? AL_ADD_UPDATE
                               : AL_ADD_PATHS,
        .paths = &args->paths,
    };
}

/* List the files that the arguments match: all, or those of directories and patterns. */
static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct add_args *args = p;

    return al_git_affected_files(al_call_repo(call),
                                 args->all || args->update ? NULL : &args->paths, !args->update,
                                 al_call_budget(call), out, err);
}

/* Resolve the paths and check for filters before approval. */
static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct add_args *args = p;
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    const struct al_strv *files;
    int r = 0;

    if (!args->all && !args->update)
        r = al_repo_pathspecs(repo, &args->paths, al_call_budget(call), &words, err);
    if (r < 0 || !al_git_has_filters(repo))
        return r;
    r = al_call_affected_files(call, &files, err);
    return r < 0 ? r : al_git_check_files(repo, files, al_call_budget(call), err);
}

/* The summary names at most two paths; list the files when it does not name them. */
static int preview(struct al_call *call, const void *p, struct al_str *out, struct al_error *err)
{
    const struct add_args *args = p;
    bool named = !args->all && !args->update;
    const struct al_strv *files;
    int r = al_call_affected_files(call, &files, err);

    if (r == 0 && named)
        r = al_git_add_check(al_call_repo(call), &args->paths, false, files, al_call_budget(call),
                             err);
    if (r < 0)
        return r;
    if (!named || args->paths.count > SUMMARY_FILES || files->count > args->paths.count)
        al_git_files_excerpt(al_call_repo(call), files,
                             "These files are staged:", al_call_budget(call), out);
    return 0;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    static const char *const hooks[] = { "post-index-change", NULL };
    const struct add_args *args = p;
    const struct al_add_options options = options_of(args);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    uint64_t count = args->paths.count;
    int r;

    r = al_git_add(al_call_repo(call), &options, al_call_max_bytes(call), al_call_budget(call),
                   &output, err);
    if (r < 0)
        return r;
    al_str_reset(&output.out.out);
    if (options.mode == AL_ADD_PATHS ||
        al_git_count_staged(al_call_repo(call), al_call_budget(call), &count, &why) == 0)
        al_str_addf(&output.out.out, "Staged %llu file(s)", (unsigned long long)count);
    else /* what was staged is staged, whatever keeps it from being counted */
        al_str_adds(&output.out.out, "Staged; the files could not be counted");
    if (why.message)
        al_log_warn("git_add: %s", why.message);
    al_git_skipped_hooks(al_call_repo(call), hooks, &notes);
    al_call_shape_text(call, &output, notes.buf, result);
    return 0;
}

static const struct al_operation operations[] = {
    { "add", NULL, AL_WRITES_INDEX, execute, AL_ASKS_BY_EFFECTS },
};

const struct al_tool al_tool_git_add = {
    .name = "git_add",
    .title = "Stage files",
    .about = "Stage files: the named paths, all changes, or tracked files only.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct add_args),
    .check = check,
    .authorize = authorize,
    .affected_files = affected_files,
    .preview = preview,
    .summary = "Stage [all?all changes][!all?[update?modified/deleted files]"
               "[!update?{#paths} file(s): {paths:2}]]",
};
