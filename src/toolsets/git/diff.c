// SPDX-License-Identifier: Apache-2.0
/* git_diff: changes of the working tree, of the index, or between commits. */
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/diff/patch_files.h"
#include "gitops/plumbing/skipped.h"
#include "gitops/run.h"
#include "guard/arg.h"
#include "guard/gitdir.h"
#include "guard/path.h"
#include "guard/root.h"
#include "tool/call.h"
#include "toolsets/git/git.h"
#include "util/fs.h"
#include "util/json.h"

struct diff_args {
    bool cached, name_only, stat;
    struct al_opt_int unified;
    struct al_strv paths;
    const char *from_ref, *to_ref, *output_dir;
    struct al_opt_int max_bytes;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_BOOL(struct diff_args, cached, "Staged changes."),
    AL_BOOL(struct diff_args, name_only, "Names only."),
    AL_BOOL(struct diff_args, stat, "As --stat."),
    AL_INT(struct diff_args, unified, "Lines of context.", .min = 0, .max = 1000000,
           .flags = AL_PARAM_MAX_HIDDEN),
    AL_STRINGS(struct diff_args, paths, "Only these paths.", .flags = AL_PARAM_PATH),
    AL_STRING(struct diff_args, from_ref, "Compare from.", .flags = AL_PARAM_NAME),
    AL_STRING(struct diff_args, to_ref, "Compare to; needs from_ref.", .flags = AL_PARAM_NAME),
    AL_STRING(struct diff_args, output_dir,
              "Write a patch file per path here, replacing files; needs both refs.",
              .flags = AL_PARAM_OUTPUT),
    AL_GIT_MAX_BYTES_ROW(struct diff_args),
    AL_GIT_TIMEOUT_ROW(struct diff_args),
    AL_GIT_WORKING_DIR_ROW(struct diff_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct diff_args *args = p;
    int r = 0;

    if (args->cached && (args->from_ref || args->to_ref))
        return al_error_set(err, AL_ERR_BAD_ARGS, "cached cannot be used with from_ref/to_ref");
    if (args->output_dir && (!args->from_ref || !args->to_ref))
        return al_error_set(err, AL_ERR_BAD_ARGS, "output_dir requires both from_ref and to_ref");
    if (args->to_ref && !args->from_ref)
        return al_error_set(err, AL_ERR_BAD_ARGS, "to_ref requires from_ref");
    if (args->from_ref)
        r = al_arg_check_revision("from_ref", args->from_ref, err);
    if (r == 0 && args->to_ref)
        r = al_arg_check_revision("to_ref", args->to_ref, err);
    return r;
}

static struct al_diff_options options_of(const struct diff_args *args)
{
    return (struct al_diff_options){
        .cached = args->cached,
        .name_only = args->name_only,
        .stat = args->stat,
        .unified = args->unified.given ? args->unified.value : -1,
        .from_ref = args->from_ref,
        .to_ref = args->to_ref,
        .paths = &args->paths,
    };
}

AL_WHEN(only_shows, struct diff_args, !args->output_dir)

static int show(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    const struct diff_args *args = p;
    const struct al_diff_options options = options_of(args);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    int r;

    r = al_git_diff(al_call_repo(call), &options, al_call_max_bytes(call), al_call_budget(call),
                    &output, err);
    if (r < 0)
        return r;
    if (!args->cached && !args->to_ref) /* otherwise the working tree is not read */
        al_git_skipped_filters(al_call_repo(call), al_call_budget(call), &notes);
    al_call_shape_text(call, &output, notes.buf, result);
    return 0;
}

static int refuse_git_dir(struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH,
                             "output_dir cannot lie in a .git directory");
}

/* Resolve and check the directory for the patches.  Done again before they are written, since a
 * link may have changed. */
