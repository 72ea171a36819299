// SPDX-License-Identifier: Apache-2.0
/* git_blame: who last changed each line of a file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/missing_paths.h"
#include "answer/place.h"
#include "answer/state_line.h"
#include "gitops/reading/read_blame.h"
#include "gitops/reading/read_object.h"
#include "gitops/refs.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "toolsets/everyday/change_view.h"
#include "toolsets/everyday/everyday.h"

struct blame_args {
    const char *path, *lines, *rev;
    struct al_page page;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct blame_args, path, NULL, .flags = AL_PARAM_REQUIRED | AL_PARAM_PATH,
              .min_bytes = 1),
    AL_STRING(struct blame_args, lines, "\"120,160\".", .max_bytes = 64),
    AL_STRING(struct blame_args, rev, "Default: the working tree.", .flags = AL_PARAM_NAME),
    AL_PAGE_ROWS(struct blame_args),
    AL_EVERYDAY_WORKING_DIR_ROW(struct blame_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct blame_args *args = p;
    struct al_lines lines;
    int r = al_lines_read(args->lines, &lines, err);

    return r == 0 && args->rev ? al_arg_check_revision("rev", args->rev, err) : r;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;

    return al_repo_file(al_call_repo(call), "path", ((const struct blame_args *)p)->path, &path,
                        err);
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
    al_str_addf(out, "%.*s %s ", AL_SHORT_ID, commit->oid, commit->date);
    al_place_add_name(commit->author, out);
    if (!al_strv_contains(&showing->told, commit->oid)) {
        al_strv_add(&showing->told, commit->oid);
        al_str_adds(out, "  ");
        al_place_add_name(commit->subject, out);
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
        (void)al_git_read_object_info(al_call_repo(call), word, al_call_budget(call), &info, NULL);
    }
    if (info.type == AL_OBJECT_TREE)
        return al_failure_bad_args(err,
                                   "git_show with this path lists its files; git_log with paths "
                                   "says who changed something in it.",
                                   "path: it is a directory, and git_blame takes one file");
    return al_missing_path_fail(call, args->path, rev, err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct blame_args *args = p;
    al_auto(al_pages_clear) struct al_pages pages = AL_PAGES_INIT;
    al_auto(al_freep) char *shallow = al_shallow_commits(&al_call_repo(call)->at);
    struct showing showing = { .pages = &pages, .told = AL_STRV_INIT, .shallow = shallow };
    al_auto(al_freep) char *left = NULL;
    struct al_lines lines;
    int r = al_pages_begin(&pages, call, &args->page, err);

    if (r == 0)
        r = al_lines_read(args->lines, &lines, err);
    if (r == 0)
        r = al_git_read_blame(al_call_repo(call), args->path, args->rev,
                              (struct al_blame_lines){ lines.first, lines.last }, take_line,
                              &showing, al_call_budget(call), err);
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

static const struct al_operation operations[] = {
    { "blame", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

const struct al_tool al_tool_everyday_blame = {
    .name = "git_blame",
    .title = "Blame a file",
    .about = "Show which commit last changed each line of a file.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct blame_args),
    AL_EVERYDAY_PAGES,
    .check = check,
    .authorize = authorize,
};
