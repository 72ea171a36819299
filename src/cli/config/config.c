// SPDX-License-Identifier: Apache-2.0
#include "cli/config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "cli/config/given.h"
#include "cli/config/keys.h"
#include "cli/config/toml.h"
#include "guard/env.h"
#include "guard/text.h"

#define SYSTEM_FILE      "/etc/airlock/config.toml"
#define FILE_MAX_BYTES   (1u << 20)
#define STRING_MAX_BYTES 4096u
#define GRANT_MAX_BYTES  64u

int al_config_error(const struct al_config *config, unsigned line, const char *key, int r,
                    struct al_error *err)
{
    al_auto(al_freep) char *message = r < 0 && line ? err->message : NULL;

    if (message)
        err->message = al_asprintf("%s:%u: %s: %s", config->file, line, key, message);
    return r;
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

/* --- Reading values --- */

/* Of several errors, the one nearest to the beginning of the file is kept. */
struct reader {
    const char *home;   /* may be NULL */
    const char *hidden; /* what suggestions leave out of the names of keys */
    struct al_error *err;
    unsigned line; /* of the error that is kept; 0: there is none */
};

static void al_printf(3, 4)
    fail(struct reader *reader, const struct al_value *value, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str what = AL_STR_INIT;
    va_list args;

    if (reader->line && value->line >= reader->line)
        return;
    va_start(args, fmt);
    al_str_addv(&what, fmt, args);
    va_end(args);
    if (*value->file)
        (void)al_value_error(value, reader->err, "%s", what.buf);
    else
        (void)al_error_set(reader->err, AL_ERR_BAD_ARGS, "%s %s", value->key, what.buf);
    reader->line = value->line;
}

enum type { EMPTY, TABLE, STRING, WHOLE, FRACTION, TRUTH, TIME, STRINGS, TABLES, MIXED };

static const char *const type_names[] = {
    [EMPTY] = "empty",
    [TABLE] = "a table",
    [STRING] = "a string",
    [WHOLE] = "a whole number",
    [FRACTION] = "a number with a fraction",
    [TRUTH] = "true or false",
    [TIME] = "a date or time",
    [STRINGS] = "a list of strings",
    [TABLES] = "a list of tables",
    [MIXED] = "a list of something else",
};

static bool all_are(const struct al_value *list, enum al_value_type type)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].type != type)
            return false;
    return true;
}

/* The empty list is one of strings, too. */
static enum type type_of(const struct al_value *value)
{
    switch (value->type) {
    case AL_VALUE_MAPPING:
        return TABLE;
    case AL_VALUE_STRING:
        return STRING;
    case AL_VALUE_BOOL:
        return TRUTH;
    case AL_VALUE_NUMBER:
        return value->text[strspn(value->text, "-0123456789")] ? FRACTION : WHOLE;
    case AL_VALUE_LIST:
        return all_are(value, AL_VALUE_STRING)    ? STRINGS
               : all_are(value, AL_VALUE_MAPPING) ? TABLES
                                                  : MIXED;
    case AL_VALUE_TIME:
        return TIME;
    case AL_VALUE_NULL:
        break;
    }
    return EMPTY;
}

static bool check_type(struct reader *reader, const struct al_value *value, enum type wanted)
{
    const enum type type = type_of(value);

    if (type == wanted || (wanted == TABLES && type == STRINGS && !value->count))
        return true;
    fail(reader, value, "must be %s, not %s", type_names[wanted], type_names[type]);
    return false;
}

/* "must be 'ask', 'allow' or 'deny'"; of an option "is ask, allow or deny" */
static void fail_choice(struct reader *reader, const struct al_key *key,
                        const struct al_value *value)
{
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    const char *quote = *value->file ? "'" : "";

    for (size_t i = 0; key->words[i]; i++)
        al_str_addf(&list, "%s%s%s%s",
                    !i                  ? ""
                    : key->words[i + 1] ? ", "
                                        : " or ",
                    quote, key->words[i], quote);
    fail(reader, value, "%s %s", *value->file ? "must be" : "is", list.buf);
}

