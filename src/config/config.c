// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/reader.h"
#include "config/toml.h"
#include "guard/text.h"
#include "http/address.h"
#include "util/fs.h"

/* Set the defaults. */
static void serve_limits_init(struct al_serve_limits *limits)
{
    *limits = (struct al_serve_limits){
        .max_body = AL_SERVE_BODY_DEFAULT,
        .max_headers = AL_SERVE_HEADERS_DEFAULT,
        .connections = AL_SERVE_CONNECTIONS_DEFAULT,
        .connections_per_token = AL_SERVE_CONNECTIONS_PER_TOKEN_DEFAULT,
        .calls = AL_SERVE_CALLS_DEFAULT,
        .calls_per_token = AL_SERVE_CALLS_PER_TOKEN_DEFAULT,
        .sessions_per_token = AL_SERVE_SESSIONS_PER_TOKEN_DEFAULT,
        .request_s = AL_SERVE_REQUEST_S_DEFAULT,
        .stall_s = AL_SERVE_STALL_S_DEFAULT,
        .idle_s = AL_SERVE_IDLE_S_DEFAULT,
        .drain_s = AL_SERVE_DRAIN_S_DEFAULT,
    };
}

int al_serve_check_place(const char *place, struct al_error *err)
{
    struct al_http_address address;

    return al_http_address_parse(place, &address, err);
}

static void server_clear(struct al_mcp_server *server)
{
    free(server->name);
    al_strv_clear(&server->command);
    al_strv_clear(&server->env);
    al_strv_clear(&server->tools);
    al_strv_clear(&server->allow.read);
    al_strv_clear(&server->allow.write);
    al_strv_clear(&server->allow.exec);
}

void al_mcp_servers_clear(struct al_mcp_servers *servers)
{
    for (size_t i = 0; i < servers->count; i++)
        server_clear(&servers->items[i]);
    free(servers->items);
    *servers = (struct al_mcp_servers){ .items = NULL };
}

static struct al_strv copy_of(const struct al_strv *strings)
{
    struct al_strv copy = AL_STRV_INIT;

    for (size_t i = 0; i < strings->count; i++)
        al_strv_add(&copy, strings->items[i]);
    return copy;
}

void al_mcp_servers_copy(struct al_mcp_servers *to, const struct al_mcp_servers *from)
{
    to->items = from->count ? al_calloc(from->count, sizeof(*to->items)) : NULL;
    to->count = from->count;
    for (size_t i = 0; i < from->count; i++) {
        const struct al_mcp_server *server = &from->items[i];
        struct al_mcp_server *copy = &to->items[i];

        *copy = *server;
        copy->name = al_strdup(server->name);
        copy->command = copy_of(&server->command);
        copy->env = copy_of(&server->env);
        copy->tools = copy_of(&server->tools);
        copy->allow.read = copy_of(&server->allow.read);
        copy->allow.write = copy_of(&server->allow.write);
        copy->allow.exec = copy_of(&server->allow.exec);
    }
}

#define SYSTEM_FILE    "/etc/airlock/config.toml"
#define FILE_MAX_BYTES (1u << 20)

void al_config_init(struct al_config *config)
{
    *config = (struct al_config){
        .git = { .enabled = true,
                 .timeout_ms = AL_TIMEOUT_MS_DEFAULT,
                 .max_bytes = AL_MAX_BYTES_DEFAULT,
                 .max_fetch_bytes = AL_FETCH_MAX_BYTES_DEFAULT },
        .sandbox = { .allow_absolute = true },
        .shell = { .timeout_s = AL_SHELL_TIMEOUT_S_DEFAULT, .isolation = AL_ISOLATION_AUTO },
        .approval = { .mode = AL_APPROVAL_ASK, .wait_s = AL_APPROVAL_WAIT_S_DEFAULT },
        .journal = { .max_log_bytes = AL_LOG_MAX_BYTES_DEFAULT,
                     .checkpoints = true,
                     .max_store_bytes = AL_STORE_MAX_BYTES_DEFAULT,
                     .max_age_days = AL_MAX_AGE_DAYS_DEFAULT,
                     .max_file_bytes = AL_SNAPSHOT_FILE_BYTES_DEFAULT },
        .staging = { .max_bytes = AL_SANDBOX_MAX_BYTES_DEFAULT },
        .worktrees = { .max = AL_WORKTREES_MAX_DEFAULT },
    };
    serve_limits_init(&config->serve.limits);
    al_strv_add(&config->toolsets, "everyday");
    for (const char *const *name = al_whitelist_standard; *name; name++)
        al_strv_add(&config->shell.whitelist, *name);
}

