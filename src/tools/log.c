// SPDX-License-Identifier: Apache-2.0
/* git_log: commits, newest first.  Its forms are git's words, structured results, and text: of any
 * branch, by what they are and what they changed. */
#include <inttypes.h>

#include "base/utf8.h"
#include "git/reading/read_log.h"
#include "git/refs.h"
#include "guard/date.h"
#include "tools/private.h"

struct log_args {
    struct al_log_options options; /* of the toolset git */
    struct al_opt_int max_bytes;
    struct al_log_query query; /* of the toolsets workflow and everyday */
    const char *path;
    struct al_strv paths;
    struct al_opt_int max_count;
    struct al_page page;
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

/* The toolset git. */

/* Bytes reserved for the note, and the smallest limit at which the note is added. */
#define NOTE_BYTES   120
#define NOTE_MIN_CAP 400

static const struct al_param git_params[] = {
    AL_INT(struct log_args, max_count, "At most so many.", .min = 1, .max = INT32_MAX,
           .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL_IN(struct log_args, options, oneline, "As --oneline.", .unless = "format"),
    AL_STRING_IN(struct log_args, options, format, "As --format; wins over oneline."),
    AL_STRING_IN(struct log_args, options, author, "Pattern of the author."),
    AL_STRING_IN(struct log_args, options, since, "After this date.", .check = al_date_check),
    AL_STRING_IN(struct log_args, options, until, "Before this date.", .check = al_date_check),
    AL_STRING_IN(struct log_args, options, grep, "Pattern of the message."),
    AL_STRING_IN(struct log_args, options, path, "Touching this path.", .flags = AL_PARAM_PATH),
    AL_GIT_MAX_BYTES_ROW(struct log_args, .unless = NULL),
    AL_GIT_COMMON_ROWS(struct log_args),
};

/* The number of commits in git's output; 0 when its format does not tell. */
static uint64_t count_shown(const struct al_log_options *options, const char *text)
{
    uint64_t count = 0;

    if (options->format)
        return 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += options->oneline ? *line && *line != '\n' : al_starts_with(line, "commit ");
    }
    return count;
}

/* Note in a truncated log how many commits it shows and how to narrow it down.  The total is not
 * given: it would take a walk through all commits. */
static void note_count(struct al_call *call, const struct al_log_options *options,
                       struct al_result *result)
{
    const size_t cap = al_call_max_bytes(call), marker = strlen(AL_TEXT_MARKER);
    al_auto(al_str_clear) struct al_str note = AL_STR_INIT;
    uint64_t shown;

