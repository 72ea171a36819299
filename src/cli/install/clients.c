// SPDX-License-Identifier: Apache-2.0
/*
 * Source: the clients' own documentation of their MCP settings.
 */
#include "cli/install/clients.h"

#include <string.h>

#include "util/nearest.h"

/* Seconds for which Codex waits for a tool, so that a user can answer an approval. */
#define CODEX_TIMEOUT_S 600

json_t *al_client_list(const struct al_strv *command, size_t first)
{
    json_t *list = al_json_array();

    for (size_t i = first; i < command->count; i++)
        al_json_append(list, al_json_string(command->items[i]));
    return list;
}

static json_t *make_plain(const struct al_strv *command)
{
    json_t *entry = al_json_object();

    al_json_set(entry, "command", al_json_string(command->items[0]));
    al_json_set(entry, "args", al_client_list(command, 1));
    return entry;
}

static json_t *make_typed(const struct al_strv *command)
{
    json_t *entry = al_json_object();

    al_json_set(entry, "type", al_json_string("stdio"));
    al_json_set(entry, "command", al_json_string(command->items[0]));
    al_json_set(entry, "args", al_client_list(command, 1));
    return entry;
}

static json_t *make_codex(const struct al_strv *command)
{
    json_t *entry = make_plain(command);

    al_json_set(entry, "tool_timeout_sec", al_json_int(CODEX_TIMEOUT_S));
    return entry;
}

static json_t *make_opencode(const struct al_strv *command)
{
    json_t *entry = al_json_object();

    al_json_set(entry, "type", al_json_string("local"));
    al_json_set(entry, "command", al_client_list(command, 0));
    al_json_set(entry, "enabled", al_json_bool(true));
    return entry;
}

static json_t *make_zed(const struct al_strv *command)
{
    json_t *entry = al_json_object();

    al_json_set(entry, "source", al_json_string("custom"));
    al_json_set(entry, "command", al_json_string(command->items[0]));
    al_json_set(entry, "args", al_client_list(command, 1));
    al_json_set(entry, "env", al_json_object());
    return entry;
}

bool al_client_strings(const json_t *list, struct al_strv *ret)
{
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (!json_is_string(item))
            return false;
        al_strv_add(ret, json_string_value(item));
    }
    return json_is_array(list);
}

static bool read_plain(const json_t *entry, struct al_strv *ret)
{
    const char *program = al_json_get_string(entry, "command");
    const json_t *args = json_object_get(entry, "args");

    if (!program)
        return false;
    al_strv_add(ret, program);
    return !args || al_client_strings(args, ret);
}

static bool read_opencode(const json_t *entry, struct al_strv *ret)
{
    const json_t *command = json_object_get(entry, "command");

    return json_array_size(command) && al_client_strings(command, ret);
}

static const struct al_client clients[] = {
    { .name = "claude-code",
      .title = "Claude Code",
      .project_file = ".mcp.json",
      .user_file = ".claude.json",
      .path = { "mcpServers", AL_CLIENT_ENTRY },
      .make = make_plain,
      .read = read_plain,
      .project_rules = ".claude/settings.json",
      .user_rules = ".claude/settings.json" },
    { .name = "claude-desktop",
      .title = "Claude Desktop",
      .user_file = ".config/Claude/claude_desktop_config.json",
      .path = { "mcpServers", AL_CLIENT_ENTRY },
      .make = make_plain,
      .read = read_plain },
    { .name = "codex",
      .title = "Codex",
      .project_file = ".codex/config.toml",
      .user_file = ".codex/config.toml",
      .format = AL_CLIENT_TOML,
      .make = make_codex,
      .read = read_plain },
    { .name = "cursor",
      .title = "Cursor",
      .project_file = ".cursor/mcp.json",
      .user_file = ".cursor/mcp.json",
      .path = { "mcpServers", AL_CLIENT_ENTRY },
      .make = make_plain,
      .read = read_plain },
    { .name = "gemini",
      .title = "Gemini CLI",
      .project_file = ".gemini/settings.json",
      .user_file = ".gemini/settings.json",
      .path = { "mcpServers", AL_CLIENT_ENTRY },
      .make = make_plain,
      .read = read_plain },
    { .name = "opencode",
      .title = "opencode",
      .project_file = "opencode.json",
      .user_file = ".config/opencode/opencode.json",
      .path = { "mcp", AL_CLIENT_ENTRY },
      .make = make_opencode,
      .read = read_opencode },
    { .name = "vscode",
      .title = "VS Code",
      .project_file = ".vscode/mcp.json",
      .user_file = ".config/Code/User/mcp.json",
      .path = { "servers", AL_CLIENT_ENTRY },
      .make = make_typed,
      .read = read_plain },
    { .name = "zed",
      .title = "Zed",
      .project_file = ".zed/settings.json",
      .user_file = ".config/zed/settings.json",
      .path = { "context_servers", AL_CLIENT_ENTRY },
      .make = make_zed,
      .read = read_plain },
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

json_t *al_client_get(const struct al_client *client, const struct al_settings_text *settings)
{
    return client->format == AL_CLIENT_TOML ? al_settings_toml_get(settings, AL_CLIENT_ENTRY)
                                            : al_settings_json_get(settings, client->path);
}

int al_client_put(const struct al_client *client, struct al_settings_text *settings,
                  const json_t *entry, struct al_error *err)
{
    return client->format == AL_CLIENT_TOML
               ? al_settings_toml_put(settings, AL_CLIENT_ENTRY, entry, err)
               : al_settings_json_put(settings, client->path, entry, err);
}

int al_client_remove(const struct al_client *client, struct al_settings_text *settings,
                     struct al_error *err)
{
    return client->format == AL_CLIENT_TOML
               ? al_settings_toml_remove(settings, AL_CLIENT_ENTRY, err)
               : al_settings_json_remove(settings, client->path, err);
}