void al_config_clear(struct al_config *config)
{
    al_keys_clear(config);
    free(config->file);
    *config = (struct al_config){ .file = NULL };
}

static bool visit(void *payload, const struct al_toml_value *value)
{
    struct al_config_reader *reader = payload;
    bool is_table;
    const struct al_key *key = al_key_find(value->key, &is_table);

    if (key)
        return al_config_reader_set(reader, key, value);
    if (al_starts_with(value->key, "grants."))
        return al_config_reader_set_grants(reader, value);
    if (al_starts_with(value->key, "mcp.servers."))
        return al_config_reader_set_mcp_servers(reader, value);
    if (is_table && value->type == AL_TOML_TABLE)
        return true;
    if (is_table) {
        (void)al_config_reader_check_type(reader, value, AL_TOML_TABLE);
    } else {
        al_auto(al_freep) char *meant = al_key_nearest(value->key);

        al_config_reader_fail(reader, value->line, value->key, "unknown key%s%s%s",
                              meant ? ", did you mean '" : "", meant ? meant : "",
                              meant ? "'?" : "");
    }
    return false;
}

static void not_toml(void *payload, unsigned line, const char *what)
{
    static const char noise[] = "Error "; /* toml++ says "Error while parsing …" */
    struct al_config_reader *reader = payload;
    al_auto(al_freep) char *safe =
        al_text_join_lines(al_starts_with(what, noise) ? what + strlen(noise) : what);

    al_config_reader_fail(reader, line, "", "%s", safe);
}

static int read_text(const char *path, struct al_str *ret_text, struct al_error *err)
{
    /* Links are followed: the path is the user's, and dotfiles often are links. */
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int r;

    if (fd < 0 && errno == ENOENT)
        return al_error_set(err, AL_ERR_NOT_FOUND, "%s: no such file", path);
    r = fd < 0 ? -errno : al_fs_read_fd(fd, FILE_MAX_BYTES, ret_text);
    if (r == -EFBIG)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: larger than %u bytes", path,
                            FILE_MAX_BYTES);
    if (r == -EINVAL)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: not a regular file", path);
    if (r < 0)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: %s", path, strerrordesc_np(-r));
    return 0;
}

static int read_config(struct al_config *config, const char *path, const char *home,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_config fresh;
    struct al_config_reader reader = {
        .into = &fresh, .path = path, .home = home, .err = err, .has_decision = true
    };
    int r;

    r = read_text(path, &text, err);
    if (r < 0)
        return r;
    fresh = *config;
    fresh.file = al_strdup(path);
    al_keys_deep_copy(&fresh);
    (void)al_toml_walk(text.buf, text.len, visit, not_toml,
                       &reader); /* failures arrive in not_toml() */
    al_config_reader_end_rule(&reader);
    al_config_reader_end_mcp_servers(&reader);
    if (reader.failed) {
        al_config_clear(&fresh);
        return AL_ERR_BAD_ARGS;
    }
    al_config_clear(config);
    *config = fresh;
    return 0;
}

int al_config_read(struct al_config *config, const char *path, struct al_error *err)
{
    return read_config(config, path, NULL, err);
}

/* The user's file.  The XDG base directory specification ignores a relative $XDG_CONFIG_HOME. */
static char *user_file(const char *env_config_home, const char *home)
{
    if (env_config_home && env_config_home[0] == '/')
        return al_fs_join(env_config_home, "airlock/config.toml");
    return home ? al_fs_join(home, ".config/airlock/config.toml") : NULL;
}

int al_config_load(struct al_config *config, const char *path, const char *env_config_home,
                   const char *home, struct al_error *err)
{
    al_auto(al_freep) char *own = user_file(env_config_home, home);
    const char *const places[] = { own, SYSTEM_FILE };
    al_auto(al_error_clear) struct al_error missing = AL_ERROR_INIT;

    if (path) {
        int r = read_config(config, path, home, err);

        return r == AL_ERR_NOT_FOUND ? al_error_set(err, AL_ERR_BAD_ARGS, "%s: no such file", path)
                                     : r;
    }
    for (size_t i = 0; i < AL_COUNT(places); i++) {
        int r = places[i] ? read_config(config, places[i], home, &missing) : AL_ERR_NOT_FOUND;

        if (r == AL_ERR_NOT_FOUND)
            continue;
        if (r < 0)
            return al_error_set(err, r, "%s", missing.message);
        return 0;
    }
    return 0;
}