static int resolve_output(struct al_call *call, const struct diff_args *args,
                          struct al_path *ret_dir, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    int r =
        al_path_resolve(al_call_session(call)->roots, repo->at.dir, args->output_dir, ret_dir, err);

    if (r == 0)
        r = al_call_check_granted(call, ret_dir->abs, true, err);
    if (r < 0)
        return r;
    if (al_path_has_dot_git(ret_dir->abs) || al_fs_beneath(repo->at.git_dir, ret_dir->abs) ||
        al_fs_beneath(repo->at.common_dir, ret_dir->abs) ||
        (ret_dir->fd >= 0 && al_gitdir_contains(ret_dir->fd, NULL)))
        return refuse_git_dir(err);
    if (ret_dir->fd >= 0 && !S_ISDIR(ret_dir->mode))
        return al_error_set(err, AL_ERR_EXECUTION, "output_dir exists and is no directory");
    return 0;
}

/** Payload of check_replaced(). */
struct replaced {
    struct al_call *call;
    const struct al_path *dir;
};

static int check_replaced(void *payload, const struct al_strv *names, struct al_error *err)
{
    const struct replaced *replaced = payload;

    return al_call_check_in_checkpoint(replaced->call, "output_dir", replaced->dir, names, err);
}

static int write_patches(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct diff_args *args = p;
    const struct al_diff_options options = options_of(args);
    al_auto(al_path_clear) struct al_path dir = AL_PATH_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_json_decrefp) json_t *list = NULL;
    struct replaced replaced = { .call = call, .dir = &dir };
    bool existed;
    int r;

    r = resolve_output(call, args, &dir, err);
    if (r < 0)
        return r;
    existed = dir.fd >= 0;
    r = al_path_mkdirs(&dir, args->output_dir, err);
    if (r == 0)
        r = al_git_write_patches(al_call_repo(call), &options, dir.fd,
                                 &(struct al_replacing){ check_replaced, &replaced },
                                 al_call_budget(call), &names, err);
    if (r < 0) {
        if (!existed && dir.fd >= 0)
            (void)rmdir(dir.abs); /* made above, and still empty */
        return r;
    }
    list = al_json_object();
    al_json_set(list, "patches", al_json_array());
    for (size_t i = 0; i < names.count; i++)
        al_json_append(json_object_get(list, "patches"), al_json_string(names.items[i]));
    al_json_dump(list, false, &result->text);
    result->exit_code = 0;
    return 0;
}

/* No approval is asked for: the checkpoint has the files that are replaced. */
static const struct al_operation operations[] = {
    { "show", only_shows, AL_READS, show, AL_ASKS_BY_EFFECTS },
    { "write_patches", NULL, AL_READS | AL_WRITES_WORKTREE | AL_WRITES_FILES, write_patches,
      AL_ASKS_NEVER },
};

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct diff_args *args = p;
    al_auto(al_path_clear) struct al_path dir = AL_PATH_INIT;

    return args->output_dir ? resolve_output(call, args, &dir, err) : 0;
}

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct diff_args *args = p;

    (void)op;
    al_str_adds(out, "Show diff");
    if (args->cached)
        al_str_adds(out, " cached");
    if (args->from_ref)
        al_str_addf(out, " %s..%s", args->from_ref, args->to_ref ? args->to_ref : "");
    if (args->output_dir)
        al_str_addf(out, " as patch files in %s", args->output_dir);
}

static void ignored(const void *p, struct al_ignored *out)
{
    const struct diff_args *args = p;

    out->since = args->output_dir ? "output_dir is given" : "name_only is given";
    al_ignored_add(out, args->output_dir && args->name_only, "name_only");
    al_ignored_add(out, (args->output_dir || args->name_only) && args->stat, "stat");
    al_ignored_add(out, args->output_dir && args->max_bytes.given, "max_bytes");
}

const struct al_tool al_tool_git_diff = {
    .name = "git_diff",
    .title = "Show changes",
    .about = "Show unstaged changes, staged ones (cached), or those between two commits. "
             "Reads, but for output_dir, which writes files.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct diff_args),
    .check = check,
    .authorize = authorize,
    .ignored = ignored,
    .summarize = summarize,
};
