// SPDX-License-Identifier: Apache-2.0
/* Reading [mcp.servers.NAME], whose names the user chooses. */
#include <inttypes.h>
#include <string.h>

#include "config/reader.h"
#include "util/fs.h"

#define PREFIX      "mcp.servers."
#define COMMAND_MAX 256u
#define ENV_MAX     64u
#define TOOLS_MAX   512u
#define PATHS_MAX   64u

static bool is_name(const char *name, size_t len)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";

    for (size_t i = 0; i < len; i++)
        if (!name[i] || !strchr(allowed, name[i]) ||
            (name[i] == '_' && (i + 1 == len || name[i + 1] == '_')))
            return false;
    return len > 0 && len <= AL_MCP_SERVER_NAME_MAX_BYTES;
}

static bool begin_server(struct al_config_reader *reader, const struct al_toml_value *value)
{
    struct al_mcp_servers *servers = &reader->into->mcp.servers;

    if (!al_config_reader_check_type(reader, value, AL_TOML_TABLE))
        return false;
    if (!is_name(value->name, value->name_len)) {
        al_config_reader_fail(reader, value->line, value->key,
                              "must be named with 1 to %u letters, digits, '-' and '_', without "
                              "'__' and without '_' at the end",
                              AL_MCP_SERVER_NAME_MAX_BYTES);
        return false;
    }
    if (servers->count == AL_MCP_SERVERS_MAX) {
        al_config_reader_fail(reader, value->line, value->key, "there are more than %u servers",
                              AL_MCP_SERVERS_MAX);
        return false;
    }
    servers->items = al_reallocarray(servers->items, servers->count + 1, sizeof(*servers->items));
    servers->items[servers->count++] = (struct al_mcp_server){
        .name = al_strndup(value->name, value->name_len),
        .confine = true,
        .timeout_ms = AL_MCP_SERVER_TIMEOUT_DEFAULT,
        .line = value->line,
    };
    return true;
}

static void set_strings(struct al_config_reader *reader, const struct al_toml_value *value,
                        size_t min, size_t max, struct al_strv *field)
{
    if (!al_config_reader_check_type(reader, value, AL_TOML_STRINGS) ||
        !al_config_reader_check_strings(reader, value))
        return;
    if (value->nitems < min || value->nitems > max) {
        al_config_reader_fail(reader, value->line, value->key,
                              "must have between %zu and %zu items", min, max);
        return;
    }
    for (size_t i = 0; i < value->nitems; i++)
        al_strv_add(field, value->items[i].text);
}

static void set_paths(struct al_config_reader *reader, const struct al_toml_value *value,
                      struct al_strv *field)
{
    al_auto(al_strv_clear) struct al_strv given = AL_STRV_INIT;

    set_strings(reader, value, 0, PATHS_MAX, &given);
    for (size_t i = 0; i < given.count; i++) {
        const char *path = given.items[i];

        if (path[0] == '/')
            al_strv_add(field, path);
        else if (al_starts_with(path, "~/") && reader->home)
            al_strv_take(field, al_fs_join(reader->home, path + 2));
        else
            al_config_reader_fail(reader, value->items[i].line, value->key, "%s",
                                  al_starts_with(path, "~/")
                                      ? "begins with '~/', but HOME is not set"
                                      : "must be absolute paths, or begin with '~/'");
    }
}

static void set_bool(struct al_config_reader *reader, const struct al_toml_value *value,
                     bool *field)
{
    if (al_config_reader_check_type(reader, value, AL_TOML_BOOL))
        *field = value->boolean;
}

static void set_timeout(struct al_config_reader *reader, const struct al_toml_value *value,
                        uint32_t *field)
{
    if (!al_config_reader_check_type(reader, value, AL_TOML_INT))
        return;
    if (value->integer >= AL_MCP_SERVER_TIMEOUT_MIN && value->integer <= AL_MCP_SERVER_TIMEOUT_MAX)
        *field = (uint32_t)value->integer;
    else
        al_config_reader_fail(reader, value->line, value->key, "must be between %d and %d",
                              AL_MCP_SERVER_TIMEOUT_MIN, AL_MCP_SERVER_TIMEOUT_MAX);
}

