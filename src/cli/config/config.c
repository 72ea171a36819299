// SPDX-License-Identifier: Apache-2.0
#include "cli/config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "cli/config/keys.h"
#include "cli/config/toml.h"
#include "guard/text.h"
#include "serve/http/address.h"

#define SYSTEM_FILE      "/etc/airlock/config.toml"
#define FILE_MAX_BYTES   (1u << 20)
#define STRING_MAX_BYTES 4096u
#define GRANT_MAX_BYTES  64u

int al_serve_check_place(const char *place, struct al_error *err)
{
    struct al_http_address address;

    return al_http_address_parse(place, &address, err);
}

void al_mcp_servers_clear(struct al_mcp_servers *servers)
{
    for (size_t i = 0; i < servers->count; i++) {
        al_keys_clear(AL_KEY_OF_SERVER, &servers->items[i]);
        free(servers->items[i].name);
    }
    free(servers->items);
    *servers = (struct al_mcp_servers){ .items = NULL };
}

void al_config_init(struct al_config *config)
{
    *config = (struct al_config){ .file = NULL };
    al_keys_init(AL_KEY_OF_CONFIG, config);
    al_strv_add(&config->toolsets, "everyday");
    for (const char *const *name = al_whitelist_standard; *name; name++)
        al_strv_add(&config->shell.whitelist, *name);
}

void al_config_clear(struct al_config *config)
{
    al_keys_clear(AL_KEY_OF_CONFIG, config);
    free(config->file);
    *config = (struct al_config){ .file = NULL };
}

/* --- Reading one file --- */

/* Of several errors, the one nearest to the beginning of the file is kept. */
struct reader {
    struct al_config *into;
    const char *path;
    const char *home; /* may be NULL */
    struct al_error *err;
    bool failed;
    unsigned line;     /* of the error that is kept */
    bool has_decision; /* the current rule has a decision, or there is no current rule */
};

/* Report an error: "<file>:<line>: <key>: <what>". */
static void al_printf(4, 5)
    fail(struct reader *reader, unsigned line, const char *key, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str what = AL_STR_INIT;
    al_auto(al_freep) char *safe = NULL;
    va_list args;

    if (reader->failed && line >= reader->line)
        return;
    va_start(args, fmt);
    al_str_addv(&what, fmt, args);
    va_end(args);
    safe = al_text_sanitize_line(key);
    al_error_set(reader->err, AL_ERR_BAD_ARGS, "%s:%u: %s%s%s", reader->path, line, safe,
                 safe[0] ? ": " : "", what.buf);
    reader->failed = true;
    reader->line = line;
}

static const char *type_name(enum al_toml_type type)
{
    switch (type) {
    case AL_TOML_TABLE:
        return "a table";
    case AL_TOML_STRING:
        return "a string";
    case AL_TOML_INT:
        return "a whole number";
    case AL_TOML_BOOL:
        return "true or false";
    case AL_TOML_STRINGS:
        return "a list of strings";
    case AL_TOML_LIST:
        return "a list of something else";
    case AL_TOML_FLOAT:
        return "a number with a fraction";
    case AL_TOML_TIME:
        return "a date or time";
    case AL_TOML_TABLES:
        return "a list of tables";
    }
    return "something else";
}

static bool check_type(struct reader *reader, const struct al_toml_value *value,
                       enum al_toml_type wanted)
{
    if (value->type == wanted)
        return true;
    fail(reader, value->line, value->key, "must be %s, not %s", type_name(wanted),
         type_name(value->type));
    return false;
}

/* Check the rules for every string: not empty, no NUL, not too long. */
static bool check_strings(struct reader *reader, const struct al_toml_value *value)
{
    bool fit = true;

    if (value->type == AL_TOML_TABLES)
        return true;
    for (size_t i = 0; i < value->nitems; i++) {
        const struct al_toml_item *item = &value->items[i];

        if (item->len == 0)
            fail(reader, item->line, value->key, "must not be empty");
        else if (strlen(item->text) != item->len)
            fail(reader, item->line, value->key, "must not contain a NUL");
        else if (item->len > STRING_MAX_BYTES)
            fail(reader, item->line, value->key, "must be at most %u bytes", STRING_MAX_BYTES);
        else
            continue;
        fit = false;
    }
    return fit;
}

