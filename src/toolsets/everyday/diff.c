// SPDX-License-Identifier: Apache-2.0
/* git_diff: what has changed, between any two of the working tree, the index and revisions. */
#include <inttypes.h>
#include <string.h>

#include "answer/missing_paths.h"
#include "answer/place.h"
#include "gitops/hunks/hunk_list.h"
#include "gitops/reading/change_reader.h"
#include "gitops/reading/worktree_state.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "toolsets/everyday/change_view.h"
#include "toolsets/everyday/everyday.h"

#define CONTEXT_DEFAULT 3
#define CONTEXT_MAX     1000

struct diff_args {
    const char *from, *to;
    bool staged;
    struct al_strv paths;
    bool stat, hunks;
    struct al_opt_int context;
    struct al_page page;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct diff_args, from, "A revision, or a range A...B.", .flags = AL_PARAM_NAME),
    AL_STRING(struct diff_args, to, NULL, .flags = AL_PARAM_NAME),
    AL_BOOL(struct diff_args, staged, NULL),
    AL_EVERYDAY_PATHS_ROW(struct diff_args, .min = 0),
    AL_BOOL(struct diff_args, stat, NULL),
    AL_BOOL(struct diff_args, hunks, "Each hunk with an id, for git_add and others."),
    AL_INT(struct diff_args, context, NULL, .min = 0, .max = CONTEXT_MAX,
           .default_int = CONTEXT_DEFAULT),
    AL_PAGE_ROWS(struct diff_args),
    AL_EVERYDAY_WORKING_DIR_ROW(struct diff_args),
};

static int check_revisions(const struct diff_args *args, struct al_error *err)
{
    bool is_range = false;
    int r = args->from ? al_arg_check_range("from", args->from, &is_range, err) : 0;

    if (r == 0 && args->to)
        r = al_arg_check_revision("to", args->to, err);
    if (r < 0)
        return r;
    if (args->to && !args->from)
        return al_failure_bad_args(err, "Give from as well, or make to the from.",
                                   "to: without from there is nothing to compare it with");
    if (is_range && args->to)
        return al_failure_bad_args(err, "Give a range in from, or from and to.",
                                   "from is a range, so to cannot be given");
    if (args->staged && (args->to || is_range))
        return al_failure_bad_args(
            err, "Leave out staged, or compare the index with one revision.",
            "staged compares the index with one revision, not two revisions");
    return 0;
}

static int check(const void *p, struct al_error *err)
{
    const struct diff_args *args = p;
    int r = check_revisions(args, err);

    if (r < 0)
        return r;
    if (args->hunks && args->from)
        return al_failure_bad_args(err, "Leave out from: hunks are of what can be staged.",
                                   "hunks: only changes of the working tree or the index have ids");
    if (args->hunks && args->stat)
        return al_failure_bad_args(err, "Give hunks or stat.", "stat and hunks exclude each other");
    if (args->stat && args->context.given)
        return al_failure_bad_args(err, "Leave out context, or stat.",
                                   "context: with stat no lines are shown");
    return 0;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct diff_args *args = p;
    al_auto(al_str_clear) struct al_str specs = AL_STR_INIT;

    return al_repo_pathspecs(al_call_repo(call), &args->paths, al_call_budget(call), &specs, err);
}

static bool is_range(const struct diff_args *args)
{
    return args->from && strstr(args->from, "..");
}

static void add_number(size_t count, const char *what, struct al_str *out)
{
    if (!count)
        return;
    al_answer_add_counted(count, "file is ", "files are ", out);
    al_str_addf(out, "%s\n", what);
}

/* What a new file needs to be compared, and where else changes are. */
static void add_elsewhere(struct al_call *call, const struct diff_args *args, struct al_str *out)
{
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;

    if (args->from || al_git_read_worktree_state(al_call_repo(call), "normal", NULL, NULL,
                                                 al_call_budget(call), &state, NULL) < 0)
        return;
    add_number(args->staged ? state.unstaged : state.staged,
               args->staged ? "changed and not staged: see git_diff without staged"
                            : "staged: see git_diff with staged",
               out);
    add_number(state.untracked, "untracked: see git_status", out);
}

/* Both sides as one range.  NULL: there is one side, or none.  Caller frees. */
static char *range_of(const struct diff_args *args)
{
    return args->to ? al_asprintf("%s..%s", args->from, args->to) : NULL;
}

static void add_missing(struct al_call *call, const struct diff_args *args, struct al_pages *pages)
{
    al_auto(al_freep) char *both = range_of(args);
    const char *from = args->from ? args->from : "HEAD";

    al_missing_paths_end(call, &args->paths, both ? both : from, pages);
}

