// SPDX-License-Identifier: Apache-2.0
/*
 * airlock hook CLIENT: an event of a client's own hooks on standard input, the answer on standard
 * output.
 *
 * - A session begins: the model is told, the client's shell gets its PATH, and a checkpoint is
 * taken in the background.
 * - Before a tool: a process is left behind whose call is the execution.  It takes a checkpoint,
 * and waits.
 * - After the tool: that process is told to end, and takes the other checkpoint.
 * - After a turn: so are those of the session that still wait, as interrupted ones.
 * - A worktree: git_worktree makes it, and the answer is its path, or removes it.
 *
 * The client goes on after TIME_MS at the latest, whatever happens here; but for a worktree,
 * without which it cannot.
 *
 * Source: the clients' own documentation of their hooks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/install/clients.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "git/command.h"
#include "git/plumbing/revision.h"
#include "git/repo/repo.h"
#include "guard/redact.h"
#include "guard/root.h"
#include "guard/text.h"
#include "history/journal.h"
#include "proc/hold.h"
#include "tools/commands/commands.h"
#include "tools/toolsets.h"
#include "verbs/worktree/find.h"

#define TIME_MS         1800
#define LOOK_MS         10000
#define EVENT_MAX_BYTES (64u << 20)
#define WAITING_MAX     64

/* The member of an event that names a subagent of the session.  The input has it, too. */
#define AGENT "agent_id"

/* The distance back in the journal at which the call of an event is looked for. */
#define READ_BACK_BYTES (1u << 20)

/* One event.  Strings are borrowed from it. */
struct hook {
    const struct al_options *options;
    struct al_setup setup;
    const struct al_client *client;
    int64_t deadline_ms;
    json_t *event;
    enum al_event kind;
    const char *name, *session, *tool, *call_id;
    char *hashed;  /* the session, if its id is none for the journal; owned */
    json_t *input; /* of the tool, as the model gave it; owned; NULL: none */
};

/* --- The answer --- */

/* Answer with members of the event's own, which are taken over. */
static void print_own(const struct hook *hook, json_t *own)
{
    al_json_set(own, "hookEventName", al_json_string(hook->name));
    al_cli_print_json(json_pack("{s:o}", "hookSpecificOutput", own));
}

/* Tell the model something. */
static void tell(const struct hook *hook, const char *text)
{
    print_own(hook, json_pack("{s:o}", "additionalContext", al_json_string(text)));
}

static void deny(const struct hook *hook, const char *why)
{
    if (hook->client->hooks->denies_plainly)
        al_cli_print_json(
            json_pack("{s:s, s:o}", "decision", "deny", "reason", al_json_string(why)));
    else
        print_own(hook, json_pack("{s:s, s:o}", "permissionDecision", "deny",
                                  "permissionDecisionReason", al_json_string(why)));
}

/* --- The client's shell --- */

/* The lines of a shell after which airlock is its git, and knows the session; NULL: this program is
 * not installed. */
static char *exports_of(const struct hook *hook)
{
    al_auto(al_freep) char *shim = al_client_shim(false);
    al_auto(al_str_clear) struct al_str word = AL_STR_INIT;

    if (!shim)
        return NULL;
    al_text_add_word(shim, &word); /* with a space before it */
    return al_asprintf("export PATH=%s:$PATH AIRLOCK_AGENT=%s%s%s\n", word.buf + 1,
                       hook->client->name, hook->session ? " AIRLOCK_SESSION=" : "",
                       hook->session ? hook->session : "");
}

/* Have the client run the command with these lines before it. */
static void rewrite(const struct hook *hook)
{
    const char *command = al_json_get_string(hook->input, "command");
    al_auto(al_freep) char *exports = command ? exports_of(hook) : NULL;
    al_auto(al_freep) char *text = exports ? al_asprintf("%s%s", exports, command) : NULL;
    json_t *input;

    if (!text)
        return;
    input = json_deep_copy(hook->input); /* it is taken in place of the one that the model gave */
    al_json_set(input, "command", al_json_string(text));
    print_own(hook, json_pack("{s:o}", "tool_input", input));
}

