// SPDX-License-Identifier: Apache-2.0
/* git_blame: who last changed each line of a file; with git's words, and with text of our own. */
#include "git/reading/read_blame.h"

#include <inttypes.h>

#include "git/plumbing/filters.h"
#include "git/reading/read_object.h"
#include "git/refs.h"
#include "tools/private.h"

struct blame_args {
    const char *path;
    struct al_opt_int start_line, end_line; /* of the toolset git */
    const char *commit;
    struct al_opt_int max_bytes;
    const char *lines, *rev; /* of the toolset everyday */
    struct al_lines range;   /* what `lines` says */
    struct al_page page;
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

/* Refuse a path outside the repository first, and pathspec magic where no file is called so. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct blame_args *args = al_call_args(call);
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *path = NULL;

    return args->commit || args->rev ? al_repo_file(repo, "path", args->path, &path, err)
                                     : al_repo_pathspec(repo, "path", args->path, &path, err);
}

/* The part that both tools have. */
#define SHARED .name = "git_blame", .title = "Blame a file", .authorize = authorize

/* The toolset git. */

static const struct al_param git_params[] = {
    AL_STRING(struct blame_args, path, "File to blame.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_PATH),
    AL_INT(struct blame_args, start_line, "First line, counted from 1.", .min = 1, .max = INT32_MAX,
           .flags = AL_PARAM_MAX_HIDDEN),
    AL_INT(struct blame_args, end_line, "Last line.", .min = 1, .max = INT32_MAX,
           .flags = AL_PARAM_MAX_HIDDEN),
    AL_STRING(struct blame_args, commit, "Default: the working tree.", .flags = AL_PARAM_NAME,
              .check = al_arg_check_revision),
    AL_GIT_MAX_BYTES_ROW(struct blame_args, .unless = NULL),
    AL_GIT_COMMON_ROWS(struct blame_args),
};

static int git_check(void *p, struct al_error *err)
{
    const struct blame_args *args = p;

    if (!args->path[strspn(args->path, " \t\r\n")])
        return al_error_set(err, AL_ERR_BAD_ARGS, "path must not be empty");
    if (args->start_line.given && args->end_line.given &&
        args->start_line.value > args->end_line.value)
        return al_error_set(err, AL_ERR_BAD_ARGS, "start_line must be <= end_line");
    return 0;
}

static int git_blame(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct blame_args *args = al_call_args(call);
    const struct al_blame_query query = {
        .path = args->path,
        .rev = args->commit,
        .first = args->start_line.given ? (uint64_t)args->start_line.value : 0,
        .last = args->end_line.given ? (uint64_t)args->end_line.value : 0,
    };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    int r = al_git_blame(al_call_repo(call), &query, al_call_max_bytes(call), &output, err);

    if (!args->commit) /* otherwise the working tree is not read */
        al_git_skipped_filters(al_call_repo(call), &notes);
    return al_call_shape_text(call, r, &output, notes.buf, result);
}

const struct al_tool al_tool_git_blame = {
    SHARED,
    .about = "Show which commit last changed each line of a file, or of a range.",
    AL_TOOL_ONE(git_params, "blame", NULL, AL_READS, git_blame, AL_ASKS_BY_EFFECTS),
    AL_DIALECT_TOOL(struct blame_args),
    .check = git_check,
    .summary = "Blame {path}[start_line? lines {start_line}-][!start_line?[end_line? lines 1-]]"
               "[end_line?{end_line}]",
};

/* The toolset everyday. */

static const struct al_param everyday_params[] = {
    AL_STRING(struct blame_args, path, NULL, .flags = AL_PARAM_REQUIRED | AL_PARAM_PATH,
              .min_bytes = 1),
    AL_STRING(struct blame_args, lines, "\"120,160\".", .max_bytes = 64),
    AL_STRING(struct blame_args, rev, "Default: the working tree.", .flags = AL_PARAM_NAME,
              .check = al_arg_check_revision),
    AL_PAGE_ROWS(struct blame_args),
    AL_WORKING_DIR_ROW(struct blame_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    struct blame_args *args = p;

    return al_lines_read(args->lines, &args->range, err);
}

/** The lines while they are shown. */
struct showing {
    struct al_pages *pages;
    struct al_strv told; /* ids of the commits whose subject was shown */
    uint64_t line;       /* the last one that was read */
    char *shallow;       /* the commits at which a shallow clone ends; NULL: it is whole */
};

/* "a1b2c3d4 2026-02-07 Lee  subject"; the subject once. */
static void add_heading(struct showing *showing, const struct al_blamed *commit, struct al_str *out)
{
    if (!commit->is_committed) {
        al_str_adds(out, "not committed\n");
        return;
    }
    al_place_addf(out, "%.*s %s %s", AL_SHORT_ID, commit->oid, commit->date, commit->author);
    if (!al_strv_contains(&showing->told, commit->oid)) {
        al_strv_add(&showing->told, commit->oid);
        al_place_addf(out, "  %s", commit->subject);
        if (showing->shallow && strstr(showing->shallow, commit->oid))
            al_str_adds(out, " (^ this or an older commit: the clone is shallow)");
    }
    al_str_addc(out, '\n');
}

static bool take_line(void *payload, const struct al_blamed *commit, bool begins, uint64_t line,
                      const char *text, size_t len)
{
    struct showing *showing = payload;
    al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str lead = AL_STR_INIT;

    if (begins) {
        add_heading(showing, commit, &unit);
    } else {
        al_str_addf(&lead, "%.*s, continued\n", AL_SHORT_ID, commit->oid);
        al_pages_lead(showing->pages, lead.buf);
    }
    al_str_addf(&unit, "%" PRIu64 "\t", line);
    al_str_add(&unit, text, len);
    al_str_addc(&unit, '\n');
    showing->line = line;
    return al_pages_add(showing->pages, unit.buf, unit.len);
}

/* git says the same of a directory and of a path that is nowhere. */
static int explain_missing(struct al_call *call, const struct blame_args *args,
                           struct al_error *err)
{
    const char *rev = args->rev ? args->rev : "HEAD";
    al_auto(al_object_info_clear) struct al_object_info info = AL_OBJECT_INFO_INIT;
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *word = NULL;

    al_error_clear(err);
    if (al_place_from_argument(al_call_repo(call), "path", args->path, &path, NULL) == 0) {
        word = al_asprintf("%s:%s", rev, path);
        (void)al_git_read_object_info(al_call_repo(call), word, &info, NULL);
    }
    if (info.type == AL_OBJECT_TREE)
        return al_failure_bad_args(err,
                                   "git_show with this path lists its files; git_log with paths "
                                   "says who changed something in it.",
                                   "path: it is a directory, and git_blame takes one file");
    return al_missing_path_fail(call, args->path, rev, err);
}

static int everyday_blame(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct blame_args *args = al_call_args(call);
    al_auto(al_pages_clear) struct al_pages pages = AL_PAGES_INIT;
    al_auto(al_freep) char *shallow = al_shallow_commits(&al_call_repo(call)->at);
    struct showing showing = { .pages = &pages, .told = AL_STRV_INIT, .shallow = shallow };
    al_auto(al_freep) char *left = NULL;
    struct al_blame_query query = { .path = args->path, .rev = args->rev };
    int r = al_pages_begin(&pages, call, &args->page, err);

    query.first = args->range.first > 1 ? args->range.first : 0;
    query.last = args->range.last < UINT64_MAX ? args->range.last : 0;
    if (r == 0)
        r = al_git_read_blame(al_call_repo(call), &query, take_line, &showing, err);
    al_strv_clear(&showing.told);
    if (r < 0)
        return err && al_starts_with(err->message, "fatal: no such path")
                   ? explain_missing(call, args, err)
                   : r;
    if (!showing.line)
        (void)al_pages_adds(&pages, "The file has no lines.\n");
    left = al_asprintf("lines from %" PRIu64 " on not shown", showing.line);
    return al_pages_end(&pages, left, result, err);
}

const struct al_tool al_tool_everyday_blame = {
    SHARED,
    .about = "Show which commit last changed each line of a file.",
    AL_TOOL_ONE(everyday_params, "blame", NULL, AL_READS, everyday_blame, AL_ASKS_NEVER),
    AL_EVERYDAY_TOOL(struct blame_args),
    AL_EVERYDAY_PAGES,
    .check = everyday_check,
};