static enum al_toml_type type_wanted(enum al_key_kind kind)
{
    switch (kind) {
    case AL_KEY_BOOL:
        return AL_TOML_BOOL;
    case AL_KEY_UINT32:
    case AL_KEY_UINT64:
        return AL_TOML_INT;
    case AL_KEY_STRINGS:
    case AL_KEY_PATHS:
        return AL_TOML_STRINGS;
    case AL_KEY_STRING:
    case AL_KEY_ABS_FILE:
    case AL_KEY_FILE:
    case AL_KEY_CHOICE:
        return AL_TOML_STRING;
    case AL_KEY_RULES:
        return AL_TOML_TABLES;
    case AL_KEY_VARIABLES:
    case AL_KEY_DIRS:
    case AL_KEY_GRANTS:
    case AL_KEY_SERVERS:
        break;
    }
    return AL_TOML_TABLE;
}

static bool is_within(struct reader *reader, const struct al_key *key,
                      const struct al_toml_value *value)
{
    if (value->integer >= key->min && value->integer <= key->max)
        return true;
    fail(reader, value->line, value->key, "must be between %" PRId64 " and %" PRId64, key->min,
         key->max);
    return false;
}

/* Whether one more fits into a list or a table of the user's names. */
static bool has_room(struct reader *reader, const char *path, const struct al_toml_value *value,
                     size_t count)
{
    bool is_table;
    const struct al_key *key = al_key_find(path, &is_table);

    if (count < (size_t)key->max)
        return true;
    fail(reader, value->line, value->key, "%s has more than %" PRId64 " items", path, key->max);
    return false;
}

static void set_strings(struct reader *reader, const struct al_key *key,
                        const struct al_toml_value *value, struct al_strv *field)
{
    if (value->nitems < (size_t)key->min || value->nitems > (size_t)key->max) {
        fail(reader, value->line, value->key, "must have between %" PRId64 " and %" PRId64 " items",
             key->min, key->max);
        return;
    }
    al_strv_clear(field);
    for (size_t i = 0; i < value->nitems; i++) {
        const struct al_toml_item *item = &value->items[i];
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

        if (key->check && key->check(item->text, &why) < 0)
            fail(reader, item->line, value->key, "%s", why.message);
        al_strv_add(field, item->text);
    }
}

static void set_paths(struct reader *reader, const struct al_toml_value *value,
                      struct al_strv *field)
{
    for (size_t i = 0; i < field->count; i++) {
        char *path = field->items[i];

        if (path[0] == '/')
            continue;
        if (al_starts_with(path, "~/") && reader->home) {
            field->items[i] = al_fs_join(reader->home, path + 2);
            free(path);
            continue;
        }
        fail(reader, value->items[i].line, value->key, "%s",
             al_starts_with(path, "~/") ? "begins with '~/', but HOME is not set"
                                        : "must be absolute paths, or begin with '~/'");
    }
}

static void set_file(struct reader *reader, const struct al_key *key,
                     const struct al_toml_item *item, char **field)
{
    const char *slash = strrchr(reader->path, '/');
    al_auto(al_freep) char *directory =
        slash ? al_strndup(reader->path, (size_t)(slash + 1 - reader->path)) : al_strdup(".");
    bool at_home = al_starts_with(item->text, "~/");

    if (item->text[0] != '/' && !at_home && key->kind == AL_KEY_ABS_FILE) {
        fail(reader, item->line, key->path, "must be an absolute path or begin with '~/'");
    } else if (al_ends_with(item->text, "/")) {
        fail(reader, item->line, key->path, "must name a file, not a directory");
    } else if (at_home && !reader->home) {
        fail(reader, item->line, key->path, "begins with '~/', but HOME is not set");
    } else {
        free(*field);
        *field = at_home ? al_fs_join(reader->home, item->text + 2)
                         : al_fs_join(directory, item->text); /* an absolute path stays */
    }
}

static void set_string(struct reader *reader, const struct al_key *key,
                       const struct al_toml_item *item, char **field)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (key->check && key->check(item->text, &why) < 0)
        fail(reader, item->line, key->path, "%s", why.message);
    free(*field);
    *field = al_strdup(item->text);
}

/* "must be 'ask', 'allow' or 'deny'" */
static void fail_choice(struct reader *reader, const struct al_key *key, unsigned line)
{
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    for (size_t i = 0; key->words[i]; i++) {
        bool last = !key->words[i + 1];

        al_str_addf(&list, "%s'%s'", !i ? "" : last ? " or " : ", ", key->words[i]);
    }
    fail(reader, line, key->path, "must be %s", list.buf);
}