/* Take these lines away again: the event after the tool may have the one or the other. */
static void undo_rewrite(struct hook *hook)
{
    const char *command = al_json_get_string(hook->input, "command");
    al_auto(al_freep) char *exports = command ? exports_of(hook) : NULL;

    if (exports && al_starts_with(command, exports))
        al_json_set(hook->input, "command", al_json_string(command + strlen(exports)));
}

/* --- The call --- */

/* Open the session of the event, with the streams of a shell if there are any.  A worktree is made
 * for a session, which takes back only what it does itself. */
static int open_session(struct hook *hook, const struct al_git_shell *shell, struct al_error *err)
{
    const char *session = hook->kind == AL_EVENT_ADD ? NULL : hook->session;
    struct al_setup *setup = &hook->setup;
    int r;

    setup->session.caller_shell = shell;
    setup->serves_shell = true;
    r = al_setup_tools(setup, err);
    for (const struct al_shell_session *at = al_shell_sessions; at->variable; at++)
        (void)unsetenv(at->variable); /* what the event says counts */
    if (session)
        (void)setenv(al_shell_sessions->variable, session, 1);
    if (r == 0)
        r = al_setup_session(setup, err);
    if (r == 0)
        al_setup_one_call(setup);
    return r;
}

static void make_call(struct hook *hook, const char *toolset, const struct al_tool *tool,
                      const json_t *arguments, struct al_result *result)
{
    const struct al_listed_tool listed = {
        .tool = tool,
        .toolset = al_toolset_find(al_toolsets(), toolset),
    };

    al_call_run(&hook->setup.session,
                &(struct al_call_input){ .tool = &listed,
                                         .arguments = arguments,
                                         .client = hook->client->name,
                                         .call_id = hook->call_id,
                                         .client_tool = hook->tool },
                result);
}

static bool is_covered(const struct hook *hook)
{
    al_auto(al_freep) char *here = getcwd(NULL, 0);
    al_auto(al_freep) char *top = here ? al_environment_repository(here) : NULL;

    return top && al_roots_find(&hook->setup.roots, here);
}

static void run_held(struct hook *hook, const struct al_tool *tool, const json_t *arguments, int fd)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    const struct al_git_shell shell = { .in_fd = -1, .out_fd = fd, .err_fd = -1, .env = &env };
    int r = open_session(hook, &shell, &err);

    if (r == 0 && hook->kind == AL_EVENT_START && is_covered(hook))
        (void)al_write_all(fd, AL_HOOK_READY, strlen(AL_HOOK_READY));
    if (r == 0)
        make_call(hook, "commands", tool, arguments, &result);
    if (r < 0 || result.status != AL_OK) /* why nothing is held, for the one that waits */
        (void)dprintf(fd, "%d %s", r < 0 ? r : (int)result.status,
                      r < 0 ? err.message : result.text.buf);
    al_close(fd);
}

/* --- Events --- */

/* Nothing is held, for this reason. */
static void fail(const struct hook *hook, const char *why)
{
    al_auto(al_freep) char *line = al_text_join_lines(why);
    al_auto(al_freep) char *text =
        al_asprintf("airlock has no checkpoint from before this: %s", line);

    if (hook->setup.config.hooks.on_failure == AL_HOOK_FAILURE_DENY)
        deny(hook, text);
    else
        al_log_note("%s", text);
}

/* Read what the held process says.  True: the tool may begin. */
static bool await_end(const struct hook *hook, pid_t pid, int fd)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char buf[4096], *why;
    ssize_t n = 1;
    long status;

    while (n > 0 && text.len < sizeof(buf) && strcmp(text.buf, AL_HOOK_READY) != 0) {
        if (!al_hold_await(fd, hook->deadline_ms)) {
            al_close(al_hold_end(pid, AL_HOLD_DROPPED));
            fail(hook, "it took too long");
            return false;
        }
        n = read(fd, buf, sizeof(buf));
        al_str_add(&text, buf, n > 0 ? (size_t)n : 0);
    }
    if (!strcmp(text.buf, AL_HOOK_READY))
        return true;
    status = strtol(text.buf, &why, 10);
    why += strspn(why, " ");
    if (status == AL_ERR_APPROVAL_DENIED || status == AL_ERR_NOT_GRANTED)
        deny(hook, why);
    else
        fail(hook, *why ? why : "airlock ended");
    return false;
}

