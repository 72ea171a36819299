// SPDX-License-Identifier: Apache-2.0
#include "config/reader.h"

#include <stdlib.h>

#include "guard/text.h"

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
