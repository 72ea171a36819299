// SPDX-License-Identifier: Apache-2.0
/* A tool of the client's own as one execution, which `airlock hook` begins and ends. */
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "call/call.h"
#include "git/repo/write_lock.h"
#include "guard/path.h"
#include "proc/hold.h"
#include "tools/commands/commands.h"

#define WHAT_MAX_BYTES 200u
#define DIR_MAX_BYTES  (64u << 10)

/* The time to begin in: the first checkpoint of a large repository takes minutes, and the next one
 * is fast if it is let end.  And that for the lock when the tool has ended. */
#define BEGIN_MS 600000
#define END_MS   60000

struct hook_args {
    const char *what, *file, *working_dir;
};

static const struct al_param params[] = {
    AL_STRING(struct hook_args, what, "The command or the file."),
    AL_STRING(struct hook_args, file, NULL, .flags = AL_PARAM_NAME, .max_bytes = DIR_MAX_BYTES),
    AL_STRING(struct hook_args, working_dir, NULL, .flags = AL_PARAM_NAME,
              .max_bytes = DIR_MAX_BYTES),
};

const char *al_hook_file(const json_t *input)
{
    const char *file = al_json_get_string(input, "file_path");

    return file ? file : al_json_get_string(input, "notebook_path");
}

/* The client's arguments are recorded; what is known of them is the command or the file, and where
 * this process is. */
static int expand(const struct al_session *session, const struct al_tool *tool, const json_t *given,
                  json_t **ret_arguments, struct al_error *err)
{
    const char *file = al_hook_file(given), *what = al_json_get_string(given, "command");
    al_auto(al_freep) char *here = getcwd(NULL, 0);

    (void)session;
    (void)tool;
    (void)err;
    if (!what)
        what = file ? file : "Run a tool of the client";
    *ret_arguments = al_json_object();
    al_json_set(*ret_arguments, "what",
                al_json_stringn(what, strlen(what) > WHAT_MAX_BYTES
                                          ? al_utf8_floor(what, WHAT_MAX_BYTES)
                                          : strlen(what)));
    if (file)
        al_json_set(*ret_arguments, "file", al_json_name(file));
    if (here)
        al_json_set(*ret_arguments, "working_dir", al_json_name(here));
    return 0;
}

static int open_repository(struct al_call *call, struct al_repo **ret_repo, struct al_error *err)
{
    const struct hook_args *args = al_call_args(call);

    return al_shell_open(call, args->working_dir, ret_repo, err);
}

static void add_path(const struct al_repo *repo, const char *abs, struct al_strv *out)
{
    const char *below = repo ? al_fs_beneath(repo->at.top, abs) : NULL;

    al_strv_add(out, below ? below : abs);
}

/* The path that rules look at: that of the file, and where it leads to; else every one. */
static int policy_paths(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct hook_args *args = al_call_args(call);
    const struct al_roots *roots = al_call_session(call)->roots;
    const char *slash = args->file ? strrchr(args->file, '/') : NULL;
    al_auto(al_freep) char *dir =
        slash ? al_strndup(args->file, (size_t)(slash - args->file) + 1) : al_strdup(".");
    al_auto(al_path_clear) struct al_path parent = AL_PATH_INIT, path = AL_PATH_INIT;

    (void)err;
    if (args->file && args->working_dir &&
        al_path_resolve(roots, args->working_dir, dir, &parent, NULL) == 0 &&
        al_path_resolve(roots, args->working_dir, args->file, &path, NULL) == 0) {
        al_auto(al_freep) char *named = al_fs_join(parent.abs, slash ? slash + 1 : args->file);

        add_path(al_call_repo(call), named, out);
        add_path(al_call_repo(call), path.abs, out);
    } else {
        al_strv_add(out, "");
    }
    return 0;
}

/* The write lock is free meanwhile: the tool may call airlock itself, and take hours. */
static int hold(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct al_git_shell *shell = al_call_session(call)->caller_shell;
    struct al_repo *repo = al_call_repo(call);
    const int64_t began_ms = al_clock_ms();

    al_write_lock_release(repo);
    result->confinement = "none";
    if (al_hold_is_over()) /* not a timeout, which names the time of the whole call */
        return al_error_set(err, AL_ERR_EXECUTION,
                            "The checkpoint took so long that the tool ran without it");
    (void)al_write_all(shell->out_fd, AL_HOOK_READY, strlen(AL_HOOK_READY));
    al_call_expect_changes(call);
    result->interrupted = al_hold_wait() == AL_HOLD_DROPPED;
    al_str_addf(&result->text, "%s after %.1f s",
                result->interrupted ? "no end was seen, and it is taken as interrupted" : "ended",
                (double)(al_clock_ms() - began_ms) / 1000);
    al_call_budget(call)->left_ms = END_MS;
    return repo && !al_repo_is_gone(repo) ? al_write_lock_acquire(repo, al_call_budget(call), err)
                                          : 0;
}

static int64_t timeout_ms(const struct al_session *session)
{
    (void)session;
    return BEGIN_MS;
}

/* It is the client that asks its user. */
static const struct al_operation operations[] = {
    { AL_HOOK_OPERATION, NULL,
      AL_READS | AL_WRITES_WORKTREE | AL_DISCARDS_WORK | AL_RUNS_PROGRAM | AL_WRITES_FILES, hold,
      AL_ASKS_ELSEWHERE },
};

const struct al_tool al_tool_commands_hook = {
    .name = "hook",
    .title = "Run a tool of the client",
    .about = "Run a tool of the client's own as one execution, between two checkpoints.",
    AL_TOOL_ROWS(params, operations),
    .args_size = sizeof(struct hook_args),
    .working_dir_offset = offsetof(struct hook_args, working_dir),
    .runs_at_top = true,
    .expand = expand,
    .open_repository = open_repository,
    .tells_changes = true,
    .timeout_ms = timeout_ms,
    .policy_paths = policy_paths,
    .summary = "{what}",
};
