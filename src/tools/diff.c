// SPDX-License-Identifier: Apache-2.0
/* git_diff: what has changed, between any two of the working tree, the index and revisions.  Its
 * forms are git's words or patch files, structured results, and text. */
#include <inttypes.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/diff/diff.h"
#include "git/plumbing/filters.h"
#include "git/reading/worktree_state.h"
#include "guard/gitdir.h"
#include "tools/private.h"
#include "verbs/porcelain/patch_files.h"

struct diff_args {
    struct al_strv paths;
    struct al_diff_options options; /* but for the paths and the context */
    struct al_opt_int context;
    const char *output_dir; /* of the toolset git */
    struct al_opt_int max_bytes;
    bool hunks; /* of the toolset everyday */
    struct al_page page;
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

static struct al_diff_options options_of(const struct diff_args *args)
{
    struct al_diff_options options = args->options;

    options.unified = args->context.given ? args->context.value : -1;
    options.paths = &args->paths;
    return options;
}

/* The toolset git. */

static const struct al_param git_params[] = {
    AL_BOOL_IN(struct diff_args, options, cached, "Staged changes."),
    AL_BOOL_IN(struct diff_args, options, name_only, "Names only.", .unless = "output_dir"),
    AL_BOOL_IN(struct diff_args, options, stat, "As --stat.", .unless = "output_dir name_only"),
    AL_INT_AS(struct diff_args, context, "unified", "Lines of context.", .min = 0, .max = 1000000,
              .flags = AL_PARAM_MAX_HIDDEN),
    AL_STRINGS(struct diff_args, paths, "Only these paths.", .flags = AL_PARAM_PATH),
    AL_STRING_IN(struct diff_args, options, from_ref, "Compare from.",
                 .flags = AL_PARAM_NAME | AL_PARAM_REVISION, .check = al_arg_check_revision),
    AL_STRING_IN(struct diff_args, options, to_ref, "Compare to; needs from_ref.",
                 .flags = AL_PARAM_NAME | AL_PARAM_REVISION, .check = al_arg_check_revision),
    AL_STRING(struct diff_args, output_dir,
              "Write a patch file per path here, replacing files; needs both refs.",
              .flags = AL_PARAM_OUTPUT),
    AL_GIT_MAX_BYTES_ROW(struct diff_args, .unless = "output_dir"),
    AL_GIT_COMMON_ROWS(struct diff_args),
};

static int git_check(void *p, struct al_error *err)
{
    const struct diff_args *args = p;

    if (args->options.cached && (args->options.from_ref || args->options.to_ref))
        return al_error_set(err, AL_ERR_BAD_ARGS, "cached cannot be used with from_ref/to_ref");
    if (args->output_dir && (!args->options.from_ref || !args->options.to_ref))
        return al_error_set(err, AL_ERR_BAD_ARGS, "output_dir requires both from_ref and to_ref");
    if (args->options.to_ref && !args->options.from_ref)
        return al_error_set(err, AL_ERR_BAD_ARGS, "to_ref requires from_ref");
    return 0;
}

AL_WHEN(only_shows, struct diff_args, !args->output_dir)

static int git_show(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct diff_args *args = al_call_args(call);
    const struct al_diff_options options = options_of(args);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    int r = al_git_diff(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);

    if (!args->options.cached && !args->options.to_ref) /* otherwise the working tree is not read */
        al_git_skipped_filters(al_call_repo(call), &notes);
    return al_call_shape_text(call, r, &output, notes.buf, result);
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
        r = al_grant_check_dir(al_call_session(call)->grant, ret_dir->abs, true, err);
    if (r < 0)
        return r;
    if (al_path_has_dot_git(ret_dir->abs) || al_fs_beneath(repo->at.git_dir, ret_dir->abs) ||
        al_fs_beneath(repo->at.common_dir, ret_dir->abs) ||
        (ret_dir->fd >= 0 && al_gitdir_contains(ret_dir->fd, NULL)))
        return al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH,
                                 "output_dir cannot lie in a .git directory");
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

static int write_patches(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct diff_args *args = al_call_args(call);
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
        r = al_git_write_patches(al_call_repo(call), &options, &dir,
                                 &(struct al_replacing){ check_replaced, &replaced }, &names, err);
    if (r < 0) {
        if (!existed && dir.fd >= 0)
            (void)rmdir(dir.abs); /* made above, and still empty */
        return r;
    }
    list = json_pack("{s:o}", "patches", al_strings_of(&names, 0));
    al_json_dump(list, false, &result->text);
    return 0;
}

/* No approval is asked for: the checkpoint has the files that are replaced. */
static const struct al_operation git_operations[] = {
    { "show", only_shows, AL_READS, git_show, AL_ASKS_BY_EFFECTS },
    { "write_patches", NULL, AL_READS | AL_WRITES_WORKTREE | AL_WRITES_FILES, write_patches,
      AL_ASKS_NEVER },
};

static int git_authorize(struct al_call *call, struct al_error *err)
{
    const struct diff_args *args = al_call_args(call);
    al_auto(al_path_clear) struct al_path dir = AL_PATH_INIT;

    return args->output_dir ? resolve_output(call, args, &dir, err) : 0;
}

const struct al_tool al_tool_git_diff = {
    .name = "git_diff",
    .title = "Show changes",
    .about = "Show unstaged changes, staged ones (cached), or those between two commits. "
             "Reads, but for output_dir, which writes files.",
    AL_TOOL_ROWS(git_params, git_operations),
    AL_DIALECT_TOOL(struct diff_args),
    .check = git_check,
    .authorize = git_authorize,
    .summary = "Show diff[cached? cached][from_ref? {from_ref}..{to_ref}]"
               "[output_dir? as patch files in {output_dir}]",
};

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_BOOL_AS(struct diff_args, options.cached, "staged", "Diff what is staged."),
    AL_STRINGS(struct diff_args, paths, "Only these files or directories.", .flags = AL_PARAM_PATH),
    AL_STRING_AS(struct diff_args, options.from_ref, "ref",
                 "Commit to compare with, or a range, e.g. main..feature.",
                 .flags = AL_PARAM_NAME | AL_PARAM_REVISION, .check = al_arg_check_range),
    AL_WORKFLOW_CWD_ROW(struct diff_args),
};

