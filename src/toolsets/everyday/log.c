// SPDX-License-Identifier: Apache-2.0
/* git_log: commits of any branch, by what they are and what they changed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/missing_paths.h"
#include "answer/place.h"
#include "gitops/reading/read_log.h"
#include "gitops/refs.h"
#include "guard/arg.h"
#include "guard/date.h"
#include "tool/call.h"
#include "toolsets/everyday/change_view.h"
#include "toolsets/everyday/everyday.h"

#define COUNT_DEFAULT 20
#define COUNT_MAX     10000
/** Commits beyond the ones that are shown are counted up to this number. */
#define MORE_MAX 1000

struct log_args {
    const char *range;
    struct al_strv paths;
    const char *author, *since, *until, *grep, *changed;
    bool regex;
    struct al_opt_int max_count;
    bool stat, patch, follow, first_parent;
    struct al_page page;
    AL_EVERYDAY_FIELDS;
};

#define TEXT_ROW(field, about) AL_STRING(struct log_args, field, about, .min_bytes = 1)

static const struct al_param params[] = {
    AL_STRING(struct log_args, range, "A..B, A...B or a revision.", .flags = AL_PARAM_NAME),
    AL_EVERYDAY_PATHS_ROW(struct log_args, .min = 0),
    AL_STRING(struct log_args, author, NULL, .min_bytes = 1),
    TEXT_ROW(since, "A date or a revision."),
    AL_STRING(struct log_args, until, NULL, .min_bytes = 1),
    TEXT_ROW(grep, "Regex for the message."),
    TEXT_ROW(changed, "Text added or removed by the commit."),
    AL_BOOL(struct log_args, regex, "changed is a regex."),
    AL_INT(struct log_args, max_count, NULL, .flags = AL_PARAM_HAS_DEFAULT | AL_PARAM_MAX_HIDDEN,
           .min = 1, .max = COUNT_MAX, .default_int = COUNT_DEFAULT),
    AL_BOOL(struct log_args, stat, NULL),
    AL_BOOL(struct log_args, patch, NULL),
    AL_BOOL(struct log_args, follow, NULL),
    AL_BOOL(struct log_args, first_parent, NULL),
    AL_PAGE_ROWS(struct log_args),
    AL_EVERYDAY_WORKING_DIR_ROW(struct log_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct log_args *args = p;
    bool is_range;

    if (args->regex && !args->changed)
        return al_failure_bad_args(err, "Give changed, or leave out regex: grep always is a regex.",
                                   "regex: it is about changed, which is not given");
    if (args->stat && args->patch)
        return al_failure_bad_args(err, "Give stat or patch.", "stat and patch exclude each other");
    if (args->follow && args->paths.count != 1)
        return al_failure_bad_args(err, "Give one file in paths, or leave out follow.",
                                   "follow takes exactly one path");
    return args->range ? al_arg_check_range("range", args->range, &is_range, err) : 0;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct log_args *args = p;
    al_auto(al_str_clear) struct al_str specs = AL_STR_INIT;

    return al_repo_pathspecs(al_call_repo(call), &args->paths, al_call_budget(call), &specs, err);
}

/**
 * A date for git: as given if git can read it, else the time of the commit that the word names.
 *
 * @param after  Seconds to add: a commit is not "since" itself.
 */
static int read_date(struct al_call *call, const char *param, const char *given, int64_t after,
                     char **ret_date, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    bool found = false;
    int64_t time = 0;
    int r = 0;

    if (!given)
        return 0;
    if (al_date_check(param, given, &why) == 0) {
        *ret_date = al_strdup(given);
        return 0;
    }
    if (al_arg_check_revision(param, given, NULL) == 0)
        r = al_git_commit_time(al_call_repo(call), given, al_call_budget(call), &found, &time, err);
    if (r < 0)
        return r;
    if (!found)
        return al_failure_bad_args(err, "Or give a revision, whose commit's time is meant.",
                                   "%s, and it names no commit", why.message);
    *ret_date = al_asprintf("@%" PRId64, time + after);
    return 0;
}

/** What is shown while git prints. */
struct showing {
    const struct log_args *args;
    const struct al_repo *repo;
    struct al_pages pages;
    struct al_change_view view;
    uint64_t read, shown; /* commits in all, and on this page */
    uint64_t more;        /* commits after the page, with the short form */
    bool has_more;
};

static void showing_clear(struct showing *showing)
{
    al_pages_clear(&showing->pages);
    al_change_view_clear(&showing->view);
}

static bool is_long(const struct log_args *args)
{
    return args->stat || args->patch;
}

static void add_message(const char *message, struct al_str *out)
{
    for (const char *line = message; *line;) {
        size_t len = strcspn(line, "\n");

        if (len) {
            al_str_adds(out, "    ");
            al_str_add(out, line, len);
        }
        al_str_addc(out, '\n');
        line += len + (line[len] == '\n');
    }
}

/* "a1b2c3d 2026-02-07 Lee  subject (tag: v1.7.19)" */
static void add_commit(const struct log_args *args, const struct al_logged *commit,
                       struct al_str *out)
{
    al_str_addf(out, "%s %s ", commit->hash, commit->date);
    al_place_add_name(commit->author, out);
    if (!is_long(args)) {
        al_str_adds(out, "  ");
        al_place_add_name(commit->message, out);
    }
    if (*commit->decorations) {
        al_str_adds(out, " (");
        al_place_add_name(commit->decorations, out);
        al_str_addc(out, ')');
    }
    al_str_addc(out, '\n');
    if (is_long(args))
        add_message(commit->message, out);
}

/* The header of the file that was begun last, which has no hunks. */
static void end_files(struct showing *showing)
{
    al_change_view_end(&showing->view);
    free(al_take(&showing->view.at));
}

static bool take_commit(void *payload, const struct al_logged *commit)
{
    struct showing *showing = payload;
    al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;

    showing->read++;
    end_files(showing);
    if (!showing->pages.full && al_pages_shows(&showing->pages) &&
        ++showing->shown > (uint64_t)showing->args->max_count.value)
        al_pages_stop(&showing->pages);
    if (!showing->pages.full && !showing->pages.moved) {
        if (is_long(showing->args) && showing->read > 1)
            al_str_addc(&unit, '\n');
        add_commit(showing->args, commit, &unit);
        (void)al_pages_add(&showing->pages, unit.buf, unit.len);
    }
    if (showing->pages.full) {
        showing->has_more = true;
        showing->more++;
    }
    return !showing->pages.moved &&
           (!showing->pages.full || (!is_long(showing->args) && showing->more <= MORE_MAX));
}

static bool take_files(void *payload, const struct al_changed_files *files)
{
    struct showing *showing = payload;
    al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;

    for (size_t i = 0; i < files->count; i++) {
        al_str_addc(&unit, ' ');
        al_change_view_add_file(showing->repo, &files->items[i], &unit);
        al_str_addc(&unit, '\n');
    }
    return !unit.len || al_pages_add(&showing->pages, unit.buf, unit.len);
}

static bool take_file(void *payload, const struct al_patch_file *file)
{
    struct showing *showing = payload;

    return al_change_view_taker.take_file(&showing->view, file);
}

static bool take_hunk(void *payload, const char *part, size_t len, bool is_first)
{
    struct showing *showing = payload;

    return al_change_view_taker.take_hunk(&showing->view, part, len, is_first);
}

/* What is not shown, as far as it is known. */
static void add_left(const struct showing *showing, struct al_str *out)
{
    if (!showing->has_more) { /* the page ended inside a commit */
        al_str_adds(out, "the rest of this commit, and those before it");
        return;
    }
    if (is_long(showing->args)) {
        al_str_adds(out, "more commits match");
        return;
    }
    if (showing->more > MORE_MAX)
        al_str_adds(out, "more than ");
    al_answer_add_counted(showing->more > MORE_MAX ? MORE_MAX : showing->more, "more commit",
                          "more commits", out);
}

static void add_nothing(struct al_call *call, struct showing *showing)
{
    const struct log_args *args = showing->args;
    const struct al_path_scope scope = { .rev = args->range ? args->range : "HEAD",
                                         .worktree = true,
                                         .untracked = true };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, "No commits match.\n");
    al_missing_paths_add(call, &args->paths, &scope, &text);
    (void)al_pages_adds(&showing->pages, text.buf);
}

