// SPDX-License-Identifier: Apache-2.0
/* [grants.NAME]: the part of the file whose keys the user chooses. */
#include <stdlib.h>

#include "config/reader.h"

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