static bool has_word(const struct al_key *key, const char *text, unsigned *ret_index)
{
    unsigned i = 0;

    while (key->words[i] && strcmp(key->words[i], text) != 0)
        i++;
    *ret_index = i;
    return key->words[i];
}

/* Check the rules for every string: not empty and not too long, and what its key wants. */
static bool check_string(struct reader *reader, const struct al_key *key,
                         const struct al_value *value)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    unsigned index;

    if (!*value->text && *value->file)
        fail(reader, value, "must not be empty");
    else if (strlen(value->text) > STRING_MAX_BYTES)
        fail(reader, value, "must be at most %u bytes", STRING_MAX_BYTES);
    else if (key->check && key->check(value->text, &why) < 0)
        fail(reader, value, "%s", why.message);
    else if (key->words && !has_word(key, value->text, &index))
        fail_choice(reader, key, value);
    else
        return true;
    return false;
}

static int64_t number_of(struct reader *reader, const struct al_key *key,
                         const struct al_value *value)
{
    const int64_t number = strtoll(value->text, NULL, 10);

    if (number < key->min || number > key->max)
        fail(reader, value, "must be between %" PRId64 " and %" PRId64, key->min, key->max);
    return number;
}

/* Whether one more fits into a table of the user's names. */
static bool has_room(struct reader *reader, const struct al_key *key, const struct al_value *member,
                     size_t count)
{
    if (count >= (size_t)key->max)
        fail(reader, member, "%s has more than %" PRId64 " items", key->path, key->max);
    return count < (size_t)key->max;
}

/* A path that may begin with "~/", as it is without.  Caller frees. */
static char *expand_home(struct reader *reader, const struct al_value *value)
{
    if (!al_starts_with(value->text, "~/"))
        return al_strdup(value->text);
    if (!reader->home)
        fail(reader, value, "begins with '~/', but HOME is not set");
    return al_fs_join(reader->home ? reader->home : "", value->text + 2);
}

static void add_string(struct reader *reader, const struct al_key *key,
                       const struct al_value *value, struct al_strv *list)
{
    if (!check_string(reader, key, value))
        return;
    if (key->kind == AL_KEY_PATHS && *value->text != '/' && !al_starts_with(value->text, "~/"))
        fail(reader, value, "must be absolute paths, or begin with '~/'");
    al_strv_take(list,
                 key->kind == AL_KEY_PATHS ? expand_home(reader, value) : al_strdup(value->text));
}

static void read_strings(struct reader *reader, const struct al_key *key,
                         const struct al_value *value, void *ret)
{
    struct al_strv *list = ret;
    if (value->count < (size_t)key->min || value->count > (size_t)key->max) {
        fail(reader, value, "must have between %" PRId64 " and %" PRId64 " items", key->min,
             key->max);
        return;
    }
    al_strv_clear(list);
    for (size_t i = 0; i < value->count; i++)
        add_string(reader, key, &value->items[i], list);
}

/* A relative path begins where the file that is read lies. */
static void read_file(struct reader *reader, const struct al_key *key, const struct al_value *value,
                      void *ret)
{
    char **field = ret;
    const char *slash = strrchr(value->file, '/'); /* the path of an option is absolute */
    al_auto(al_freep) char *directory =
        slash ? al_strndup(value->file, (size_t)(slash + 1 - value->file)) : al_strdup(".");
    al_auto(al_freep) char *path = NULL;

    if (!check_string(reader, key, value))
        return;
    if (al_ends_with(value->text, "/"))
        fail(reader, value, "must name a file, not a directory");
    path = expand_home(reader, value);
    free(*field);
    *field = al_fs_join(directory, path); /* an absolute path stays */
}

static void read_scalar(struct reader *reader, const struct al_key *key,
                        const struct al_value *value, void *ret)
{
    char **string = ret;

    if (key->kind == AL_KEY_BOOL) {
        *(bool *)ret = !strcmp(value->text, "true");
    } else if (key->kind == AL_KEY_UINT32) {
        *(uint32_t *)ret = (uint32_t)number_of(reader, key, value);
    } else if (key->kind == AL_KEY_UINT64) {
        *(uint64_t *)ret = (uint64_t)number_of(reader, key, value);
    } else if (check_string(reader, key, value) && key->kind == AL_KEY_CHOICE) {
        (void)has_word(key, value->text, ret);
    } else if (key->kind == AL_KEY_STRING) {
        free(*string);
        *string = al_strdup(value->text);
    }
}