    if (result->text.len < marker || cap < NOTE_MIN_CAP)
        return;
    al_str_truncate(&result->text, result->text.len - marker);
    al_str_truncate(&result->text, al_utf8_floor(result->text.buf, cap - NOTE_BYTES - marker));
    shown = count_shown(options, result->text.buf);
    if (shown)
        al_str_addf(&note, "\n\nairlock: the first %llu commits are here; ",
                    (unsigned long long)shown);
    else
        al_str_adds(&note, "\n\nairlock: not all commits are here; ");
    al_str_adds(&note, "narrow with max_count, oneline, since, path, author or grep");
    if (result->text.len + note.len + marker <= cap)
        al_str_add(&result->text, note.buf, note.len);
    al_str_adds(&result->text, AL_TEXT_MARKER);
}

static int git_log(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct log_args *args = al_call_args(call);
    struct al_log_options options = args->options;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    options.max_count = args->max_count.given ? args->max_count.value : 0;
    r = al_git_log(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);
    r = al_call_shape_text(call, r, &output, "", result);
    if (result->truncated)
        note_count(call, &options, result);
    return r;
}

const struct al_tool al_tool_git_log = {
    .name = "git_log",
    .title = "Show history",
    .about = "Show commits of HEAD, newest first; filter by author, date, message or path. Other "
             "commits: git_show.",
    AL_TOOL_ONE(git_params, "log", NULL, AL_READS, git_log, AL_ASKS_BY_EFFECTS),
    AL_DIALECT_TOOL(struct log_args),
    .summary = "Show git log",
};

/* The toolset workflow. */

#define LIMIT_DEFAULT   10
#define LIMIT_MAX       100
#define SHORT_HASH_SIZE 7

static const struct al_param workflow_params[] = {
    AL_INT_AS(struct log_args, max_count, "limit", "Most commits to list.",
              .flags = AL_PARAM_HAS_DEFAULT, .min = 1, .max = LIMIT_MAX,
              .default_int = LIMIT_DEFAULT),
    AL_STRING_IN(struct log_args, query, author,
                 "Only commits whose author's name or address contains this."),
    AL_STRING_IN(struct log_args, query, since,
                 "Only commits after this date, e.g. 2024-01-01, 1.week.ago.",
                 .check = al_date_check),
    AL_STRING_IN(struct log_args, query, until, "Before this date.", .check = al_date_check),
    AL_STRING(struct log_args, path, "Only commits that touch this file or directory.",
              .flags = AL_PARAM_PATH),
    AL_WORKFLOW_CWD_ROW(struct log_args),
};

static int workflow_authorize(struct al_call *call, struct al_error *err)
{
    const struct log_args *args = al_call_args(call);
    al_auto(al_freep) char *spec = NULL;
    int r = args->path ? al_workflow_check_path(call, "path", args->path, err) : 0;

    return r < 0 || !args->path
               ? r
               : al_repo_pathspec(al_call_repo(call), "path", args->path, &spec, err);
}

/** The list while git prints. */
struct listing {
    json_t *commits;
    size_t limit, room; /* bytes that objects may have yet */
    bool truncated;
};

static bool list_commit(void *payload, const struct al_logged *commit)
{
    struct listing *listing = payload;
    const size_t id = strlen(commit->hash);
    json_t *object = al_json_object();

    al_json_set(object, "hash", al_json_string(commit->hash));
    al_json_set(object, "shortHash",
                al_json_stringn(commit->hash, id < SHORT_HASH_SIZE ? id : SHORT_HASH_SIZE));
    al_json_set(object, "author", al_json_stringn(commit->author, strlen(commit->author)));
    al_json_set(object, "date", al_json_string(commit->date));
    al_json_set(object, "message", al_json_stringn(commit->message, strlen(commit->message)));
    if (json_array_size(listing->commits) == listing->limit)
        listing->room = 0; /* it was read to know that there are more */
    listing->truncated = !al_workflow_append(listing->commits, object, &listing->room);
    return !listing->truncated;
}

static int workflow_log(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct log_args *args = al_call_args(call);
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_json_decrefp) json_t *commits = al_json_array();
    struct listing listing = { .commits = commits,
                               .limit = (size_t)args->max_count.value,
                               .room = al_call_max_bytes(call) };
    struct al_log_query query = args->query;
    const struct al_log_taker to = { .take_commit = list_commit, .patch = { .payload = &listing } };
    bool unborn;
    int r;

    query.in_full = true;
    query.max_count = listing.limit + 1;
    query.paths = args->path ? &paths : NULL;
    if (args->path)
        al_strv_add(&paths, args->path);
    r = al_git_read_commits(al_call_repo(call), &query, &to, &unborn, err);
    if (r < 0)
        return r;
    al_result_set(result, "commits", json_incref(commits));
    al_result_set(result, "count", al_json_int((int64_t)json_array_size(commits)));
    al_result_set(result, "truncated", al_json_bool(listing.truncated));
    /* A log that is cut at the caller's own limit is complete. */
    result->truncated = listing.truncated && json_array_size(commits) < listing.limit;
    return 0;
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "commits": [{"hash": "", "shortHash": "", "author": "", "date": "", "message": ""}],
    "count": 1, "truncated": true
});
/* clang-format on */

const struct al_tool al_tool_workflow_log = {
    .name = "git_log",
    .title = "Show history",
    .about = "List the newest commits of the current branch.",
    AL_TOOL_ONE(workflow_params, "log", NULL, AL_READS, workflow_log, AL_ASKS_NEVER),
    AL_WORKFLOW_TOOL(struct log_args),
    .authorize = workflow_authorize,
    .summary = "Show git log[path? of {path}]",
    .output_schema = output_schema,
};

/* The toolset everyday. */

#define COUNT_DEFAULT 20
#define COUNT_MAX     10000
/** Commits beyond the ones that are shown are counted up to this number. */
#define MORE_MAX               1000

#define TEXT_ROW(field, about) AL_STRING_IN(struct log_args, query, field, about, .min_bytes = 1)