static int workflow_check(void *p, struct al_error *err)
{
    const struct diff_args *args = p;

    if (args->options.cached && args->options.from_ref && strstr(args->options.from_ref, ".."))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "staged compares with one commit; ref must not be a range");
    return 0;
}

static int workflow_authorize(struct al_call *call, struct al_error *err)
{
    const struct diff_args *args = al_call_args(call);

    return al_workflow_check_paths(call, "paths", &args->paths, err);
}

/** The diff while git prints. */
struct diff_result {
    struct al_str diff;
    json_t *hunks, *lines; /* `lines`: of the last hunk; borrowed */
};

static void diff_result_clear(struct diff_result *parts)
{
    al_str_clear(&parts->diff);
    json_decref(parts->hunks);
}

static void begin_hunk(struct diff_result *parts, const struct al_hunk *hunk)
{
    parts->lines = al_json_array();
    al_json_append(
        parts->hunks,
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:o*, s:o}", "file", al_json_name(hunk->file),
                  "oldStart", (json_int_t)hunk->old_start, "oldLines", (json_int_t)hunk->old_lines,
                  "newStart", (json_int_t)hunk->new_start, "newLines", (json_int_t)hunk->new_lines,
                  "header",
                  hunk->header_len ? al_json_stringn(hunk->header, hunk->header_len) : NULL,
                  "lines", parts->lines));
}

static void add_line(void *payload, const struct al_patch_line *line)
{
    struct diff_result *parts = payload;

    if (line->head)
        begin_hunk(parts, line->head);
    if (line->in_hunk)
        al_json_append(parts->lines, al_json_stringn(line->text, line->len));
}

static int workflow_show(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct diff_args *args = al_call_args(call);
    const struct al_diff_options options = options_of(args);
    al_auto(diff_result_clear) struct diff_result parts = { .diff = AL_STR_INIT,
                                                            .hunks = al_json_array() };
    al_auto(al_hunks_clear) struct al_hunks patch = AL_HUNKS_INIT(add_line, &parts);
    int r = al_git_read_diff(al_call_repo(call), &options, al_call_max_bytes(call), &patch,
                             &parts.diff, &result->truncated, err);

    if (r < 0)
        return r;
    al_result_set(result, "diff", al_json_stringn(parts.diff.buf, parts.diff.len));
    al_result_set(result, "truncated", al_json_bool(result->truncated));
    al_result_set(result, "filesChanged", al_json_int((int64_t)patch.files));
    if (!result->truncated)
        al_result_set(result, "hunks", al_take(&parts.hunks));
    return 0;
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "diff": "", "truncated": true, "filesChanged": 1,
    "hunks?": [{
        "file": "", "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "header?": "",
        "lines": [""]
    }]
});
/* clang-format on */

