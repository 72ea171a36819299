// SPDX-License-Identifier: Apache-2.0
#include "config/reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "guard/text.h"
#include "util/fs.h"

/* Storing a value of the file in its field. */

static enum al_toml_type type_wanted(enum al_key_kind kind)
{
    switch (kind) {
    case AL_KEY_BOOL:
        return AL_TOML_BOOL;
    case AL_KEY_UINT32:
    case AL_KEY_UINT64:
        return AL_TOML_INT;
    case AL_KEY_STRINGS:
        return AL_TOML_STRINGS;
    case AL_KEY_STRING:
    case AL_KEY_ABS_FILE:
    case AL_KEY_FILE:
    case AL_KEY_CHOICE:
    case AL_KEY_RULE_STRING:
    case AL_KEY_RULE_DECISION:
        return AL_TOML_STRING;
    case AL_KEY_RULES:
        return AL_TOML_TABLES;
    case AL_KEY_GRANTS:
    case AL_KEY_SERVERS:
        break;
    }
    return AL_TOML_TABLE;
}

static bool has_type(struct al_config_reader *reader, const struct al_key *key,
                     const struct al_toml_value *value)
{
    if (key->takes_one && value->type == AL_TOML_STRING)
        return true;
    return al_config_reader_check_type(reader, value, type_wanted(key->kind));
}

static bool is_within(struct al_config_reader *reader, const struct al_key *key,
                      const struct al_toml_value *value)
{
    if (value->integer >= key->min && value->integer <= key->max)
        return true;
    al_config_reader_fail(reader, value->line, key->path,
                          "must be between %" PRId64 " and %" PRId64, key->min, key->max);
    return false;
}

static void set_strings(struct al_config_reader *reader, const struct al_key *key,
                        const struct al_toml_value *value, struct al_strv *field)
{
    if (value->nitems < (size_t)key->min || value->nitems > (size_t)key->max) {
        al_config_reader_fail(reader, value->line, key->path,
                              "must have between %" PRId64 " and %" PRId64 " items", key->min,
                              key->max);
        return;
    }
    al_strv_clear(field);
    for (size_t i = 0; i < value->nitems; i++) {
        const struct al_toml_item *item = &value->items[i];
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

        if (key->check && key->check(item->text, &why) < 0)
            al_config_reader_fail(reader, item->line, key->path, "%s", why.message);
        al_strv_add(field, item->text);
    }
}

static void set_file(struct al_config_reader *reader, const struct al_key *key,
                     const struct al_toml_item *item, char **field)
{
    const char *slash = strrchr(reader->path, '/');
    al_auto(al_freep) char *directory =
        slash ? al_strndup(reader->path, (size_t)(slash + 1 - reader->path)) : al_strdup(".");
    bool at_home = al_starts_with(item->text, "~/");

    if (item->text[0] != '/' && !at_home && key->kind == AL_KEY_ABS_FILE) {
        al_config_reader_fail(reader, item->line, key->path,
                              "must be an absolute path or begin with '~/'");
    } else if (al_ends_with(item->text, "/")) {
        al_config_reader_fail(reader, item->line, key->path, "must name a file, not a directory");
    } else if (at_home && !reader->home) {
        al_config_reader_fail(reader, item->line, key->path,
                              "begins with '~/', but HOME is not set");
    } else {
        free(*field);
        *field = at_home ? al_fs_join(reader->home, item->text + 2)
                         : al_fs_join(directory, item->text); /* an absolute path stays */
    }
}

static void set_string(struct al_config_reader *reader, const struct al_key *key,
                       const struct al_toml_item *item, char **field)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (key->check && key->check(item->text, &why) < 0)
        al_config_reader_fail(reader, item->line, key->path, "%s", why.message);
    free(*field);
    *field = al_strdup(item->text);
}

/* "must be 'ask', 'allow' or 'deny'" */
static void fail_choice(struct al_config_reader *reader, const struct al_key *key, unsigned line)
{
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    for (size_t i = 0; key->words[i]; i++) {
        bool last = !key->words[i + 1];

        al_str_addf(&list, "%s'%s'", !i ? "" : last ? " or " : ", ", key->words[i]);
    }
    al_config_reader_fail(reader, line, key->path, "must be %s", list.buf);
}