/* --- Tables whose names the user chooses, and lists of tables --- */

static void read_table(struct reader *reader, const char *place, const struct al_value *table,
                       void *fields);

/* Names of grants and servers.  A server's has no "__" and no '_' at its end. */
static bool is_name(const char *name, bool of_server)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    const size_t len = strlen(name);

    if (of_server && (strstr(name, "__") || al_ends_with(name, "_")))
        return false;
    return len > 0 && strspn(name, allowed) == len &&
           len <= (of_server ? AL_MCP_SERVER_NAME_MAX_BYTES : GRANT_MAX_BYTES);
}

/* Whether a member of a table of the user's names is one more of them. */
static bool is_one_more(struct reader *reader, const struct al_key *key,
                        const struct al_value *member, size_t count)
{
    const bool of_server = key->kind == AL_KEY_SERVERS;

    if (!check_type(reader, member, TABLE) || !has_room(reader, key, member, count))
        return false;
    if (is_name(member->name, of_server))
        return true;
    if (of_server)
        fail(reader, member,
             "must be named with 1 to %u letters, digits, '-' and '_', without '__' and without "
             "'_' at the end",
             AL_MCP_SERVER_NAME_MAX_BYTES);
    else
        fail(reader, member, "must be named with 1 to %u letters, digits, '_' and '-'",
             GRANT_MAX_BYTES);
    return false;
}

static void read_grants(struct reader *reader, const struct al_key *key,
                        const struct al_value *value, void *ret)
{
    struct al_grants *grants = ret;
    al_grants_clear(grants);
    for (size_t i = 0; i < value->count; i++) {
        const struct al_value *member = &value->items[i], *tools = al_value_get(member, "tools");
        struct al_grant *grant;

        if (!is_one_more(reader, key, member, grants->count))
            continue;
        grant = al_grants_add(grants, member->name);
        grant->tools_line = tools ? tools->line : 0;
        read_table(reader, AL_KEY_GRANT, member, grant);
    }
}

static void read_servers(struct reader *reader, const struct al_key *key,
                         const struct al_value *value, void *ret)
{
    struct al_mcp_servers *servers = ret;
    al_mcp_servers_clear(servers);
    for (size_t i = 0; i < value->count; i++) {
        const struct al_value *member = &value->items[i];
        struct al_mcp_server *server;

        if (!is_one_more(reader, key, member, servers->count))
            continue;
        servers->items = al_grow(servers->items, servers->count, sizeof(*server));
        server = &servers->items[servers->count++];
        *server = (struct al_mcp_server){ .name = al_strdup(member->name), .line = member->line };
        al_keys_init(AL_KEY_OF_SERVER, server);
        read_table(reader, AL_KEY_SERVER, member, server);
        if (!reader->line && !server->command.count)
            fail(reader, member, "has no 'command'");
    }
}

static void read_dirs(struct reader *reader, const struct al_key *key, const struct al_value *value,
                      void *ret)
{
    struct al_grant *grant = ret;
    for (size_t i = 0; i < value->count; i++) {
        const struct al_value *member = &value->items[i];
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

        if (check_type(reader, member, STRING) && check_string(reader, key, member) &&
            has_room(reader, key, member, grant->ndirs) &&
            al_grant_add_dir(grant, member->name, member->text, &why) < 0)
            fail(reader, member, "%s", why.message);
    }
}

/* The value of a variable is the only string that may be empty. */
static void read_variables(struct reader *reader, const struct al_key *key,
                           const struct al_value *value, void *ret)
{
    struct al_strv *env = ret;
    for (size_t i = 0; i < value->count; i++) {
        const struct al_value *member = &value->items[i];

        if (!check_type(reader, member, STRING) || !has_room(reader, key, member, env->count))
            continue;
        if (!al_env_is_name(member->name))
            fail(reader, member, "must be the name of a variable: letters, digits and '_'");
        else if (!*member->text || check_string(reader, key, member))
            al_strv_addf(env, "%s=%s", member->name, member->text);
    }
}

