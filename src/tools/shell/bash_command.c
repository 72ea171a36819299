// SPDX-License-Identifier: Apache-2.0
/* bash_command: show a pipeline of whitelisted commands, or run it if the session allows that. */
#include <unistd.h>

#include "base/clock.h"
#include "call/call.h"
#include "tools/shell/private.h"
#include "tools/words.h"

#define COMMAND_MAX_BYTES 16384
#define REASON_MAX_BYTES  4096

struct bash_args {
    const char *command, *reason;
};

static const struct al_param params[] = {
    AL_STRING(struct bash_args, command,
              "The command line: words, quotes, patterns, |, > >> < 2> 2>&1; no variables.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_EVERY_PATH, .min_bytes = 1,
              .max_bytes = COMMAND_MAX_BYTES),
    AL_STRING(struct bash_args, reason, "Why it is needed; recorded.", .flags = AL_PARAM_REQUIRED,
              .min_bytes = 1, .max_bytes = REASON_MAX_BYTES),
};

static bool is_live(const struct al_call *call)
{
    const struct al_shell *shell = al_call_session(call)->shell;

    return shell && shell->options.live;
}

static void free_plan(void *plan)
{
    al_shell_plan_clear(plan);
    free(plan);
}

/* Plan the command before approval.  The call keeps the plan, so that exactly what was checked is
 * run. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct bash_args *args = al_call_args(call);
    const struct al_shell *shell = al_call_session(call)->shell;
    struct al_shell_plan *plan;

    if (!shell)
        return al_error_set(err, AL_ERR_EXECUTION, "This session has no shell");
    plan = al_calloc(1, sizeof(*plan));
    al_call_set_tool_data(call, plan, free_plan);
    return al_shell_plan(shell, args->command, plan, err);
}

/* The paths of redirects that truncate a file. */
static int overwritten_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct al_shell_plan *plan = al_call_tool_data(call);

    (void)err;
    for (size_t i = 0; is_live(call) && i < plan->nsteps; i++) {
        const struct al_shell_step *step = &plan->steps[i];

        for (size_t k = STDOUT_FILENO; k < AL_SHELL_STREAMS; k++) {
            const struct al_redirect *to = &step->to[k];
            const bool truncates = !step->appends[k] && to->name && to->dir_fd >= 0;
            al_auto(al_freep) char *dir = truncates ? al_fs_fd_path(to->dir_fd) : NULL;

            if (dir)
                al_strv_take(out, al_fs_join(dir, to->name));
        }
    }
    return 0;
}

/* Append the command, or the names of its commands, each once.  authorize() has found all of them
 * in the whitelist. */
static void trace(const struct al_call *call, bool checked, struct al_str *out)
{
    const struct al_shell_plan *plan = al_call_tool_data(call);
    const struct bash_args *args = al_call_args(call);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (!checked) {
        al_str_adds(out, args->command);
        return;
    }
    for (size_t i = 0; i < plan->nsteps; i++)
        if (!al_strv_contains(&names, plan->steps[i].words.items[0]))
            al_strv_add(&names, plan->steps[i].words.items[0]);
    al_text_add_list(out, &names, AL_SHELL_STAGES_MAX);
    al_str_adds(out, " in whitelist");
}

static int64_t timeout_ms(const struct al_session *session)
{
    return session->shell ? (int64_t)session->shell->options.timeout_s * 1000
                          : session->defaults.timeout_ms;
}

static json_t *stage_object(const struct al_shell_step *step)
{
    static const char *const names[AL_SHELL_STREAMS] = { "stdin", "stdout", "stderr" };
    json_t *object = json_pack("{s:o, s:o}", "command", al_json_string(step->words.items[0]),
                               "args", al_strings_of(&step->words, 1));

    for (size_t i = 0; i < AL_SHELL_STREAMS; i++) {
        const char *path = i == STDERR_FILENO && step->join ? "&1" : step->files[i];

        if (path)
            al_json_set(object, names[i], al_json_string(path));
        if (path && step->appends[i])
            al_json_set(object, "append", al_json_bool(true));
    }
    return object;
}

static int preview(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct bash_args *args = al_call_args(call);
    const struct al_shell *shell = al_call_session(call)->shell;
    const struct al_shell_plan *plan = al_call_tool_data(call);
    json_t *stages = al_json_array(), *names = al_json_array();

    (void)err;
    for (size_t i = 0; i < plan->nsteps; i++)
        al_json_append(stages, stage_object(&plan->steps[i]));
    for (size_t i = 0; i < shell->env.count; i++) /* their values may be private */
        al_json_append(names,
                       al_json_stringn(shell->env.items[i], strcspn(shell->env.items[i], "=")));
    al_result_set_structured(
        result, json_pack("{s:b, s:o, s:o, s:o, s:o}", "dry_run", true, "command",
                          al_json_string(args->command), "stages", stages, "cwd",
                          al_json_string(shell->options.roots->items[0].path), "env", names));
    result->dry_run = true;
    return 0;
}