/* Go to the file that the tool writes, or where its shell is. */
static bool change_directory(const struct hook *hook)
{
    const char *cwd = al_json_get_string(hook->event, "cwd");
    const char *file = al_hook_file(hook->input);
    al_auto(al_freep) char *dir = file && *file == '/' ? al_strdup(file) : NULL;

    while (dir && *dir) {
        *strrchr(dir, '/') = '\0';
        if (*dir && chdir(dir) == 0)
            return true;
    }
    return cwd && *cwd == '/' && chdir(cwd) == 0;
}

/* The process that made the socket which is the standard input of this one, whoever passed that on.
 * 0: it is no socket, but a pipe, which does not tell. */
static pid_t find_client(void)
{
    struct ucred peer = { .pid = 0 };
    socklen_t len = sizeof(peer);

    return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ? 0 : peer.pid;
}

static void begin(struct hook *hook)
{
    int fd = -1;
    pid_t pid;

    if (!change_directory(hook)) {
        fail(hook, "its directory cannot be entered");
        return;
    }
    pid = al_hold_begin(find_client(), &fd);
    if (pid == 0) {
        run_held(hook, &al_tool_commands_hook, hook->input, fd);
    } else if (pid > 0) {
        if (await_end(hook, pid, fd) && hook->client->hooks->rewrites)
            rewrite(hook);
        al_close(fd);
    } else {
        fail(hook, strerrordesc_np((int)-pid));
    }
}

/* Executions of the session that wait for their end. */
struct waiting {
    const struct hook *hook;
    const json_t *input; /* as the journal has it */
    long pid[WAITING_MAX];
    size_t count;
    char *newest; /* when the one of a call without an id began, the newest so far */
};

/* Both have this member, or neither. */
static bool is_member(const json_t *call, const char *name, const char *value)
{
    const char *its = al_json_get_string(call, name);

    return its && value ? !strcmp(its, value) : its == value;
}

/* The one of this call; or all of the session after a turn.  Two calls of one input are the same
 * without an id, and the newest one counts. */
static void take_waiting(void *payload, long pid, const json_t *call)
{
    struct waiting *waiting = payload;
    const struct hook *hook = waiting->hook;
    const char *time = al_json_get_string(call, "time");

    if (!is_member(call, "operation", AL_HOOK_OPERATION) ||
        !is_member(call, "conversation_id", hook->session) || !time ||
        waiting->count == AL_COUNT(waiting->pid))
        return;
    /* A turn of an agent ends without those of its subagents. */
    if (hook->kind == AL_EVENT_CLOSE &&
        !is_member(json_object_get(call, "input"), AGENT, al_json_get_string(hook->event, AGENT)))
        return;
    if (hook->tool && hook->call_id && !is_member(call, "call_id", hook->call_id))
        return;
    if (hook->tool && !hook->call_id) {
        if (!is_member(call, "tool", hook->tool) ||
            !json_equal(json_object_get(call, "input"), waiting->input) ||
            (waiting->newest && strcmp(time, waiting->newest) < 0))
            return;
        free(waiting->newest);
        waiting->newest = al_strdup(time);
        waiting->count = 0;
    }
    waiting->pid[waiting->count++] = pid;
}

/* Tell those that wait to end, and wait for it as long as there is time.  Their number, but for
 * those that the tool did not wait for. */
static size_t end_waiting(const struct hook *hook, enum al_hold_end how)
{
    al_auto(al_json_decrefp) json_t *input = hook->tool ? al_redact_input(hook->input, NULL) : NULL;
    struct waiting waiting = { .hook = hook, .input = input };
    int fds[WAITING_MAX];
    size_t count = 0;

    (void)al_journal_running(hook->setup.journal_file, take_waiting, &waiting);
    free(waiting.newest);
    for (size_t i = 0; i < waiting.count; i++)
        fds[i] = al_hold_end((pid_t)waiting.pid[i], how);
    for (size_t i = 0; i < waiting.count; i++) {
        count += fds[i] >= 0;
        if (fds[i] >= 0)
            (void)al_hold_await(fds[i], hook->deadline_ms);
        al_close(fds[i]);
    }
    return count;
}

