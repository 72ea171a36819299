// SPDX-License-Identifier: Apache-2.0
/* Storing a value of the file in its field. */
#include <inttypes.h>
#include <stdlib.h>

#include "config/keys.h"
#include "config/reader.h"
#include "util/fs.h"

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