/* Every rule has to state its decision, so there is no default to misremember.  The file's rules
 * replace earlier ones. */
static void read_rules(struct reader *reader, const struct al_key *key,
                       const struct al_value *value, void *ret)
{
    struct al_policy *policy = ret;
    if (value->count > (size_t)key->max) {
        fail(reader, value, "must have at most %" PRId64 " rules", key->max);
        return;
    }
    al_policy_clear(policy);
    for (size_t i = 0; i < value->count; i++) {
        const struct al_value *item = &value->items[i];

        read_table(reader, AL_KEY_RULE, item, al_policy_add(policy, item->line));
        if (!al_value_get(item, "decision"))
            fail(reader, item, "has no 'decision'");
    }
}

/* --- Tables of keys --- */

static const struct {
    enum type wanted;
    void (*read)(struct reader *reader, const struct al_key *key, const struct al_value *value,
                 void *ret);
} kinds[] = {
    [AL_KEY_BOOL] = { TRUTH, read_scalar },         [AL_KEY_UINT32] = { WHOLE, read_scalar },
    [AL_KEY_UINT64] = { WHOLE, read_scalar },       [AL_KEY_STRING] = { STRING, read_scalar },
    [AL_KEY_STRINGS] = { STRINGS, read_strings },   [AL_KEY_PATHS] = { STRINGS, read_strings },
    [AL_KEY_FILE] = { STRING, read_file },          [AL_KEY_CHOICE] = { STRING, read_scalar },
    [AL_KEY_VARIABLES] = { TABLE, read_variables }, [AL_KEY_DIRS] = { TABLE, read_dirs },
    [AL_KEY_GRANTS] = { TABLE, read_grants },       [AL_KEY_SERVERS] = { TABLE, read_servers },
    [AL_KEY_RULES] = { TABLES, read_rules },
};

static void read_key(struct reader *reader, const struct al_key *key, const struct al_value *value,
                     void *fields)
{
    void *field = (char *)fields + key->offset;

    if (key->takes_one && value->type == AL_VALUE_STRING) {
        al_strv_clear(field);
        add_string(reader, key, value, field);
        return;
    }
    if (!check_type(reader, value, kinds[key->kind].wanted))
        return;
    if (key->given)
        *(bool *)((char *)fields + key->given) = true;
    kinds[key->kind].read(reader, key, value, field);
}

static void fail_unknown(struct reader *reader, const struct al_value *value, const char *path)
{
    al_auto(al_freep) char *meant = al_key_nearest(path);
    const size_t hidden = strlen(reader->hidden);

    if (meant && al_starts_with(meant, reader->hidden))
        fail(reader, value, "unknown key, did you mean '%s'?", meant + hidden);
    else
        fail(reader, value, "unknown key");
}

/* Read the members of a table, which in the table of keys is called `place`: "" or "tools.git.".
 * The end of a member's key has the quotes that its name may need. */
static void read_table(struct reader *reader, const char *place, const struct al_value *table,
                       void *fields)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct al_value *member = &table->items[i];
        const char *name = member->key + strlen(table->key) + (*table->key ? 1 : 0);
        al_auto(al_freep) char *path = al_asprintf("%s%s", place, name);
        al_auto(al_freep) char *below = al_asprintf("%s.", path);
        bool is_table;
        const struct al_key *key = al_key_find(path, &is_table);

        if (key)
            read_key(reader, key, member, fields);
        else if (!is_table)
            fail_unknown(reader, member, path);
        else if (check_type(reader, member, TABLE))
            read_table(reader, below, member, fields);
    }
}

int al_config_read_table(const char *place, const struct al_value *table, void *fields,
                         struct al_error *err)
{
    struct reader reader = { .hidden = place, .err = err };

    read_table(&reader, place, table, fields);
    return reader.line ? AL_ERR_BAD_ARGS : 0;
}

/* --- Options --- */

/* Read what an option says: all values of a list, else the newest, which for words has several
 * behind commas. */
