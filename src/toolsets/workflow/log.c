// SPDX-License-Identifier: Apache-2.0
/* git_log: the newest commits, one object each. */
#include "gitops/queries.h"
#include "tool/call.h"
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
    AL_STRING(struct log_args, author, "Only commits whose author's name or address contains this.",
              .max_bytes = AL_WORKFLOW_TEXT_MAX_BYTES),
    AL_STRING(struct log_args, since, "Only commits after this date, e.g. 2024-01-01, 1.week.ago.",
              .max_bytes = AL_WORKFLOW_TEXT_MAX_BYTES),
    AL_STRING(struct log_args, until, "Before this date.", .max_bytes = AL_WORKFLOW_TEXT_MAX_BYTES),
    AL_STRING(struct log_args, path, "Only commits that touch this file or directory.",
              .flags = AL_PARAM_PATH, .max_bytes = AL_WORKFLOW_PATH_MAX_BYTES),
    AL_WORKFLOW_CWD_ROW(struct log_args),
};

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct log_args *args = p;

    return args->path ? al_workflow_check_path(call, "path", args->path, err) : 0;
}

static json_t *commit_of(const struct al_log_entry *entry)
{
    size_t len = strlen(entry->hash);
    json_t *object = al_json_object();

    al_json_set(object, "hash", al_json_string(entry->hash));
    al_json_set(object, "shortHash",
                al_json_stringn(entry->hash, len < SHORT_HASH_SIZE ? len : SHORT_HASH_SIZE));
    al_json_set(object, "author", al_json_string(entry->author));
    al_json_set(object, "date", al_json_string(entry->date));
    al_json_set(object, "message", al_json_string(entry->subject));
    return object;
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
    al_auto(al_commits_clear) struct al_commits history = AL_COMMITS_INIT;
    json_t *object, *commits;
    int r = al_git_read_log(al_call_repo(call), &options, al_call_max_bytes(call),
                            al_call_budget(call), &history, err);

    if (r < 0)
        return r;
    commits = al_json_array();
    for (size_t i = 0; i < history.count; i++)
        al_json_append(commits, commit_of(&history.items[i]));
    object = al_json_object();
    al_json_set(object, "commits", commits);
    al_json_set(object, "count", al_json_int((int64_t)history.count));
    al_json_set(object, "truncated", al_json_bool(history.truncated));
    /* Cut by the caller's own limit is what the caller asked for. */
    result->truncated = history.truncated && history.count < options.limit;
    al_result_set_structured(result, object);
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
    .params = params,
    .nparams = AL_COUNT(params),
    AL_WORKFLOW_TOOL(struct log_args),
    .operations = operations,
    .noperations = AL_COUNT(operations),
    .authorize = authorize,
    .summarize = summarize,
    .output_schema = output_schema,
};