/* Whether a word of the command is another git, by its path.  This is advice, and no boundary. */
static bool names_other_git(const char *command)
{
    static const char space[] = " \t\n;&|()`\"'";

    while (command && *(command += strspn(command, space))) {
        const size_t len = strcspn(command, space);

        if (*command == '/' && len > 4 && !strncmp(command + len - 4, "/git", 4))
            return true;
        command += len;
    }
    return false;
}

/* Whether the call of the event was taken as interrupted already. */
static bool was_closed(const struct hook *hook)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    bool found = false;
    const char *text;
    size_t len;

    if (hook->call_id && al_history_open(hook->setup.journal_file, &history) == 0) {
        (void)al_history_skip_old(&history, READ_BACK_BYTES);
        while (al_history_next(&history, &text, &len) > 0) {
            al_auto(al_json_decrefp) json_t *line =
                strstr(text, hook->call_id) ? json_loadb(text, len, JSON_ALLOW_NUL, NULL) : NULL;

            found |= is_member(line, "call_id", hook->call_id) &&
                     is_member(line, "conversation_id", hook->session) &&
                     is_member(line, "outcome", "interrupted") &&
                     al_json_get_string(line, "git_commit"); /* its checkpoint */
        }
    }
    return found;
}

static void end(const struct hook *hook)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *shim = al_client_shim(false);

    if (!end_waiting(hook, AL_HOLD_ENDED))
        al_str_adds(&text,
                    was_closed(hook)
                        ? "airlock took this as interrupted before it ended: what it changed "
                          "after that is in no execution."
                        : "airlock took no checkpoint before this, so it cannot undo it.");
    if (shim && names_other_git(al_json_get_string(hook->input, "command")))
        al_str_addf(&text, "%sCall git by its name alone: that one is airlock's.",
                    text.len ? " " : "");
    if (text.len)
        tell(hook, text.buf);
}

/* --- The session's start --- */

static bool append(const char *path, const char *text)
{
    al_auto(al_closep) int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    return fd >= 0 && al_write_all(fd, text, strlen(text)) == 0;
}

/* A client may begin another session, and keeps its servers, which were told of the first one. */
static void note_session(const struct hook *hook)
{
    al_auto(al_freep) char *dir = al_fs_join(hook->setup.state_dir, "sessions");
    al_auto(al_freep) char *path = al_setup_client_file(&hook->setup, find_client());
    al_auto(al_freep) char *line = al_asprintf("%s\n", hook->session);

    if (hook->session && find_client() > 0 && al_fs_mkdirs(dir, 0700) == 0)
        (void)append(path, line);
}

static void start(struct hook *hook)
{
    static const char about[] =
        "airlock takes a checkpoint before and after each shell command and edit here, so that all "
        "of it can be undone: %s. Files that git ignores are in no checkpoint.%s";
    static const char about_git[] = " git in this shell is airlock's: it is used as ever, runs "
                                    "nothing that a repository names, and may ask the user.";
    al_auto(al_freep) char *exports = exports_of(hook);
    al_auto(al_freep) char *text = NULL;
    static const char about_none[] =
        "airlock takes no checkpoints in this directory, but in repositories inside of its roots "
        "alone: what shell commands and edits change here cannot be undone.%s";
    al_auto(al_json_decrefp) json_t *arguments = al_json_object();
    al_auto(al_freep) char *here = change_directory(hook) ? getcwd(NULL, 0) : NULL;
    const char *file = al_environment_get("CLAUDE_ENV_FILE"); /* which its shell reads */
    char said[sizeof(AL_HOOK_READY) - 1];
    int fd = -1;
    bool is_git, is_none = false;
    pid_t pid;

    note_session(hook);
    if (!here)
        return;
    al_json_set(arguments, "working_dir", al_json_name(here));
    pid = al_hold_begin(find_client(), &fd);
    if (pid == 0) {
        run_held(hook, &al_tool_commands_run, arguments, fd);
        return;
    }
    if (pid > 0 && al_hold_await(fd, hook->deadline_ms))
        is_none = read(fd, said, sizeof(said)) != sizeof(said) ||
                  memcmp(said, AL_HOOK_READY, sizeof(said)) != 0;
    al_close(fd);
    is_git = exports && ((file && append(file, exports)) || hook->client->hooks->rewrites ||
                         hook->client->hooks->env_table);
    text = is_none ? al_asprintf(about_none, is_git ? about_git : "")
                   : al_asprintf(about,
                                 hook->client->hooks->shares_session
                                     ? "git_undo, or airlock rollback for the user"
                                     : "the user can run airlock rollback",
                                 is_git ? about_git : "");
    tell(hook, text);
}