static void add_nothing(struct al_call *call, const struct diff_args *args, struct al_pages *pages)
{
    al_auto(al_freep) char *both = range_of(args);
    const struct al_path_scope scope = { .rev = both ? both : args->from,
                                         .worktree = !args->to && !is_range(args) };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_str *out = &text;

    al_str_adds(out, "No changes");
    if (args->staged)
        al_str_addf(out, " staged%s", args->from ? " against that revision" : "");
    else if (!args->from)
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
    const struct al_diff_options options = {
        .cached = args->staged,
        .unified = args->stat            ? -1
                   : args->context.given ? args->context.value
                                         : CONTEXT_DEFAULT,
        .from_ref = args->from,
        .to_ref = args->to,
        .paths = args->paths.count ? &args->paths : NULL,
    };
    al_auto(al_change_view_clear) struct al_change_view view = {
        .pages = pages, .repo = al_call_repo(call), .lists_all = args->stat, .header = AL_STR_INIT
    };
    al_auto(al_change_reader_clear) struct al_change_reader reader;
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    struct al_patch_taker to = al_change_view_taker;
    int r;

    to.payload = &view;
    al_change_reader_init(&reader, al_change_view_files, &to);
    r = al_git_read_changes(al_call_repo(call), &options, !args->stat, al_call_budget(call),
                            &reader, err);
    if (r < 0)
        return r;
    al_change_view_end(&view);
    if (!reader.files.count && !pages->text.len)
        add_nothing(call, args, pages);
    else
        add_missing(call, args, pages);
    al_change_view_left(&view, &left);
    return al_pages_end(pages, left.buf, result, err);
}

/* The line of a file above its hunks. */
static void add_hunk_file(const struct al_repo *repo, const struct al_hunk_file *file,
                          struct al_str *out)
{
    const char *fact = file->status == 'A'   ? " (new file)"
                       : file->status == 'D' ? " (deleted file)"
                       : file->status == 'U' ? " (in conflict: git_conflicts shows it)"
                                             : "";

    al_str_adds(out, "--- ");
    al_place_add(repo, file->path, out);
    if (file->added || file->deleted)
        al_str_addf(out, " +%" PRIu64 " -%" PRIu64, file->added, file->deleted);
    al_str_addf(out, "%s\n", fact);
}

/* Append the files of a list, each with its hunks; false: the page is full. */
static bool add_hunks(const struct al_repo *repo, const struct al_hunk_list *list, size_t context,
                      struct al_pages *pages, size_t *ret_shown)
{
    for (size_t i = 0; i < list->nfiles; i++) {
        const struct al_hunk_file *file = &list->files[i];
        al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;

        add_hunk_file(repo, file, &unit);
        for (size_t k = file->first; k < file->first + file->count; k++) {
            al_hunk_show(list, &list->items[k], context, &unit);
            if (!al_pages_add(pages, unit.buf, unit.len))
                return false;
            al_str_reset(&unit);
            (*ret_shown)++;
        }
        if (unit.len && !al_pages_add(pages, unit.buf, unit.len))
            return false;
    }
    return true;
}

static int show_hunks(struct al_call *call, const struct diff_args *args, struct al_pages *pages,
                      struct al_result *result, struct al_error *err)
{
    const struct al_hunk_query query = { .side = args->staged ? AL_HUNKS_STAGED : AL_HUNKS_UNSTAGED,
                                         .paths = args->paths.count ? &args->paths : NULL };
    const int64_t context = args->context.given ? args->context.value : CONTEXT_DEFAULT;
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    size_t shown = 0;
    int r = al_git_read_hunks(al_call_repo(call), &query, al_call_budget(call), &list, err);

    if (r < 0)
        return r;
    if (!list.nfiles && !list.truncated)
        add_nothing(call, args, pages);
    if (!add_hunks(al_call_repo(call), &list, (size_t)context, pages, &shown)) {
        al_answer_add_count(list.count - shown, &left);
        al_str_adds(&left, " of ");
        al_answer_add_counted(list.count, "hunk", "hunks", &left);
        al_str_adds(&left, " not shown");
    }
    if (list.nfiles)
        add_missing(call, args, pages);
    if (list.truncated)
        (void)al_pages_adds(pages, "The diff is larger than 64 MiB, and what is beyond has no ids: "
                                   "give paths.\n");
    return al_pages_end(pages, left.buf, result, err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct diff_args *args = p;
    al_auto(al_pages_clear) struct al_pages pages = AL_PAGES_INIT;
    int r = al_pages_begin(&pages, call, &args->page, err);

    if (r < 0)
        return r;
    return args->hunks ? show_hunks(call, args, &pages, result, err)
                       : show_changes(call, args, &pages, result, err);
}

static const struct al_operation operations[] = {
    { "diff", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

const struct al_tool al_tool_everyday_diff = {
    .name = "git_diff",
    .title = "Show changes",
    .about = "Show changes of the working tree, the index or between revisions.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct diff_args),
    AL_EVERYDAY_PAGES,
    .check = check,
    .authorize = authorize,
};