static void set_choice(struct reader *reader, const struct al_key *key,
                       const struct al_toml_item *item, unsigned *field)
{
    for (unsigned i = 0; key->words[i]; i++)
        if (!strcmp(key->words[i], item->text)) {
            *field = i;
            return;
        }
    fail_choice(reader, key, item->line);
}

/* Names that the user chooses for grants and servers.  A server's has no "__" and no '_' at its
 * end. */
static bool is_name(const char *name, size_t len, bool of_server)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";

    for (size_t i = 0; i < len; i++)
        if (!name[i] || !strchr(allowed, name[i]) ||
            (of_server && name[i] == '_' && (i + 1 == len || name[i + 1] == '_')))
            return false;
    return len > 0 && len <= (of_server ? AL_MCP_SERVER_NAME_MAX_BYTES : GRANT_MAX_BYTES);
}

static bool begin_grant(struct reader *reader, const struct al_toml_value *value)
{
    struct al_grants *grants = &reader->into->grants;
    al_auto(al_freep) char *name = NULL;

    if (!check_type(reader, value, AL_TOML_TABLE) ||
        !has_room(reader, "grants", value, grants->count))
        return false;
    if (!is_name(value->name, value->name_len, false)) {
        fail(reader, value->line, value->key,
             "must be named with 1 to %u letters, digits, '_' and '-'", GRANT_MAX_BYTES);
        return false;
    }
    name = al_strndup(value->name, value->name_len);
    (void)al_grants_add(grants, name);
    return true;
}

static bool begin_server(struct reader *reader, const struct al_toml_value *value)
{
    struct al_mcp_servers *servers = &reader->into->mcp.servers;
    struct al_mcp_server server = { .line = value->line };

    if (!check_type(reader, value, AL_TOML_TABLE) ||
        !has_room(reader, "mcp.servers", value, servers->count))
        return false;
    if (!is_name(value->name, value->name_len, true)) {
        fail(reader, value->line, value->key,
             "must be named with 1 to %u letters, digits, '-' and '_', without '__' and without "
             "'_' at the end",
             AL_MCP_SERVER_NAME_MAX_BYTES);
        return false;
    }
    al_keys_init(AL_KEY_OF_SERVER, &server);
    server.name = al_strndup(value->name, value->name_len);
    servers->items = al_reallocarray(servers->items, servers->count + 1, sizeof(server));
    servers->items[servers->count++] = server;
    return true;
}

