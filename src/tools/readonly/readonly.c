// SPDX-License-Identifier: Apache-2.0
#include "tools/private.h"

#include "base/clock.h"
#include "git/readonly/readonly_commands.h"
#include "guard/guards.h"
#include "verbs/submodule/submodules.h"

/* Git: eight commands that only read, each with a list of allowed options. */

#define ARGS_MAX      32
#define ARG_MAX_BYTES 1024
#define REF_MAX_BYTES 1024 /* a longer one fails the pattern, with its message */
#define TIMEOUT_MAX_S 120
#define TIMEOUT_S     30

struct git_args {
    int op;
    const char *repo;
    struct al_strv args;
    const char *ref, *path;
    struct al_opt_int timeout_s;
};

static const struct al_choice ops[] = {
    { "status", AL_READONLY_STATUS },
    { "log", AL_READONLY_LOG },
    { "diff", AL_READONLY_DIFF },
    { "show", AL_READONLY_SHOW },
    { "branch", AL_READONLY_BRANCH },
    { "blame", AL_READONLY_BLAME },
    { "ls_files", AL_READONLY_LS_FILES },
    { "rev_parse", AL_READONLY_REV_PARSE },
#ifdef AL_GUARDS_OFF
    { "commit", AL_READONLY_COMMIT },
    { "update_ref", AL_READONLY_UPDATE_REF },
    { "config", AL_READONLY_CONFIG },
    { "gc", AL_READONLY_GC },
#endif
    { NULL, 0 },
};

/* In a build without guards a test sees what they would stop. */
#ifdef AL_GUARDS_OFF
#define REF_PATTERN .pattern = NULL
#else
#define REF_PATTERN                                                                                \
    .pattern = AL_READONLY_REF_PATTERN, .bad_message = "ref must match " AL_READONLY_REF_PATTERN
#endif

static const struct al_param params[] = {
    AL_CHOICE(struct git_args, op, "What to run.", .flags = AL_PARAM_REQUIRED, .choices = ops),
    AL_STRING(struct git_args, repo, "Absolute path of a repository's top; it contains .git.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .max_bytes = 4096),
    AL_STRINGS(struct git_args, args,
               "Options, for log only: --oneline, --graph, -n N, --since=..., --author=....",
               .max = ARGS_MAX, .max_bytes = ARG_MAX_BYTES),
    AL_STRING(struct git_args, ref,
              "Commit, branch or tag; log and diff take A..B too. show needs it.",
              .flags = AL_PARAM_NAME | AL_PARAM_REVISION, .max_bytes = REF_MAX_BYTES, REF_PATTERN),
    AL_STRING(struct git_args, path, "Path inside repo, relative to it. blame needs it.",
              .flags = AL_PARAM_PATH),
    AL_INT(struct git_args, timeout_s, "Seconds until git is stopped.",
           .flags = AL_PARAM_HAS_DEFAULT | AL_PARAM_SECONDS, .min = 1, .max = TIMEOUT_MAX_S,
           .default_int = TIMEOUT_S),
};

static struct al_readonly_options options_of(const struct git_args *args)
{
    return (struct al_readonly_options){
        .op = (enum al_readonly_op)args->op,
        .dir = args->repo,
        .args = &args->args,
        .ref = args->ref,
        .path = args->path,
    };
}

static int check(void *p, struct al_error *err)
{
    const struct git_args *args = p;
    const struct al_readonly_options options = options_of(args);

    if (al_guarded && args->repo[0] != '/')
        return al_error_set(err, AL_ERR_BAD_ARGS, "repo must be an absolute path");
    return al_readonly_check(&options, err);
}

/* Refuse a directory below the top of a repository. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);

    if (strcmp(repo->at.dir, repo->at.top) != 0)
        return al_error_set(err, AL_ERR_BAD_ARGS, "repo does not contain .git");
    return 0;
}

/* Add notes about submodules, which git was told not to enter. */
static void note_submodules(struct al_call *call, const struct git_args *args,
                            struct al_result *result)
{
    al_auto(al_submodules_clear) struct al_submodules submodules = AL_SUBMODULES_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (args->op != AL_READONLY_STATUS || result->exit_code != 0)
        return;
    al_git_scan_submodules(al_call_repo(call), args->path, true, &submodules);
    al_submodules_add_line(&submodules, &line);
    if (line.len)
        al_result_note(result, line.buf);
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct git_args *args = al_call_args(call);
    const struct al_readonly_options options = options_of(args);
    al_auto(al_readonly_run_clear) struct al_readonly_run found = AL_READONLY_RUN_INIT;
    const struct al_str *out = &found.output.out.out, *errors = &found.output.err.out;
    int64_t began_ms = al_clock_ms();
    int r = al_git_read_only(al_call_repo(call), &options, &found, err);

    if (r < 0)
        return r;
    /* git that was stopped at the output limit has not failed. */
    result->exit_code = found.output.stopped ? 0 : found.output.exit_code;
    result->truncated = found.out_truncated || found.err_truncated;
    al_result_set_structured(
        result,
        json_pack("{s:s, s:i, s:o, s:o, s:f, s:b, s:o, s:b, s:b}", "op", ops[args->op].name,
                  "exit_code", result->exit_code, "stdout", al_json_stringn(out->buf, out->len),
                  "stderr", al_json_stringn(errors->buf, errors->len), "duration_s",
                  (double)(al_clock_ms() - began_ms) / 1000.0, "timed_out", found.output.timed_out,
                  "cmd", al_strings_of(&found.argv, 0), "stdout_truncated", found.out_truncated,
                  "stderr_truncated", found.err_truncated));
    note_submodules(call, args, result);
    return 0;
}

/* Map failures to the error kinds of this toolset.  A directory that is not a repository is a wrong
 * argument. */
static void reword(struct al_call *call, struct al_error *err)
{
    const char *word = "tool_failed";
    al_auto(al_freep) char *message = err->message;

    (void)call;
    if (err->code == AL_CODE_NOT_INITIALIZED || err->subject == AL_SUBJECT_DIRECTORY)
        err->status = AL_ERR_BAD_ARGS;
    if (err->status == AL_ERR_BAD_ARGS)
        word = "invalid_args";
    if (err->status == AL_ERR_SANDBOX || err->status == AL_ERR_NOT_GRANTED)
        word = "fs_denied";
    err->message = al_asprintf("%s: %s", word, message);
}

/* One operation for each `op`, so that rules and the journal can name it. */
#define OP(name)                                                                                   \
    {                                                                                              \
        name, NULL, AL_READS, execute, AL_ASKS_BY_EFFECTS                                          \
    }
static const struct al_operation operations[] = {
    OP("status"), OP("log"),   OP("diff"),     OP("show"),
    OP("branch"), OP("blame"), OP("ls_files"), OP("rev_parse"),
};

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "op": "", "exit_code": 1, "stdout": "", "stderr": "", "duration_s": 1.5, "timed_out": true,
    "cmd": [""], "stdout_truncated": true, "stderr_truncated": true
});
/* clang-format on */

const struct al_tool al_tool_readonly_git = {
    .name = "Git",
    .title = "Read a repository",
    .about = "Run one read-only git command: status, log, diff, show, branch, blame, ls_files or "
             "rev_parse. Never writes.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct git_args),
    .working_dir_offset = offsetof(struct git_args, repo),
    .check = check,
    .authorize = authorize,
    .summary = "Read with git {op} in {repo}",
    .complete_error = reword,
    .output_schema = output_schema,
};