/* A POSIX name: letters, digits and '_', not beginning with a digit. */
static bool is_variable(const char *name, size_t len)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

    for (size_t i = 0; i < len; i++)
        if (!name[i] || (!strchr(letters, name[i]) && (i == 0 || name[i] < '0' || name[i] > '9')))
            return false;
    return len > 0;
}

static void add_variable(struct al_config_reader *reader, const struct al_toml_value *value,
                         struct al_strv *env)
{
    const struct al_toml_item *item = value->items;

    if (!al_config_reader_check_type(reader, value, AL_TOML_STRING))
        return;
    if (!is_variable(value->name, value->name_len))
        al_config_reader_fail(reader, value->line, value->key,
                              "must be the name of a variable: letters, digits and '_'");
    else if (env->count == ENV_MAX)
        al_config_reader_fail(reader, value->line, value->key, "there are more than %u variables",
                              ENV_MAX);
    else if (!item->len) /* the only string that may be empty */
        al_strv_addf(env, "%s=", value->name);
    else if (al_config_reader_check_strings(reader, value))
        al_strv_addf(env, "%s=%s", value->name, item->text);
}

static bool in_allow(struct al_config_reader *reader, const struct al_toml_value *value,
                     const char *key, struct al_mcp_server *server)
{
    if (!strcmp(key, "read"))
        set_paths(reader, value, &server->allow.read);
    else if (!strcmp(key, "write"))
        set_paths(reader, value, &server->allow.write);
    else if (!strcmp(key, "exec"))
        set_paths(reader, value, &server->allow.exec);
    else if (!strcmp(key, "network"))
        set_bool(reader, value, &server->allow.network);
    else
        al_config_reader_fail(reader, value->line, value->key,
                              "unknown key; allow has 'read', 'write', 'exec' and 'network'");
    return false;
}

static bool in_server(struct al_config_reader *reader, const struct al_toml_value *value,
                      const char *key, struct al_mcp_server *server)
{
    if (!strcmp(key, "command")) {
        set_strings(reader, value, 1, COMMAND_MAX, &server->command);
    } else if (!strcmp(key, "tools")) {
        server->limits_tools = true;
        set_strings(reader, value, 0, TOOLS_MAX, &server->tools);
    } else if (!strcmp(key, "confine")) {
        set_bool(reader, value, &server->confine);
    } else if (!strcmp(key, "timeout_ms")) {
        set_timeout(reader, value, &server->timeout_ms);
    } else if (!strcmp(key, "env") || !strcmp(key, "allow")) {
        return al_config_reader_check_type(reader, value, AL_TOML_TABLE);
    } else {
        al_config_reader_fail(reader, value->line, value->key,
                              "unknown key; a server has 'command', 'env', 'tools', 'confine', "
                              "'timeout_ms' and 'allow'");
    }
    return false;
}

bool al_config_reader_set_mcp_servers(struct al_config_reader *reader,
                                      const struct al_toml_value *value)
{
    const char *key = value->key + strlen(PREFIX);
    struct al_mcp_servers *servers = &reader->into->mcp.servers;
    struct al_mcp_server *server;
    size_t name;

    if (value->depth == 2)
        return begin_server(reader, value);
    server = &servers->items[servers->count - 1];
    name = strlen(server->name);
    key += name + 1;
    if (al_starts_with(key, "env."))
        add_variable(reader, value, &server->env);
    else if (al_starts_with(key, "allow."))
        return in_allow(reader, value, key + strlen("allow."), server);
    else
        return in_server(reader, value, key, server);
    return false;
}

void al_config_reader_end_mcp_servers(struct al_config_reader *reader)
{
    const struct al_mcp_servers *servers = &reader->into->mcp.servers;

    for (size_t i = 0; i < servers->count && !reader->failed; i++) {
        al_auto(al_freep) char *key = al_asprintf(PREFIX "%s", servers->items[i].name);

        if (!servers->items[i].command.count)
            al_config_reader_fail(reader, servers->items[i].line, key, "has no 'command'");
    }
}
