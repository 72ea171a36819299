// SPDX-License-Identifier: Apache-2.0
/* git_log: the history of the current branch. */
#include "gitops/command.h"
#include "gitops/porcelain/status.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "guard/date.h"
#include "guard/text.h"
#include "tool/call.h"
#include "toolsets/git/git.h"
#include "util/utf8.h"

/* Bytes reserved for the note, and the smallest limit at which the note is added. */
#define NOTE_BYTES   120
#define NOTE_MIN_CAP 400

struct log_args {
    struct al_opt_int max_count;
    bool oneline;
    const char *format, *author, *since, *until, *grep, *path;
    struct al_opt_int max_bytes;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_INT(struct log_args, max_count, "At most so many.", .min = 1, .max = INT32_MAX,
           .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL(struct log_args, oneline, "As --oneline."),
    AL_STRING(struct log_args, format, "As --format; wins over oneline."),
    AL_STRING(struct log_args, author, "Pattern of the author."),
    AL_STRING(struct log_args, since, "After this date."),
    AL_STRING(struct log_args, until, "Before this date."),
    AL_STRING(struct log_args, grep, "Pattern of the message."),
    AL_STRING(struct log_args, path, "Touching this path.", .flags = AL_PARAM_PATH),
    AL_GIT_MAX_BYTES_ROW(struct log_args),
    AL_GIT_TIMEOUT_ROW(struct log_args),
    AL_GIT_WORKING_DIR_ROW(struct log_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct log_args *args = p;
    int r = al_date_check("since", args->since, err);

    return r < 0 ? r : al_date_check("until", args->until, err);
}

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

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct log_args *args = p;
    const struct al_log_options options = {
        .max_count = args->max_count.given ? args->max_count.value : 0,
        .oneline = args->oneline,
        .format = args->format,
        .author = args->author,
        .since = args->since,
        .until = args->until,
        .grep = args->grep,
        .path = args->path,
    };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    r = al_git_log(al_call_repo(call), &options, al_call_max_bytes(call), al_call_budget(call),
                   &output, err);
    if (r < 0)
        return r;
    al_call_shape_text(call, &output, "", result);
    if (result->truncated)
        note_count(call, &options, result);
    return 0;
}

static const struct al_operation operations[] = {
    { "log", NULL, AL_READS, execute, AL_ASKS_BY_EFFECTS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    (void)op;
    (void)p;
    al_str_adds(out, "Show git log");
}

static void ignored(const void *p, struct al_ignored *out)
{
    const struct log_args *args = p;

    out->since = "format is given";
    al_ignored_add(out, args->format && args->oneline, "oneline");
}

const struct al_tool al_tool_git_log = {
    .name = "git_log",
    .title = "Show history",
    .about = "Show commits of HEAD, newest first; filter by author, date, message or path. Other "
             "commits: git_show.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct log_args),
    .check = check,
    .ignored = ignored,
    .summarize = summarize,
};