static int show(struct al_call *call, const struct al_log_query *query, struct showing *showing,
                struct al_result *result, struct al_error *err)
{
    const struct al_log_taker to = { .take_commit = take_commit,
                                     .take_files = take_files,
                                     .patch = { take_file, take_hunk, showing } };
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    al_auto(al_freep) char *shallow = al_shallow_commits(&al_call_repo(call)->at);
    bool unborn = false;
    int r = al_git_read_commits(al_call_repo(call), query, &to, al_call_budget(call), &unborn, err);

    if (r < 0)
        return r;
    end_files(showing);
    if (unborn)
        (void)al_pages_adds(&showing->pages, "No commits yet.\n");
    else if (!showing->read)
        add_nothing(call, showing);
    else
        al_missing_paths_end(call, &showing->args->paths,
                             showing->args->range ? showing->args->range : "HEAD", &showing->pages);
    if (shallow && showing->read && !showing->has_more && !showing->args->range)
        (void)al_pages_adds(&showing->pages, "-- shallow clone: older commits are not here\n");
    add_left(showing, &left);
    return al_pages_end(&showing->pages, left.buf, result, err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct log_args *args = p;
    al_auto(showing_clear) struct showing showing = { .args = args,
                                                      .repo = al_call_repo(call),
                                                      .pages = AL_PAGES_INIT };
    al_auto(al_freep) char *since = NULL;
    al_auto(al_freep) char *until = NULL;
    struct al_log_query query = { .range = args->range,
                                  .paths = args->paths.count ? &args->paths : NULL,
                                  .author = args->author,
                                  .grep = args->grep,
                                  .changed = args->changed,
                                  .regex = args->regex,
                                  .follow = args->follow,
                                  .first_parent = args->first_parent,
                                  .stat = args->stat,
                                  .patch = args->patch };
    int r = al_pages_begin(&showing.pages, call, &args->page, err);

    showing.view = (struct al_change_view){ .pages = &showing.pages,
                                            .repo = showing.repo,
                                            .header = AL_STR_INIT };
    if (r == 0)
        r = read_date(call, "since", args->since, 1, &since, err);
    if (r == 0)
        r = read_date(call, "until", args->until, 0, &until, err);
    query.since = since;
    query.until = until;
    return r < 0 ? r : show(call, &query, &showing, result, err);
}

static const struct al_operation operations[] = {
    { "log", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

const struct al_tool al_tool_everyday_log = {
    .name = "git_log",
    .title = "Show history",
    .about = "List commits, newest first; with stat or patch what they changed.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct log_args),
    AL_EVERYDAY_PAGES,
    .check = check,
    .authorize = authorize,
};