static void add_dir(struct reader *reader, const struct al_toml_value *value)
{
    struct al_grants *grants = &reader->into->grants;
    struct al_grant *grant = &grants->items[grants->count - 1];
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *path = al_strndup(value->name, value->name_len);

    if (!check_type(reader, value, AL_TOML_STRING) || !check_strings(reader, value) ||
        !has_room(reader, AL_KEY_GRANT "fs", value, grant->ndirs))
        return;
    if (strlen(path) != value->name_len)
        fail(reader, value->line, value->key, "must not contain a NUL");
    else if (al_grant_add_dir(grant, path, value->items[0].text, &why) < 0)
        fail(reader, value->line, value->key, "%s", why.message);
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

static void add_variable(struct reader *reader, const struct al_toml_value *value)
{
    struct al_mcp_servers *servers = &reader->into->mcp.servers;
    struct al_strv *env = &servers->items[servers->count - 1].env;
    const struct al_toml_item *item = value->items;

    if (!check_type(reader, value, AL_TOML_STRING) ||
        !has_room(reader, AL_KEY_SERVER "env", value, env->count))
        return;
    if (!is_variable(value->name, value->name_len))
        fail(reader, value->line, value->key,
             "must be the name of a variable: letters, digits and '_'");
    else if (!item->len) /* the only string that may be empty */
        al_strv_addf(env, "%s=", value->name);
    else if (check_strings(reader, value))
        al_strv_addf(env, "%s=%s", value->name, item->text);
}

/* Every rule has to state its decision, so there is no default to misremember. */
static void end_rule(struct reader *reader)
{
    const struct al_policy *policy = &reader->into->approval.policy;

    if (policy->count && !reader->has_decision)
        fail(reader, policy->rules[policy->count - 1].line, "tools.approval.rule",
             "has no 'decision'");
}

/* Begin the list of rules, or the next rule of it.  The file's rules replace earlier ones. */
static bool set_rules(struct reader *reader, const struct al_key *key,
                      const struct al_toml_value *value, struct al_policy *policy)
{
    if (value->in_list) {
        end_rule(reader);
        reader->has_decision = false;
        (void)al_policy_add(policy, value->line);
        return true;
    }
    if (value->type == AL_TOML_STRINGS && !value->nitems) {
        al_policy_clear(policy);
        return false;
    }
    if (!check_type(reader, value, AL_TOML_TABLES))
        return false;
    if (value->nitems > (size_t)key->max) {
        fail(reader, value->line, value->key, "must have at most %" PRId64 " rules", key->max);
        return false;
    }
    al_policy_clear(policy);
    reader->has_decision = true; /* there is no current rule */
    return true;
}

/* The struct that has the field of a key: that of the rule, grant or server that was begun last. */
static void *place_of(const struct reader *reader, const struct al_key *key)
{
    struct al_config *into = reader->into;

    switch (key->place) {
    case AL_KEY_OF_RULE:
        return &into->approval.policy.rules[into->approval.policy.count - 1];
    case AL_KEY_OF_GRANT:
        return &into->grants.items[into->grants.count - 1];
    case AL_KEY_OF_SERVER:
        return &into->mcp.servers.items[into->mcp.servers.count - 1];
    case AL_KEY_OF_CONFIG:
        break;
    }
    return into;
}

/* Store the value of a key that is neither a table nor a list of tables. */
static void set_value(struct reader *reader, const struct al_key *key,
                      const struct al_toml_value *value, void *field)
{
    switch (key->kind) {
    case AL_KEY_BOOL:
        *(bool *)field = value->boolean;
        break;
    case AL_KEY_UINT32:
        if (is_within(reader, key, value))
            *(uint32_t *)field = (uint32_t)value->integer;
        break;
    case AL_KEY_UINT64:
        if (is_within(reader, key, value))
            *(uint64_t *)field = (uint64_t)value->integer;
        break;
    case AL_KEY_STRINGS:
        set_strings(reader, key, value, field);
        break;
    case AL_KEY_PATHS:
        set_strings(reader, key, value, field);
        set_paths(reader, value, field);
        break;
    case AL_KEY_ABS_FILE:
    case AL_KEY_FILE:
        set_file(reader, key, value->items, field);
        break;
    case AL_KEY_CHOICE:
        set_choice(reader, key, value->items, field);
        break;
    case AL_KEY_STRING:
        set_string(reader, key, value->items, field);
        break;
    case AL_KEY_VARIABLES:
    case AL_KEY_DIRS:
    case AL_KEY_GRANTS:
    case AL_KEY_SERVERS:
    case AL_KEY_RULES:
        break;
    }
}

/* Whether to visit what is inside the value. */
static bool set(struct reader *reader, const struct al_key *key, const struct al_toml_value *value)
{
    void *place = place_of(reader, key), *field = (char *)place + key->offset;

    if (key->kind == AL_KEY_RULES)
        return set_rules(reader, key, value, field);
    reader->has_decision |= key->place == AL_KEY_OF_RULE && key->kind == AL_KEY_CHOICE;
    if (!(key->takes_one && value->type == AL_TOML_STRING) &&
        !check_type(reader, value, type_wanted(key->kind)))
        return false;
    if (!check_strings(reader, value))
        return false;
    if (key->given)
        *(bool *)((char *)place + key->given) = true;
    if (key->place == AL_KEY_OF_GRANT && key->kind == AL_KEY_STRINGS)
        ((struct al_grant *)place)->tools_line = value->line;
    if (key->kind == AL_KEY_GRANTS)
        al_grants_clear(field);
    if (key->kind == AL_KEY_SERVERS)
        al_mcp_servers_clear(field);
    set_value(reader, key, value, field);
    return value->type == AL_TOML_TABLE;
}

/* The key as the table of keys has it: NAME for the name of the grant or server, and without what
 * the user names below.  Caller frees. */
static char *path_of(const struct reader *reader, const struct al_toml_value *value)
{
    const struct al_grants *grants = &reader->into->grants;
    const struct al_mcp_servers *servers = &reader->into->mcp.servers;
    const size_t grant = strlen("grants."), server = strlen("mcp.servers.");

    if (al_starts_with(value->key, "grants.") && value->depth > 1)
        return al_asprintf(AL_KEY_GRANT "%s",
                           value->key + grant + strlen(grants->items[grants->count - 1].name) + 1);
    if (al_starts_with(value->key, "mcp.servers.") && value->depth > 2)
        return al_asprintf(AL_KEY_SERVER "%s", value->key + server +
                                                   strlen(servers->items[servers->count - 1].name) +
                                                   1);
    return al_strdup(value->key);
}

static void fail_unknown(struct reader *reader, const struct al_toml_value *value, const char *path)
{
    al_auto(al_freep) char *meant = al_key_nearest(path);

    fail(reader, value->line, value->key, "unknown key%s%s%s", meant ? ", did you mean '" : "",
         meant ? meant : "", meant ? "'?" : "");
}

static bool visit(void *payload, const struct al_toml_value *value)
{
    struct reader *reader = payload;
    al_auto(al_freep) char *path = path_of(reader, value);
    bool is_table;
    const struct al_key *key;

    if (al_starts_with(path, "grants.") && value->depth == 1)
        return begin_grant(reader, value);
    if (al_starts_with(path, "mcp.servers.") && value->depth == 2)
        return begin_server(reader, value);
    key = al_key_find(path, &is_table);
    if (key)
        return set(reader, key, value);
    if (is_table)
        return check_type(reader, value, AL_TOML_TABLE);
    if (al_starts_with(path, AL_KEY_GRANT "fs."))
        add_dir(reader, value);
    else if (al_starts_with(path, AL_KEY_SERVER "env."))
        add_variable(reader, value);
    else
        fail_unknown(reader, value, path);
    return false;
}

static void not_toml(void *payload, unsigned line, const char *what)
{
    static const char noise[] = "Error "; /* toml++ says "Error while parsing …" */
    struct reader *reader = payload;
    al_auto(al_freep) char *safe =
        al_text_join_lines(al_starts_with(what, noise) ? what + strlen(noise) : what);

    fail(reader, line, "", "%s", safe);
}

int al_config_read_text(const char *path, struct al_str *ret_text, struct al_error *err)
{
    /* Links are followed: the path is the user's, and dotfiles often are links. */
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int r;

    r = fd < 0 ? -errno : al_fs_read_fd(fd, FILE_MAX_BYTES, ret_text);
    if (r == -EFBIG)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: larger than %u bytes", path,
                            FILE_MAX_BYTES);
    if (r == -EINVAL)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: not a regular file", path);
    return r < 0 ? al_error_set(err, r == -ENOENT ? AL_ERR_NOT_FOUND : AL_ERR_BAD_ARGS,
                                "%s: cannot read: %s", path, strerrordesc_np(-r))
                 : 0;
}