const struct al_tool al_tool_workflow_diff = {
    .name = "git_diff",
    .title = "Show changes",
    .about = "Show unstaged changes, staged ones, or those against a commit or within a range.",
    AL_TOOL_ONE(workflow_params, "show", NULL, AL_READS, workflow_show, AL_ASKS_NEVER),
    AL_WORKFLOW_TOOL(struct diff_args),
    .check = workflow_check,
    .authorize = workflow_authorize,
    .summary = "Show diff[staged? of what is staged][ref? against {ref}]",
    .output_schema = output_schema,
};

/* The toolset everyday. */

#define CONTEXT_DEFAULT 3
#define CONTEXT_MAX     1000

static const struct al_param everyday_params[] = {
    AL_STRING_AS(struct diff_args, options.from_ref, "from", "A revision, or a range A...B.",
                 .flags = AL_PARAM_NAME | AL_PARAM_REVISION, .check = al_arg_check_range),
    AL_STRING_AS(struct diff_args, options.to_ref, "to", NULL,
                 .flags = AL_PARAM_NAME | AL_PARAM_REVISION, .check = al_arg_check_revision),
    AL_BOOL_AS(struct diff_args, options.cached, "staged", NULL),
    AL_PATHS_ROW(struct diff_args, .min = 0),
    AL_BOOL_IN(struct diff_args, options, stat, NULL),
    AL_BOOL(struct diff_args, hunks, "Each hunk with an id, for git_add and others."),
    AL_INT(struct diff_args, context, NULL, .min = 0, .max = CONTEXT_MAX,
           .default_int = CONTEXT_DEFAULT),
    AL_PAGE_ROWS(struct diff_args),
    AL_WORKING_DIR_ROW(struct diff_args),
};

static bool is_range(const struct diff_args *args)
{
    return args->options.from_ref && strstr(args->options.from_ref, "..");
}

static int everyday_check(void *p, struct al_error *err)
{
    const struct diff_args *args = p;

    if (args->options.to_ref && !args->options.from_ref)
        return al_failure_bad_args(err, "Give from as well, or make to the from.",
                                   "to: without from there is nothing to compare it with");
    if (is_range(args) && args->options.to_ref)
        return al_failure_bad_args(err, "Give a range in from, or from and to.",
                                   "from is a range, so to cannot be given");
    if (args->options.cached && (args->options.to_ref || is_range(args)))
        return al_failure_bad_args(
            err, "Leave out staged, or compare the index with one revision.",
            "staged compares the index with one revision, not two revisions");
    if (args->hunks && args->options.from_ref)
        return al_failure_bad_args(err, "Leave out from: hunks are of what can be staged.",
                                   "hunks: only changes of the working tree or the index have ids");
    if (args->hunks && args->options.stat)
        return al_failure_bad_args(err, "Give hunks or stat.", "stat and hunks exclude each other");
    if (args->options.stat && args->context.given)
        return al_failure_bad_args(err, "Leave out context, or stat.",
                                   "context: with stat no lines are shown");
    return 0;
}

static void add_number(size_t count, const char *what, struct al_str *out)
{
    if (count)
        al_str_addf(out, "%s %s\n", al_counted(count, "file is", "files are").text, what);
}

/* The way to compare a new file, and the other places of changes. */
static void add_elsewhere(struct al_call *call, const struct diff_args *args, struct al_str *out)
{
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;

    if (args->options.from_ref ||
        al_git_read_worktree_state(al_call_repo(call), "normal", NULL, NULL, &state, NULL) < 0)
        return;
    add_number(args->options.cached ? state.unstaged : state.staged,
               args->options.cached ? "changed and not staged: see git_diff without staged"
                                    : "staged: see git_diff with staged",
               out);
    add_number(state.untracked, "untracked: see git_status", out);
}

/* Both sides as one range.  NULL: there is one side, or none.  Caller frees. */
static char *range_of(const struct diff_args *args)
{
    return args->options.to_ref
               ? al_asprintf("%s..%s", args->options.from_ref, args->options.to_ref)
               : NULL;
}

static void add_missing(struct al_call *call, const struct diff_args *args, struct al_pages *pages)
{
    al_auto(al_freep) char *both = range_of(args);
    const char *from = args->options.from_ref ? args->options.from_ref : "HEAD";

    al_missing_paths_end(call, &args->paths, both ? both : from, pages);
}

static void add_nothing(struct al_call *call, const struct diff_args *args, struct al_pages *pages)
{
    al_auto(al_freep) char *both = range_of(args);
    const struct al_path_scope scope = { .rev = both ? both : args->options.from_ref,
                                         .worktree = !args->options.to_ref && !is_range(args) };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_str *out = &text;

    al_str_adds(out, "No changes");
    if (args->options.cached)
        al_str_addf(out, " staged%s", args->options.from_ref ? " against that revision" : "");
    else if (!args->options.from_ref)
        al_str_adds(out, " in the working tree that are not staged");
    al_str_adds(out, args->paths.count ? " in these paths.\n" : ".\n");
    if (args->paths.count)
        al_missing_paths_add(call, &args->paths, &scope, out);
    else
        add_elsewhere(call, args, out);
    (void)al_pages_adds(pages, out->buf);
}