static void take_option(struct reader *reader, const struct al_key *key, struct al_strv *given,
                        void *fields)
{
    void *field = (char *)fields + key->offset;
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;
    const struct al_strv *list = given;
    struct al_value value = { .type = AL_VALUE_STRING,
                              .file = "",
                              .line = 1,
                              .key = (char *)key->option,
                              .text = given->items[given->count - 1] };

    if (key->kind == AL_KEY_STRINGS) {
        for (char *part; key->words && (part = strsep(&value.text, ","));)
            al_strv_add(&words, part);
        if (words.count)
            list = &words;
        al_strv_clear(field);
        for (size_t i = 0; i < list->count; i++) {
            value.text = list->items[i];
            add_string(reader, key, &value, field);
        }
    } else if (key->kind == AL_KEY_BOOL) {
        *(bool *)field = !key->initial;
    } else if (key->kind == AL_KEY_UINT32 &&
               (!*value.text || value.text[strspn(value.text, "0123456789")])) {
        fail(reader, &value, "must be a whole number");
    } else {
        kinds[key->kind].read(reader, key, &value, field);
    }
}

int al_config_take_options(struct al_config *config, const struct al_options *options,
                           struct al_error *err)
{
    struct reader reader = { .hidden = "", .err = err };
    const struct al_key *key;

    if (al_option(options, "--token-file"))
        config->serve.no_token = false;
    if (al_option(options, "--no-token"))
        al_freep(&config->serve.token_file);
    for (size_t i = 0; (key = al_key_nth(i)) && !reader.line; i++) {
        al_auto(al_strv_clear) struct al_strv given = AL_STRV_INIT;

        if (key->option)
            al_option_all(options, key->option, &given);
        if (given.count)
            take_option(&reader, key, &given, config);
        if (reader.line)
            (void)al_error_about(AL_ERR_BAD_ARGS, err, AL_SUBJECT_NONE, key->option);
    }
    if (al_option(options, "--root"))
        config->roots_line = 0;
    if (al_option(options, "--toolset"))
        config->toolsets_line = 0;
    return reader.line ? AL_ERR_BAD_ARGS : 0;
}

/* --- Reading one file --- */

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

static unsigned line_of(const struct al_value *toml, const char *key)
{
    const struct al_value *value = al_value_get(toml, key);

    return value ? value->line : 0;
}

/* The grant of a table has to be there, whether it is used or not. */
static void check_grant(struct reader *reader, const struct al_value *toml, const char *table,
                        struct al_grants *grants)
{
    const struct al_value *members = al_value_get(toml, table),
                          *name = members ? al_value_get(members, "grant") : NULL;
    struct al_grant *grant;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (name && al_grants_choose(grants, name->text, &grant, &why) < 0)
        fail(reader, name, "%s", why.message);
}

static int read_config(struct al_config *config, const char *path, const char *home,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_value_clear) struct al_value toml = { .type = AL_VALUE_NULL };
    struct reader reader = { .home = home, .hidden = "", .err = err };
    int r = al_config_read_text(path, &text, err);

    if (r < 0)
        return r;
    free(config->file);
    config->file = al_strdup(path);
    r = al_toml_read(path, text.buf, text.len, &toml, err);
    if (r == 0)
        read_table(&reader, "", &toml, config);
    if (r == 0 && !reader.line) {
        check_grant(&reader, &toml, "serve", &config->grants);
        check_grant(&reader, &toml, "shell", &config->grants);
        config->toolsets_line = line_of(&toml, "toolsets");
        config->roots_line = line_of(&toml, "roots");
    }
    return reader.line ? AL_ERR_BAD_ARGS : r;
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
    al_auto(al_freep) char *safe = NULL;
    int r = AL_ERR_NOT_FOUND;

    for (size_t i = 0; i < AL_COUNT(places) && r == AL_ERR_NOT_FOUND; i++)
        if (places[i])
            r = read_config(config, places[i], home, &why);
    if (r == 0 || (r == AL_ERR_NOT_FOUND && !path))
        return 0;
    al_config_clear(config);
    al_config_init(config);
    if (r == AL_ERR_NOT_FOUND)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: no such file", path);
    safe = al_text_join_lines(why.message);
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s", safe);
}