/* The error message of a failed run; NULL: it succeeded.  Caller frees. */
static char *failure_of(const struct al_shell *shell, const struct al_shell_plan *plan,
                        const struct al_shell_outcome *outcome)
{
    const char *last = plan->steps[plan->nsteps - 1].words.items[0];
    const bool searches = al_shell_words_list(" grep egrep fgrep rg ", last);

    if (outcome->timed_out)
        return al_asprintf("command timeout after %us", (unsigned)shell->options.timeout_s);
    if (outcome->exit_code == 0)
        return NULL;
    return al_asprintf("command failed: exit code %d%s", outcome->exit_code,
                       searches && outcome->exit_code == 1 ? " (no match)" : "");
}

static int run(struct al_call *call, struct al_result *result, struct al_error *err)
{
    struct al_shell *shell = al_call_session(call)->shell;
    struct al_run_limits *budget = al_call_budget(call);
    al_auto(al_shell_outcome_clear) struct al_shell_outcome outcome = { .exit_code = -1 };
    struct al_str *out = &outcome.out.out, *errors = &outcome.err.out;
    al_auto(al_freep) char *error = NULL;
    int64_t began_ms = al_clock_ms();
    int r;

    result->confinement = shell->isolation == AL_ISOLATION_FIREJAIL ? "firejail"
                          : shell->isolation == AL_ISOLATION_NONE   ? "seccomp"
                                                                    : NULL; /* that of git */
    budget->left_ms = shell->options.timeout_s * 1000;
    r = al_shell_run(shell, al_call_tool_data(call), al_call_repo(call), budget,
                     al_call_max_bytes(call), &outcome, err);
    if (r < 0)
        return r;
    result->truncated = al_text_truncate(out, outcome.out.max_bytes);
    result->truncated |= al_text_truncate(errors, outcome.err.max_bytes);
    error = failure_of(shell, al_call_tool_data(call), &outcome);
    al_result_set_structured(
        result, json_pack("{s:s*, s:o, s:o, s:i, s:o*}", "error", error, "stdout",
                          al_json_stringn(out->buf, out->len), "stderr",
                          al_json_stringn(errors->buf, errors->len), "exit_code", outcome.exit_code,
                          "duration_ms", error ? NULL : al_json_int(al_clock_ms() - began_ms)));
    result->exit_code = outcome.exit_code;
    if (!error)
        return 0;
    return al_error_set_code(err, outcome.timed_out ? AL_ERR_TIMEOUT : AL_ERR_EXECUTION,
                             outcome.timed_out ? AL_CODE_TIMEOUT : AL_CODE_NONE, "%s", error);
}

static bool is_dry(const struct al_call *call, const void *args)
{
    (void)args;
    return !is_live(call);
}

/* A redirect may overwrite a file. */
#define RUNS (AL_READS | AL_WRITES_WORKTREE | AL_DISCARDS_WORK | AL_RUNS_PROGRAM | AL_WRITES_FILES)

/* The whitelist and --tool are the user's consent, so a live call asks only if a rule says so. */
static const struct al_operation operations[] = {
    { "preview", is_dry, AL_READS, preview, AL_ASKS_NEVER },
    { "run", NULL, RUNS, run, AL_ASKS_NEVER },
};

static void summarize(const struct al_call *call, struct al_str *out)
{
    const struct bash_args *args = al_call_args(call);

    al_str_addf(out, "%s %s (%s)", is_live(call) ? "Run" : "Preview", args->command, args->reason);
}

/* clang-format off */
static const char output_schema[] = AL_JSON([
    {
        "dry_run": true, "command": "",
        "stages": [{"command": "", "args": [""], "stdin?": "", "stdout?": "", "stderr?": "",
                    "append?": true}],
        "cwd": "", "env": [""]
    },
    {"stdout": "", "stderr": "", "exit_code": 1, "duration_ms": 1},
    {"error": "", "stdout": "", "stderr": "", "exit_code": 1}
]);
/* clang-format on */

const struct al_tool al_tool_bash_command = {
    .name = "bash_command",
    .title = "Run a command",
    .about =
        "Execute a bash command. Whitelist enforced. Shows preview in dry-run. No shell: pipes "
        "and redirects of ls, cat, grep, find, head, tail, wc, echo, pwd, date, go, and git "
        "(log, diff, show, status), unless configured otherwise.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct bash_args),
    .at_first_root = true,
    .authorize = authorize,
    .overwritten_files = overwritten_files,
    .summarize = summarize,
    .trace = trace,
    .timeout_ms = timeout_ms,
    .output_schema = output_schema,
};
