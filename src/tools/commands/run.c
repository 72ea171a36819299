// SPDX-License-Identifier: Apache-2.0
/* run: any command as one execution, between two checkpoints; or a checkpoint by hand. */

#include "base/clock.h"
#include "call/call.h"
#include "git/repo/write_lock.h"
#include "proc/foreground.h"
#include "tools/commands/commands.h"

struct run_args {
    struct al_strv command;
    const char *label, *working_dir;
    bool confine, network;
};

static const struct al_param params[] = {
    AL_STRINGS(struct run_args, command, "The program and its arguments; none: only a checkpoint.",
               .max_bytes = 1u << 20),
    AL_STRING(struct run_args, label, "A name to go back to; no number or time.", .max_bytes = 100),
    AL_BOOL(struct run_args, confine, "Keep it to the system and the root, in a sandbox."),
    AL_BOOL(struct run_args, network, "Let it use the network there."),
    AL_STRING(struct run_args, working_dir, NULL, .flags = AL_PARAM_NAME, .max_bytes = 64u << 10),
};

static int check(void *p, struct al_error *err)
{
    const struct run_args *args = p;

    if (args->network && !args->confine)
        return al_error_set(err, AL_ERR_BAD_ARGS, "--network is an option of --confine");
    return 0;
}

/* The root that a sandbox keeps the command to; NULL: this directory is in none. */
static const struct al_root *root_of(const struct al_call *call, const struct run_args *args)
{
    const struct al_roots *roots = al_call_session(call)->roots;

    return args->working_dir ? al_roots_find(roots, args->working_dir) : &roots->items[0];
}

/* Where a sandbox is asked for, nothing begins without one. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct run_args *args = al_call_args(call);
    const struct al_session *session = al_call_session(call);
    char *bubblewrap = NULL;
    int r;

    if (!args->confine)
        return 0;
    if (!root_of(call, args))
        return al_error_set(err, AL_ERR_SANDBOX,
                            "--confine keeps a command to a root, and this directory is in none");
    r = al_confine_find(session->caller_shell, session->roots, args->network, &bubblewrap, err);
    if (r == 0)
        al_call_set_tool_data(call, bubblewrap, free);
    return r;
}

static int snapshot(struct al_call *call, struct al_result *result, struct al_error *err)
{
    if (!al_call_repo(call))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "There is no repository here, and nothing to take a checkpoint of");
    al_str_adds(&result->text, "checkpoint taken");
    return 0;
}

/* The write lock is free meanwhile: the command may call airlock itself, and take hours. */
static int run(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct run_args *args = al_call_args(call);
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv notes = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    const int64_t began_ms = al_clock_ms();
    int code = 0, r;

    al_write_lock_release(repo);
    r = args->confine ? al_confine_run(al_call_tool_data(call), root_of(call, args),
                                       al_call_session(call)->caller_shell, &args->command,
                                       args->network, &code, &notes, err)
                      : al_proc_run_foreground(args->command.items, NULL, NULL, &code, &why);
    for (size_t i = 0; i < notes.count; i++)
        al_result_note(result, notes.items[i]);
    if (r < 0 && args->confine)
        return r;
    if (r < 0) {
        al_auto(al_freep) char *line = al_text_join_lines(why.message);

        al_result_note(result, line);
    }
    result->confinement = args->confine ? "bubblewrap" : "none";
    result->exit_code = code;
    al_str_addf(&result->text, "exit status %d after %.1f s", code,
                (double)(al_clock_ms() - began_ms) / 1000);
    return repo && !al_repo_is_gone(repo) ? al_write_lock_acquire(repo, al_call_budget(call), err)
                                          : 0;
}

static void summarize(const struct al_call *call, struct al_str *out)
{
    const struct run_args *args = al_call_args(call);

    al_str_adds(out, args->command.count ? "Run" : "Take a checkpoint");
    for (size_t i = 0; i < args->command.count; i++)
        al_shell_words_add(out, args->command.items[i]);
    if (args->label)
        al_str_addf(out, " (%s)", args->label);
}

AL_WHEN(is_snapshot, struct run_args, !args->command.count)

#define RUNS (AL_READS | AL_WRITES_WORKTREE | AL_DISCARDS_WORK | AL_RUNS_PROGRAM | AL_WRITES_FILES)

/* It is the user's own command, or that of an agent with a shell, which has no need of airlock. */
static const struct al_operation operations[] = {
    { "snapshot", is_snapshot, AL_WRITES_WORKTREE | AL_WRITES_FILES, snapshot, AL_ASKS_ELSEWHERE },
    { "run", NULL, RUNS, run, AL_ASKS_NEVER },
};

const struct al_tool al_tool_commands_run = {
    .name = "run",
    .title = "Run a command",
    .about = "Run any command of a shell as one execution between two checkpoints.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct run_args),
    .working_dir_offset = offsetof(struct run_args, working_dir),
    .runs_at_top = true,
    .at_first_root = true,
    .tells_changes = true,
    .check = check,
    .timeout_ms = al_shell_timeout_ms,
    .authorize = authorize,
    .summarize = summarize,
};
