// SPDX-License-Identifier: Apache-2.0
/* git_grep: lines of the tracked files, or of a revision. */

#include "git/reading/grep.h"
#include "tools/private.h"

#define CONTEXT_MAX 100
#define COUNT_MAX   100000
/** Matches beyond the page are counted up to this number. */
#define MORE_MAX 10000

struct grep_args {
    struct al_grep_query query;
    struct al_strv paths;
    struct al_opt_int context, max_count;
    struct al_page page;
    const char *working_dir;
};

static const struct al_param params[] = {
    AL_STRING_IN(struct grep_args, query, pattern, NULL, .flags = AL_PARAM_REQUIRED,
                 .min_bytes = 1),
    AL_STRING_IN(struct grep_args, query, rev, "Default: the working tree.",
                 .flags = AL_PARAM_NAME | AL_PARAM_REVISION, .check = al_arg_check_revision),
    AL_PATHS_ROW(struct grep_args, .min = 0),
    AL_BOOL_IN(struct grep_args, query, ignore_case, NULL),
    AL_BOOL_IN(struct grep_args, query, regex, "Extended regex, not plain text."),
    AL_BOOL_IN(struct grep_args, query, word, NULL),
    AL_INT(struct grep_args, context, NULL, .min = 0, .max = CONTEXT_MAX),
    AL_BOOL_IN(struct grep_args, query, files_only, NULL),
    AL_INT(struct grep_args, max_count, NULL, .flags = AL_PARAM_MAX_HIDDEN, .min = 1,
           .max = COUNT_MAX),
    AL_PAGE_ROWS(struct grep_args),
    AL_WORKING_DIR_ROW(struct grep_args),
};

static int check(void *p, struct al_error *err)
{
    const struct grep_args *args = p;

    if (args->query.files_only && args->context.given)
        return al_failure_bad_args(err, "Leave out context, or files_only.",
                                   "context: with files_only no lines are shown");
    return 0;
}

/** The matches while they are shown. */
struct showing {
    const struct grep_args *args;
    const struct al_repo *repo;
    struct al_pages *pages;
    char *path; /* the file of the last line */
    uint64_t shown, more, read;
    unsigned long long last_line;
};

/* The line above the matches of a file, where a file or a page begins. */
static void add_heading(struct showing *showing, const struct al_grep_line *line,
                        struct al_str *unit)
{
    al_auto(al_str_clear) struct al_str lead = AL_STR_INIT;

    if (showing->path && !strcmp(showing->path, line->path)) {
        al_place_add(showing->repo, line->path, &lead);
        al_str_adds(&lead, ", continued\n");
        al_pages_lead(showing->pages, lead.buf);
        return;
    }
    free(showing->path);
    showing->path = al_strdup(line->path);
    showing->last_line = 0;
    al_place_add(showing->repo, line->path, unit);
    al_str_addc(unit, '\n');
}

static bool take_line(void *payload, const struct al_grep_line *line)
{
    struct showing *showing = payload;
    const unsigned long long number = strtoull(line->line, NULL, 10);
    al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;

    showing->read++;
    if (!showing->pages->full && line->is_match && al_pages_shows(showing->pages)) {
        if (showing->args->max_count.given &&
            showing->shown >= (uint64_t)showing->args->max_count.value)
            al_pages_stop(showing->pages, AL_PAGES_LARGER_COUNT);
        else
            showing->shown++;
    }
    if (showing->pages->moved)
        return false;
    if (!showing->pages->full) {
        if (showing->args->query.files_only) {
            al_place_add(showing->repo, line->path, &unit);
            al_str_addc(&unit, '\n');
        } else {
            add_heading(showing, line, &unit);
            if (showing->args->context.value > 0 && showing->last_line &&
                number > showing->last_line + 1)
                al_str_adds(&unit, "--\n");
            showing->last_line = number;
            al_str_addf(&unit, "%s%c ", line->line, line->is_match ? ':' : '-');
            al_str_add(&unit, line->text, line->len);
            al_str_addc(&unit, '\n');
        }
        if (al_pages_add(showing->pages, unit.buf, unit.len))
            return true;
    }
    showing->more += line->is_match;
    return showing->more <= MORE_MAX;
}

static void add_nothing(struct al_call *call, const struct grep_args *args, struct al_pages *pages)
{
    const struct al_path_scope scope = { .rev = args->query.rev, .worktree = !args->query.rev };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_addf(&text, "No matches%s.\n", args->query.rev ? "" : " in tracked files");
    if (!args->query.regex)
        al_answer_add_plain("pattern", args->query.pattern, &text);
    al_missing_paths_add(call, &args->paths, &scope, &text);
    (void)al_pages_adds(pages, text.buf);
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct grep_args *args = al_call_args(call);
    al_auto(al_pages_clear) struct al_pages pages = AL_PAGES_INIT;
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    struct showing showing = { .args = args, .repo = al_call_repo(call), .pages = &pages };
    struct al_grep_query query = args->query;
    int r = al_pages_begin(&pages, call, &args->page, err);

    query.paths = args->paths.count ? &args->paths : NULL;
    query.context = args->context.value;
    if (r == 0)
        r = al_git_grep(showing.repo, &query, take_line, &showing, err);
    free(showing.path);
    if (r < 0)
        return r;
    if (!showing.read)
        add_nothing(call, args, &pages);
    else
        al_missing_paths_end(call, &args->paths, args->query.rev, &pages);
    al_answer_add_more(showing.more, MORE_MAX, args->query.files_only ? "more file" : "more match",
                       args->query.files_only ? "more files" : "more matches", &left);
    return al_pages_end(&pages, left.buf, result, err);
}

const struct al_tool al_tool_everyday_grep = {
    .name = "git_grep",
    .title = "Search files",
    .about = "Search the tracked files, or those of a revision.",
    AL_TOOL_ONE(params, "grep", NULL, AL_READS, execute, AL_ASKS_NEVER),
    AL_EVERYDAY_TOOL(struct grep_args),
    AL_EVERYDAY_PAGES,
    .check = check,
};