static void set_choice(struct al_config_reader *reader, const struct al_key *key,
                       const struct al_toml_item *item, unsigned *field)
{
    for (unsigned i = 0; key->words[i]; i++)
        if (!strcmp(key->words[i], item->text)) {
            *field = i;
            return;
        }
    fail_choice(reader, key, item->line);
}

static void *field_of(const struct al_config_reader *reader, const struct al_key *key)
{
    const struct al_policy *policy = &reader->into->approval.policy;

    if (key->kind == AL_KEY_RULE_STRING || key->kind == AL_KEY_RULE_DECISION)
        return (char *)&policy->rules[policy->count - 1] + key->offset;
    return (char *)reader->into + key->offset;
}

bool al_config_reader_set(struct al_config_reader *reader, const struct al_key *key,
                          const struct al_toml_value *value)
{
    void *field = field_of(reader, key);

    if (key->kind == AL_KEY_RULES)
        return al_config_reader_set_rules(reader, value, field);
    if (key->kind == AL_KEY_RULE_DECISION)
        reader->has_decision = true;
    if (!has_type(reader, key, value) || !al_config_reader_check_strings(reader, value))
        return false;
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
    case AL_KEY_ABS_FILE:
    case AL_KEY_FILE:
        set_file(reader, key, value->items, field);
        break;
    case AL_KEY_CHOICE:
    case AL_KEY_RULE_DECISION:
        set_choice(reader, key, value->items, field);
        break;
    case AL_KEY_STRING:
    case AL_KEY_RULE_STRING:
        set_string(reader, key, value->items, field);
        break;
    case AL_KEY_GRANTS:
        al_grants_clear(field);
        return true;
    case AL_KEY_SERVERS:
        al_mcp_servers_clear(field);
        return true;
    case AL_KEY_RULES:
        break;
    }
    return false;
}

/* [[tools.approval.rule]]: a list of tables, one for each rule. */

#define RULES_MAX 256u

void al_config_reader_end_rule(struct al_config_reader *reader)
{
    const struct al_policy *policy = &reader->into->approval.policy;

    if (policy->count && !reader->has_decision)
        al_config_reader_fail(reader, policy->rules[policy->count - 1].line, "tools.approval.rule",
                              "has no 'decision'");
}

bool al_config_reader_set_rules(struct al_config_reader *reader, const struct al_toml_value *value,
                                struct al_policy *policy)
{
    if (value->in_list) {
        al_config_reader_end_rule(reader);
        reader->has_decision = false;
        (void)al_policy_add(policy, value->line);
        return true;
    }
    if (value->type == AL_TOML_STRINGS && !value->nitems) {
        al_policy_clear(policy);
        return false;
    }
    if (!al_config_reader_check_type(reader, value, AL_TOML_TABLES))
        return false;
    if (value->nitems > RULES_MAX) {
        al_config_reader_fail(reader, value->line, value->key, "must have at most %u rules",
                              RULES_MAX);
        return false;
    }
    al_policy_clear(policy);
    reader->has_decision = true; /* there is no current rule */
    return true;
}

/* [grants.NAME]: the part of the file whose keys the user chooses. */

#define GRANTS_MAX 64u
#define TOOLS_MAX  256u
#define DIRS_MAX   256u
#define NAME_BYTES 64u

/* The depth of a key's table, at and below `grants`. */
enum depth { IN_GRANTS = 1, IN_GRANT, IN_FS };

static bool is_name(const char *name, size_t len)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";

    for (size_t i = 0; i < len; i++)
        if (!name[i] || !strchr(allowed, name[i]))
            return false;
    return len > 0 && len <= NAME_BYTES;
}

static bool begin_grant(struct al_config_reader *reader, const struct al_toml_value *value)
{
    struct al_grants *grants = &reader->into->grants;
    al_auto(al_freep) char *name = NULL;

    if (!al_config_reader_check_type(reader, value, AL_TOML_TABLE))
        return false;
    if (!is_name(value->name, value->name_len)) {
        al_config_reader_fail(reader, value->line, value->key,
                              "must be named with 1 to %u letters, digits, '_' and '-'",
                              NAME_BYTES);
        return false;
    }
    if (grants->count == GRANTS_MAX) {
        al_config_reader_fail(reader, value->line, value->key, "there are more than %u grants",
                              GRANTS_MAX);
        return false;
    }
    name = al_strndup(value->name, value->name_len);
    (void)al_grants_add(grants, name);
    return true;
}

