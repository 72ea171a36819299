// SPDX-License-Identifier: Apache-2.0
/*
 * Source: the clients' own documentation of their MCP settings.
 */
#include "cli/install/clients.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/nearest.h"
#include "call/call.h"
#include "tools/commands/commands.h"

static const struct al_client_hooks claude_hooks = {
    .events = { { "SessionStart", AL_EVENT_START },
                { "PreToolUse", AL_EVENT_BEFORE },
                { "PreSkillShellCommand", AL_EVENT_BEFORE }, /* ends with the batch or the turn */
                { "PostToolUse", AL_EVENT_AFTER },
                { "PostToolUseFailure", AL_EVENT_AFTER },
                { "PostToolBatch", AL_EVENT_CLOSE },
                { "UserPromptSubmit", AL_EVENT_CLOSE },
                { "SubagentStop", AL_EVENT_CLOSE },
                { "Stop", AL_EVENT_CLOSE },
                { "StopFailure", AL_EVENT_CLOSE },
                { "SessionEnd", AL_EVENT_END },
                { "WorktreeCreate", AL_EVENT_ADD },
                { "WorktreeRemove", AL_EVENT_REMOVE } },
    .file = ".claude/settings.json",
    .has_rules = true,
    .shares_session = true,
    .tools = "Bash|PowerShell|Monitor|Edit|MultiEdit|Write|NotebookEdit",
    .timeout = 10,
};

static const struct al_client_hooks codex_hooks = {
    .events = { { "SessionStart", AL_EVENT_START },
                { "PreToolUse", AL_EVENT_BEFORE },
                { "PostToolUse", AL_EVENT_AFTER },
                { "UserPromptSubmit", AL_EVENT_CLOSE },
                { "SubagentStop", AL_EVENT_CLOSE },
                { "Interrupt", AL_EVENT_CLOSE },
                { "Stop", AL_EVENT_CLOSE },
                { "SessionEnd", AL_EVENT_END } },
    .file = ".codex/hooks.json",
    .shares_session = true,
    .tools = "Bash|apply_patch",
    .timeout = 3, /* more is too long for some events */
    .env_table = "shell_environment_policy.set",
    .needs_trust = true,
};

static const struct al_client_hooks gemini_hooks = {
    .events = { { "SessionStart", AL_EVENT_START },
                { "BeforeTool", AL_EVENT_BEFORE },
                { "AfterTool", AL_EVENT_AFTER },
                { "BeforeAgent", AL_EVENT_CLOSE },
                { "AfterAgent", AL_EVENT_CLOSE },
                { "SessionEnd", AL_EVENT_END } },
    .file = ".gemini/settings.json",
    .tools = "run_shell_command|write_file|replace",
    .timeout = 10000,
    .denies_plainly = true,
    .rewrites = true,
};

static const struct al_client clients[] = {
    { .name = "claude-code",
      .title = "Claude Code",
      .project_file = ".mcp.json",
      .user_file = ".claude.json",
      .path = { "mcpServers", AL_CLIENT_ENTRY },
      .hooks = &claude_hooks },
    { .name = "claude-desktop",
      .title = "Claude Desktop",
      .user_file = ".config/Claude/claude_desktop_config.json",
      .path = { "mcpServers", AL_CLIENT_ENTRY } },
    { .name = "codex",
      .title = "Codex",
      .project_file = ".codex/config.toml",
      .user_file = ".codex/config.toml",
      .is_toml = true,
      .hooks = &codex_hooks,
      .more = "{\"tool_timeout_sec\": 600}",
      /* so that a user can answer a question */ },
    { .name = "cursor",
      .title = "Cursor",
      .project_file = ".cursor/mcp.json",
      .user_file = ".cursor/mcp.json",
      .path = { "mcpServers", AL_CLIENT_ENTRY },
      .root = "${workspaceFolder}" },
    { .name = "gemini",
      .title = "Gemini CLI",
      .project_file = ".gemini/settings.json",
      .user_file = ".gemini/settings.json",
      .path = { "mcpServers", AL_CLIENT_ENTRY },
      .hooks = &gemini_hooks },
    { .name = "opencode",
      .title = "opencode",
      .project_file = "opencode.json",
      .user_file = ".config/opencode/opencode.json",
      .path = { "mcp", AL_CLIENT_ENTRY },
      .first = "{\"type\": \"local\"}",
      .more = "{\"enabled\": true}",
      .one_list = true },
    { .name = "vscode",
      .title = "VS Code",
      .project_file = ".vscode/mcp.json",
      .user_file = ".config/Code/User/mcp.json",
      .path = { "servers", AL_CLIENT_ENTRY },
      .first = "{\"type\": \"stdio\"}",
      .root = "${workspaceFolder}" },
    { .name = "zed",
      .title = "Zed",
      .project_file = ".zed/settings.json",
      .user_file = ".config/zed/settings.json",
      .path = { "context_servers", AL_CLIENT_ENTRY },
      .first = "{\"source\": \"custom\"}",
      .more = "{\"env\": {}}" },
};

const struct al_client *al_clients(size_t *ret_count)
{
    *ret_count = AL_COUNT(clients);
    return clients;
}

const struct al_client *al_client_find(const char *name, const char **ret_nearest)
{
    struct al_nearest nearest = { .word = name };

    for (size_t i = 0; i < AL_COUNT(clients); i++) {
        if (!strcmp(clients[i].name, name))
            return &clients[i];
        al_nearest_offer(&nearest, clients[i].name);
    }
    *ret_nearest = nearest.found;
    return NULL;
}

/* Whether a directory is there, or the one that it would be made in can be written. */
static bool can_be_made(const char *dir)
{
    al_auto(al_freep) char *at = al_strdup(dir);
    al_auto(al_freep) char *here = NULL;

    while (access(at, F_OK) < 0 && strrchr(at, '/') > at)
        *strrchr(at, '/') = '\0';
    here = al_fs_join(at, "."); /* which no file has */
    return access(here, W_OK) == 0;
}

char *al_client_shim(bool may_come)
{
    al_auto(al_freep) char *program = realpath("/proc/self/exe", NULL);
    al_auto(al_freep) char *dir = NULL;
    al_auto(al_freep) char *git = NULL;

    if (!program || !al_ends_with(program, "/bin/airlock"))
        return NULL;
    program[strlen(program) - strlen("/bin/airlock")] = '\0';
    dir = al_asprintf("%s/libexec/airlock/bin", program);
    git = al_fs_join(dir, "git");
    return access(git, X_OK) == 0 || (may_come && can_be_made(dir)) ? al_take(&dir) : NULL;
}

int al_client_make_shim(const char *dir, struct al_error *err)
{
    al_auto(al_freep) char *git = al_fs_join(dir, "git");
    int r = al_fs_mkdirs(dir, 0755);

    if (r == 0 && symlink("../../../bin/airlock", git) < 0 && errno != EEXIST)
        r = -errno;
    return r < 0 ? al_error_errno(err, -r, "cannot make '%s'", git) : 0;
}

char *al_client_hook_program(const struct al_client *client, const json_t *hook)
{
    const char *command = al_json_get_string(hook, "command");
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;

    return command && al_shell_words_split(command, &words) && words.count > 2 &&
                   !strcmp(words.items[1], "hook") && !strcmp(words.items[2], client->name)
               ? al_strdup(words.items[0])
               : NULL;
}