static int show_changes(struct al_call *call, const struct diff_args *args, struct al_pages *pages,
                        struct al_result *result, struct al_error *err)
{
    struct al_diff_options options = options_of(args);
    al_auto(al_change_view_clear) struct al_change_view view = { .pages = pages,
                                                                 .repo = al_call_repo(call),
                                                                 .lists_all = args->options.stat,
                                                                 .header = AL_STR_INIT };
    al_auto(al_change_reader_clear) struct al_change_reader reader;
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    struct al_patch_taker to = al_change_view_taker;
    int r;

    options.stat = false; /* the numbers are always read */
    options.unified = args->options.stat ? -1 : args->context.value;
    to.payload = &view;
    al_change_reader_init(&reader, al_change_view_files, &to);
    r = al_git_read_changes(al_call_repo(call), &options, !args->options.stat, &reader, err);
    if (r < 0)
        return r;
    (void)al_change_view_end(&view);
    if (!reader.files.count && !pages->text.len)
        add_nothing(call, args, pages);
    else
        add_missing(call, args, pages);
    al_change_view_left(&view, &left);
    return al_pages_end(pages, left.buf, result, err);
}

/* Append the untracked files, an id each; false: the page is full. */
static bool add_new_files(const struct al_repo *repo, const struct al_untracked *files,
                          struct al_pages *pages, size_t *ret_shown)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct al_untracked_file *file = &files->items[i];
        al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;

        al_str_addf(&unit, "@@ %s new file ", file->id);
        al_place_add(repo, file->path, &unit);
        if (file->is_binary)
            al_str_adds(&unit, " binary\n");
        else
            al_str_addf(&unit, " +%" PRIu64 "\n", file->lines);
        if (!al_pages_add(pages, unit.buf, unit.len))
            return false;
        (*ret_shown)++;
    }
    return true;
}

static int show_hunks(struct al_call *call, const struct diff_args *args, struct al_pages *pages,
                      struct al_result *result, struct al_error *err)
{
    const struct al_hunk_query query = { .side = args->options.cached ? AL_HUNKS_STAGED
                                                                      : AL_HUNKS_UNSTAGED,
                                         .paths = args->paths.count ? &args->paths : NULL };
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    al_auto(al_untracked_clear) struct al_untracked files = { .items = NULL };
    size_t shown = 0;
    int r = al_git_read_hunks(al_call_repo(call), &query, &list, err);

    if (r == 0 && !args->options.cached)
        r = al_untracked_read(call, query.paths, NULL, &files, err);
    if (r < 0)
        return r;
    if (!list.nfiles && !list.truncated && !files.count)
        add_nothing(call, args, pages);
    if (!al_change_view_hunks(al_call_repo(call), &list, (size_t)args->context.value, pages,
                              &shown) ||
        !add_new_files(al_call_repo(call), &files, pages, &shown))
        al_str_addf(&left, "%s of %s not shown",
                    al_counted(list.count + files.count - shown, NULL, NULL).text,
                    al_counted(list.count + files.count, "hunk", "hunks").text);
    if (list.nfiles || files.count)
        add_missing(call, args, pages);
    if ((list.nfiles || files.count) && files.nameless)
        (void)al_pages_adds(pages, "Other untracked files are large or many: paths names them.\n");
    if (list.truncated)
        (void)al_pages_adds(pages, "The diff is larger than 64 MiB, and what is beyond has no ids: "
                                   "give paths.\n");
    return al_pages_end(pages, left.buf, result, err);
}

static int everyday_diff(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct diff_args *args = al_call_args(call);
    al_auto(al_pages_clear) struct al_pages pages = AL_PAGES_INIT;
    int r = al_pages_begin(&pages, call, &args->page, err);

    if (r < 0)
        return r;
    return args->hunks ? show_hunks(call, args, &pages, result, err)
                       : show_changes(call, args, &pages, result, err);
}

const struct al_tool al_tool_everyday_diff = {
    .name = "git_diff",
    .title = "Show changes",
    .about = "Show changes of the working tree, the index or between revisions.",
    AL_TOOL_ONE(everyday_params, "diff", NULL, AL_READS, everyday_diff, AL_ASKS_NEVER),
    AL_EVERYDAY_TOOL(struct diff_args),
    AL_EVERYDAY_PAGES,
    .check = everyday_check,
};