static void set_tools(struct al_config_reader *reader, const struct al_toml_value *value,
                      struct al_grant *grant)
{
    if (!al_config_reader_check_type(reader, value, AL_TOML_STRINGS) ||
        !al_config_reader_check_strings(reader, value))
        return;
    if (value->nitems > TOOLS_MAX) {
        al_config_reader_fail(reader, value->line, value->key, "must have between 0 and %u items",
                              TOOLS_MAX);
        return;
    }
    grant->limits_tools = true;
    grant->tools_line = value->line;
    for (size_t i = 0; i < value->nitems; i++)
        al_strv_add(&grant->tools, value->items[i].text);
}

static bool in_grant(struct al_config_reader *reader, const struct al_toml_value *value,
                     struct al_grant *grant)
{
    if (al_ends_with(value->key, ".tools")) {
        set_tools(reader, value, grant);
        return false;
    }
    if (al_ends_with(value->key, ".fs")) {
        grant->limits_dirs = true;
        return al_config_reader_check_type(reader, value, AL_TOML_TABLE);
    }
    al_config_reader_fail(reader, value->line, value->key,
                          "unknown key; a grant has 'tools' and 'fs'");
    return false;
}

static void add_dir(struct al_config_reader *reader, const struct al_toml_value *value,
                    struct al_grant *grant)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *path = al_strndup(value->name, value->name_len);

    if (!al_config_reader_check_type(reader, value, AL_TOML_STRING) ||
        !al_config_reader_check_strings(reader, value))
        return;
    if (strlen(path) != value->name_len)
        al_config_reader_fail(reader, value->line, value->key, "must not contain a NUL");
    else if (grant->ndirs == DIRS_MAX)
        al_config_reader_fail(reader, value->line, value->key,
                              "a grant lists at most %u directories", DIRS_MAX);
    else if (al_grant_add_dir(grant, path, value->items[0].text, &why) < 0)
        al_config_reader_fail(reader, value->line, value->key, "%s", why.message);
}

bool al_config_reader_set_grants(struct al_config_reader *reader, const struct al_toml_value *value)
{
    struct al_grants *grants = &reader->into->grants;

    switch (value->depth) {
    case IN_GRANTS:
        return begin_grant(reader, value);
    case IN_GRANT:
        return in_grant(reader, value, &grants->items[grants->count - 1]);
    case IN_FS:
        add_dir(reader, value, &grants->items[grants->count - 1]);
        return false;
    default:
        return false;
    }
}

void al_config_reader_fail(struct al_config_reader *reader, unsigned line, const char *key,
                           const char *fmt, ...)
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

bool al_config_reader_check_type(struct al_config_reader *reader, const struct al_toml_value *value,
                                 enum al_toml_type wanted)
{
    if (value->type == wanted)
        return true;
    al_config_reader_fail(reader, value->line, value->key, "must be %s, not %s", type_name(wanted),
                          type_name(value->type));
    return false;
}

bool al_config_reader_check_strings(struct al_config_reader *reader,
                                    const struct al_toml_value *value)
{
    bool fit = true;

    if (value->type == AL_TOML_TABLES)
        return true;
    for (size_t i = 0; i < value->nitems; i++) {
        const struct al_toml_item *item = &value->items[i];

        if (item->len == 0)
            al_config_reader_fail(reader, item->line, value->key, "must not be empty");
        else if (strlen(item->text) != item->len)
            al_config_reader_fail(reader, item->line, value->key, "must not contain a NUL");
        else if (item->len > AL_CONFIG_STRING_MAX_BYTES)
            al_config_reader_fail(reader, item->line, value->key, "must be at most %u bytes",
                                  AL_CONFIG_STRING_MAX_BYTES);
        else
            continue;
        fit = false;
    }
    return fit;
}