/* --- Worktrees --- */

/* Find out what git_worktree is asked for, and whether it is there already. */
static int find_worktree(const struct hook *hook, json_t *arguments,
                         struct al_worktree_found *found, struct al_error *err)
{
    const bool adds = hook->kind == AL_EVENT_ADD;
    const json_t *given = json_object_get(hook->event, adds ? "name" : "worktree_path");
    const char *text = json_string_value(given);
    const char *name = text && strlen(text) == json_string_length(given) ? text : NULL;
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_freep) char *here = getcwd(NULL, 0);
    al_auto(al_freep) char *branch = NULL;
    al_auto(al_freep) char *oid = NULL;
    struct al_run_limits limits = { .left_ms = LOOK_MS, .exit_code = -1 };
    struct al_repo *repo = NULL;
    int r = al_repo_open(hook->setup.session.git, here ? here : "/", ".", &limits, &repo, err);

    if (r == 0)
        r = al_worktree_place_find(repo, false, &place, err);
    if (r == 0 && !adds && name)
        name = al_fs_beneath(place.dir, name);
    if (r == 0)
        r = al_worktree_check_name(adds ? "name" : "worktree_path", name ? name : "", err);
    if (r == 0)
        r = al_worktree_find(repo, &place, name, found, err);
    if (r == 0) {
        al_json_set(arguments, "action", al_json_string(adds ? "add" : "remove"));
        al_json_set(arguments, "name", al_json_string(name));
        al_json_set(arguments, "working_dir", al_json_name(here));
        branch = al_asprintf("refs/heads/%s", name); /* that of an earlier one */
    }
    if (r == 0 && adds && al_git_resolve_commit(repo, branch, &oid, NULL) == 0)
        al_json_set(arguments, "branch", al_json_string(name));
    al_repo_free(repo);
    return r;
}

/* The exit code: after a failure the client does not go on somewhere else, or keeps it. */
static int change_worktree(struct hook *hook)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_json_decrefp) json_t *arguments = al_json_object();
    const char *path = al_json_get_string(hook->event, "worktree_path");
    al_auto(al_freep) char *here = change_directory(hook) ? getcwd(NULL, 0) : NULL;
    const bool adds = hook->kind == AL_EVENT_ADD;
    int r;

    if (path && here && al_fs_beneath(path, here)) /* no call removes where it is made */
        (void)(chdir(path) == 0 && chdir("..") == 0);
    r = open_session(hook, NULL, &err);
    if (r == 0)
        r = find_worktree(hook, arguments, &found, &err);
    if (r == 0 && !(adds && found.is_whole)) {
        make_call(hook, "parallel", &al_tool_git_worktree, arguments, &result);
        r = result.status;
    }
    if (r < 0 && err.message)
        (void)al_cli_fail(&err);
    else if (r < 0)
        al_log_note("%s", result.text.buf);
    else if (adds)
        (void)dprintf(STDOUT_FILENO, "%s\n", found.top);
    return r < 0 ? AL_EXIT_FAILED : AL_EXIT_OK;
}

/* --- The command --- */

/* Standard input to its end.  False: it is too long, or did not end in time. */
static bool read_event(struct hook *hook)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char buf[65536];
    ssize_t n = 1;

    while (n > 0 && text.len <= EVENT_MAX_BYTES) {
        if (!al_hold_await(STDIN_FILENO, hook->deadline_ms))
            return false;
        n = read(STDIN_FILENO, buf, sizeof(buf));
        al_str_add(&text, buf, n > 0 ? (size_t)n : 0);
    }
    if (n > 0)
        al_log_note("an event of more than 64 MB is not read");
    hook->event = n == 0 ? json_loadb(text.buf, text.len, JSON_ALLOW_NUL, NULL) : NULL;
    return json_is_object(hook->event);
}