static const struct al_param everyday_params[] = {
    AL_STRING_IN(struct log_args, query, range, "Revisions: A..B, A...B, \"A ^B\".",
                 .flags = AL_PARAM_NAME, .check = al_arg_check_revisions),
    AL_BOOL_IN(struct log_args, query, all, "All branches."),
    AL_PATHS_ROW(struct log_args, .min = 0),
    TEXT_ROW(author, NULL),
    TEXT_ROW(since, "A date or a revision."),
    TEXT_ROW(until, NULL),
    TEXT_ROW(grep, "Regex for the message."),
    TEXT_ROW(changed, "Text added or removed by the commit."),
    AL_BOOL_IN(struct log_args, query, regex, "changed is a regex."),
    AL_INT(struct log_args, max_count, NULL, .flags = AL_PARAM_HAS_DEFAULT | AL_PARAM_MAX_HIDDEN,
           .min = 1, .max = COUNT_MAX, .default_int = COUNT_DEFAULT),
    AL_BOOL_IN(struct log_args, query, stat, NULL),
    AL_BOOL_IN(struct log_args, query, patch, NULL),
    /* It is about the older names of the path too. */
    AL_BOOL_IN(struct log_args, query, follow, NULL, .flags = AL_PARAM_EVERY_PATH),
    AL_BOOL_IN(struct log_args, query, first_parent, NULL),
    AL_PAGE_ROWS(struct log_args),
    AL_WORKING_DIR_ROW(struct log_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    const struct log_args *args = p;

    if (args->query.all && args->query.range)
        return al_failure_bad_args(err, "Give range or all.", "range and all exclude each other");
    if (args->query.regex && !args->query.changed)
        return al_failure_bad_args(err, "Give changed, or leave out regex: grep always is a regex.",
                                   "regex: it is about changed, which is not given");
    if (args->query.stat && args->query.patch)
        return al_failure_bad_args(err, "Give stat or patch.", "stat and patch exclude each other");
    if (args->query.follow && args->paths.count != 1)
        return al_failure_bad_args(err, "Give one file in paths, or leave out follow.",
                                   "follow takes exactly one path");
    return 0;
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
        r = al_git_commit_time(al_call_repo(call), given, &found, &time, err);
    if (r < 0)
        return r;
    if (!found)
        return al_failure_bad_args(err, "Or give a revision, whose commit's time is meant.",
                                   "%s, and it names no commit", why.message);
    *ret_date = al_asprintf("@%" PRId64, time + after);
    return 0;
}

/** The answer while git prints. */
struct showing {
    struct al_change_view view; /* must be first: it takes the patch */
    const struct log_args *args;
    struct al_pages pages;
    uint64_t read, shown; /* commits in all, and on this page */
    uint64_t more;        /* commits after the page, with the short form */
    bool has_more;
    bool timed_out; /* commits were not looked through */
};

static void showing_clear(struct showing *showing)
{
    al_pages_clear(&showing->pages);
    al_change_view_clear(&showing->view);
}

static bool is_long(const struct log_args *args)
{
    return args->query.stat || args->query.patch;
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
    al_place_addf(out, "%s %s %s", commit->hash, commit->date, commit->author);
    if (!is_long(args))
        al_place_addf(out, "  %s", commit->message);
    if (*commit->decorations)
        al_place_addf(out, " (%s)", commit->decorations);
    al_str_addc(out, '\n');
    if (is_long(args))
        add_message(commit->message, out);
}

/* The header of the file that was begun last, which has no hunks. */
static void end_files(struct showing *showing)
{
    (void)al_change_view_end(&showing->view);
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
        al_pages_stop(&showing->pages, AL_PAGES_LARGER_COUNT);
    if (!showing->pages.full && !showing->pages.moved) {
        if (is_long(showing->args) && showing->pages.at)
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

static bool take_files(void *payload, const struct al_diff_raw *files)
{
    struct showing *showing = payload;
    al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;

    for (size_t i = 0; i < files->count; i++) {
        al_str_addc(&unit, ' ');
        al_change_view_add_file(showing->view.repo, &files->items[i], &unit);
        al_str_addc(&unit, '\n');
    }
    return !unit.len || al_pages_add(&showing->pages, unit.buf, unit.len);
}

static bool take_place(void *payload, uint64_t skip, const char *id, size_t len)
{
    struct showing *showing = payload;

    end_files(showing);
    al_pages_begin_part(&showing->pages, skip, id, len);
    return !showing->pages.moved;
}

/* The rest that is not shown, as far as it is known. */
static void add_left(const struct showing *showing, struct al_str *out)
{
    if (showing->timed_out) {
        al_str_adds(out, "out of time");
        if (showing->pages.part)
            al_str_addf(out, " after %s",
                        al_counted(showing->pages.part, "commit", "commits").text);
        al_str_adds(out, ": older ones are not searched yet");
        return;
    }
    if (!showing->has_more) { /* the page ended inside a commit */
        al_str_adds(out, "the rest of this commit, and those before it");
        return;
    }
    if (is_long(showing->args)) {
        al_str_adds(out, "more commits match");
        return;
    }
    al_answer_add_more(showing->more, MORE_MAX, "more commit", "more commits", out);
}

/* The range in which a path is looked for. */
static const char *one_range(const struct log_args *args)
{
    return args->query.range && !strchr(args->query.range, ' ') ? args->query.range : "HEAD";
}

static void add_nothing(struct al_call *call, struct showing *showing)
{
    const struct log_args *args = showing->args;
    const struct al_path_scope scope = { .rev = one_range(args),
                                         .worktree = true,
                                         .untracked = true };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, args->page.cursor ? "No more commits match.\n" : "No commits match.\n");
    if (args->query.changed && !args->query.regex)
        al_answer_add_plain("changed", args->query.changed, &text);
    al_missing_paths_add(call, &args->paths, &scope, &text);
    (void)al_pages_adds(&showing->pages, text.buf);
}

/* The lines after the last commit. */
static void add_end(struct al_call *call, bool unborn, struct showing *showing)
{
    al_auto(al_freep) char *shallow = al_shallow_commits(&al_call_repo(call)->at);

    end_files(showing);
    if (unborn)
        (void)al_pages_adds(&showing->pages, "No commits yet.\n");
    else if (!showing->read)
        add_nothing(call, showing);
    else
        al_missing_paths_end(call, &showing->args->paths, one_range(showing->args),
                             &showing->pages);
    if (shallow && !unborn && !showing->has_more && !showing->args->query.range)
        (void)al_pages_adds(&showing->pages, "-- shallow clone: older commits are not here\n");
}

static int show(struct al_call *call, const struct al_log_query *query, struct showing *showing,
                struct al_result *result, struct al_error *err)
{
    const struct al_log_taker to = {
        .take_commit = take_commit,
        .take_files = take_files,
        .take_place = take_place,
        .patch = { al_change_view_taker.take_file, al_change_view_taker.take_hunk, showing },
    };
    const struct al_repo *repo = al_call_repo(call);
    const bool searches = query->changed && !query->follow;
    const uint64_t part = showing->pages.part;
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    bool unborn = false;
    int r;

    if (searches)
        r = al_git_search_commits(repo, query, part, &to, &unborn, err);
    else
        r = al_git_read_commits(repo, query, &to, &unborn, err);
    /* A search without time: what was found is an answer, if it came further than before. */
    if (r == AL_ERR_TIMEOUT && searches &&
        (showing->pages.text.len || showing->pages.part != part || showing->pages.moved)) {
        al_error_clear(err);
        showing->timed_out = true;
        al_pages_stop(&showing->pages, "since, paths or a range leave less to search");
    } else if (r < 0) {
        return r;
    }
    if (!showing->timed_out)
        add_end(call, unborn, showing);
    add_left(showing, &left);
    return al_pages_end(&showing->pages, left.buf, result, err);
}

static int everyday_log(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct log_args *args = al_call_args(call);
    al_auto(showing_clear) struct showing showing = { .args = args, .pages = AL_PAGES_INIT };
    al_auto(al_freep) char *since = NULL;
    al_auto(al_freep) char *until = NULL;
    struct al_log_query query = args->query;
    int r = al_pages_begin(&showing.pages, call, &args->page, err);

    showing.view = (struct al_change_view){ .pages = &showing.pages,
                                            .repo = al_call_repo(call),
                                            .header = AL_STR_INIT };
    if (r == 0)
        r = read_date(call, "since", query.since, 1, &since, err);
    if (r == 0)
        r = read_date(call, "until", query.until, 0, &until, err);
    query.paths = args->paths.count ? &args->paths : NULL;
    query.since = since;
    query.until = until;
    return r < 0 ? r : show(call, &query, &showing, result, err);
}

/* A list of commits tells nothing of files. */
static int policy_paths(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct log_args *args = al_call_args(call);

    (void)err;
    if (args->query.stat || args->query.patch || args->query.changed)
        al_strv_add(out, "");
    return 0;
}

const struct al_tool al_tool_everyday_log = {
    .name = "git_log",
    .title = "Show history",
    .about = "List commits, newest first; with stat or patch what they changed.",
    AL_TOOL_ONE(everyday_params, "log", NULL, AL_READS, everyday_log, AL_ASKS_NEVER),
    AL_EVERYDAY_TOOL(struct log_args),
    AL_EVERYDAY_PAGES,
    .check = everyday_check,
    .policy_paths = policy_paths,
};
