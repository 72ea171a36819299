// SPDX-License-Identifier: Apache-2.0
/* git_log: the newest commits, one object each. */
#include "gitops/porcelain/parse.h"
#include "gitops/porcelain/status.h"
#include "guard/date.h"
#include "guard/text.h"
#include "tool/call.h"
#include "toolsets/workflow/results.h"
#include "toolsets/workflow/workflow.h"

#define LIMIT_DEFAULT   10
#define LIMIT_MAX       100
#define SHORT_HASH_SIZE 7

struct log_args {
    struct al_opt_int limit;
    const char *author, *since, *until, *path;
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_INT(struct log_args, limit, "Most commits to list.", .flags = AL_PARAM_HAS_DEFAULT, .min = 1,
           .max = LIMIT_MAX, .default_int = LIMIT_DEFAULT),
    AL_STRING(struct log_args, author,
              "Only commits whose author's name or address contains this."),
    AL_STRING(struct log_args, since, "Only commits after this date, e.g. 2024-01-01, 1.week.ago."),
    AL_STRING(struct log_args, until, "Before this date."),
    AL_STRING(struct log_args, path, "Only commits that touch this file or directory.",
              .flags = AL_PARAM_PATH),
    AL_WORKFLOW_CWD_ROW(struct log_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct log_args *args = p;
    int r = al_date_check("since", args->since, err);

    return r < 0 ? r : al_date_check("until", args->until, err);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct log_args *args = p;

    return args->path ? al_workflow_check_path(call, "path", args->path, err) : 0;
}

static void add_member(struct al_str *json, const char *before, const char *value, size_t len)
{
    al_str_adds(json, before);
    al_text_escape(value, len, json);
}

static void add_commit(void *payload, const struct al_log_entry *entry)
{
    struct al_str *json = payload;
    size_t len = strlen(entry->hash);
    size_t short_len = len < SHORT_HASH_SIZE ? len : SHORT_HASH_SIZE;

    al_str_adds(json, json->buf[json->len - 1] == '[' ? "" : ",");
    add_member(json, "{\"hash\":\"", entry->hash, len);
    add_member(json, "\",\"shortHash\":\"", entry->hash, short_len);
    add_member(json, "\",\"author\":\"", entry->author, strlen(entry->author));
    add_member(json, "\",\"date\":\"", entry->date, strlen(entry->date));
    add_member(json, "\",\"message\":\"", entry->subject, strlen(entry->subject));
    al_str_adds(json, "\"}");
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct log_args *args = p;
    const struct al_commits_options options = {
        .limit = (size_t)args->limit.value,
        .author = args->author,
        .since = args->since,
        .until = args->until,
        .path = args->path,
    };
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    struct al_commits history = AL_COMMITS_INIT(add_commit, &json);
    int r;

    al_str_adds(&json, "{\"commits\":[");
    r = al_git_read_log(al_call_repo(call), &options, al_call_max_bytes(call), al_call_budget(call),
                        &history, err);
    if (r < 0)
        return r;
    al_str_addf(&json, "],\"count\":%zu,\"truncated\":%s}", history.count,
                history.truncated ? "true" : "false");
    /* A log that is cut at the caller's own limit is complete. */
    result->truncated = history.truncated && history.count < options.limit;
    al_result_take_json(result, &json, NULL);
    return 0;
}

static const struct al_operation operations[] = {
    { "log", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct log_args *args = p;

    (void)op;
    al_str_adds(out, "Show git log");
    if (args->path)
        al_str_addf(out, " of %s", args->path);
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "commits": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "hash": {"type": "string"},
                "shortHash": {"type": "string"},
                "author": {"type": "string"},
                "date": {"type": "string"},
                "message": {"type": "string"}
            },
            "required": ["hash", "shortHash", "author", "date", "message"]
        }},
        "count": {"type": "integer"},
        "truncated": {"type": "boolean"}
    },
    "required": ["commits", "count", "truncated"]
});
/* clang-format on */

const struct al_tool al_tool_workflow_log = {
    .name = "git_log",
    .title = "Show history",
    .about = "List the newest commits of the current branch.",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct log_args),
    .check = check,
    .authorize = authorize,
    .summarize = summarize,
    .output_schema = output_schema,
};