static void take_members(struct hook *hook)
{
    const json_t *id = json_object_get(hook->event, "session_id"),
                 *agent = json_object_get(hook->event, AGENT),
                 *input = json_object_get(hook->event, "tool_input");
    const char *session = al_json_get_string(hook->event, "session_id");
    const char *call_id = al_json_get_string(hook->event, "tool_use_id");
    const struct al_client_event *at = hook->client->hooks->events;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    hook->name = al_json_get_string(hook->event, "hook_event_name");
    hook->tool = al_json_get_string(hook->event, "tool_name");
    if (json_is_object(input))
        hook->input = json_deep_copy(input);
    if (al_journal_is_id(session))
        hook->session = session;
    else if (id)
        al_json_dump(id, false, &text);
    if (text.len) /* an id that the journal can have in its place */
        hook->session = hook->hashed = al_sha256(text.buf, text.len);
    if (al_journal_is_id(call_id))
        hook->call_id = call_id;
    if (hook->input && json_is_string(agent))
        al_json_set(hook->input, AGENT, json_deep_copy(agent));
    while (at->name && (!hook->name || strcmp(at->name, hook->name) != 0))
        at++;
    hook->kind = at->event;
    if (hook->client->hooks->rewrites)
        undo_rewrite(hook);
}

/* A configuration that cannot be read does not tell what a failure means. */
static int fail_without(struct hook *hook, const char *why)
{
    al_log_note("%s", why);
    hook->setup.config.hooks.on_failure = AL_HOOK_FAILURE_DENY;
    if (hook->kind == AL_EVENT_BEFORE)
        fail(hook, why);
    return hook->kind == AL_EVENT_ADD || hook->kind == AL_EVENT_REMOVE ? AL_EXIT_FAILED
                                                                       : AL_EXIT_OK;
}

/* Whether a tool of the client can change files, and is not airlock's own. */
static bool changes_files(const struct al_client *client, const char *tool)
{
    al_auto(al_freep) char *text = al_strdup(client->hooks->tools);
    al_auto(al_strv_clear) struct al_strv tools = AL_STRV_INIT;

    al_strv_split(&tools, text, "|");
    return al_strv_contains(&tools, tool);
}

static int answer(struct hook *hook)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *always = NULL;
    const enum al_event event = hook->kind;
    int code = AL_EXIT_OK;

    if (event == AL_EVENT_NONE || ((event == AL_EVENT_BEFORE || event == AL_EVENT_AFTER) &&
                                   !(hook->tool && changes_files(hook->client, hook->tool))))
        return AL_EXIT_OK;
    if (al_setup_config(&hook->setup, hook->options, &err) < 0)
        code = fail_without(hook, err.message);
    else if (event == AL_EVENT_START)
        start(hook);
    else if (event == AL_EVENT_BEFORE)
        begin(hook);
    else if (event == AL_EVENT_AFTER)
        end(hook);
    else if (event == AL_EVENT_ADD || event == AL_EVENT_REMOVE)
        code = change_worktree(hook);
    else
        (void)end_waiting(hook, AL_HOLD_DROPPED);
    always = event == AL_EVENT_END ? al_setup_always_file(&hook->setup, hook->session) : NULL;
    if (always)
        (void)unlink(always);
    al_setup_clear(&hook->setup);
    return code;
}

int al_cmd_hook(struct al_options *options, int argc, char **argv)
{
    struct hook hook = { .options = options, .deadline_ms = al_clock_ms() + TIME_MS };
    const char *nearest = NULL;
    int code = AL_EXIT_OK;

    hook.client = argc == 1 ? al_client_find(argv[0], &nearest) : NULL;
    if (!hook.client || !hook.client->hooks) {
        al_log_note("hook needs a client that has hooks: claude-code, codex or gemini");
        return AL_EXIT_FAILED; /* 2 would tell the client to stop what it does */
    }
    if (read_event(&hook)) {
        take_members(&hook);
        code = answer(&hook);
    }
    json_decref(hook.input);
    json_decref(hook.event);
    free(hook.hashed);
    return code;
}