/* Report a server without a command, if nothing else is wrong. */
static void end_servers(struct reader *reader)
{
    const struct al_mcp_servers *servers = &reader->into->mcp.servers;

    for (size_t i = 0; i < servers->count && !reader->failed; i++) {
        al_auto(al_freep) char *key = al_asprintf("mcp.servers.%s", servers->items[i].name);

        if (!servers->items[i].command.count)
            fail(reader, servers->items[i].line, key, "has no 'command'");
    }
}

static int read_config(struct al_config *config, const char *path, const char *home,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct reader reader = {
        .into = config, .path = path, .home = home, .err = err, .has_decision = true
    };
    int r = al_config_read_text(path, &text, err);

    if (r < 0)
        return r;
    free(config->file);
    config->file = al_strdup(path);
    (void)al_toml_walk(text.buf, text.len, visit, not_toml, &reader); /* failures arrive there */
    end_rule(&reader);
    end_servers(&reader);
    return reader.failed ? AL_ERR_BAD_ARGS : 0;
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
    const char *const places[] = { path ? path : own, path ? NULL : SYSTEM_FILE };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = AL_ERR_NOT_FOUND;

    for (size_t i = 0; i < AL_COUNT(places) && r == AL_ERR_NOT_FOUND; i++)
        if (places[i])
            r = read_config(config, places[i], home, &why);
    if (r == 0 || (r == AL_ERR_NOT_FOUND && !path))
        return 0;
    al_config_clear(config);
    al_config_init(config);
    return r == AL_ERR_NOT_FOUND ? al_error_set(err, AL_ERR_BAD_ARGS, "%s: no such file", path)
                                 : al_error_set(err, AL_ERR_BAD_ARGS, "%s", why.message);
}
