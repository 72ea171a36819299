// SPDX-License-Identifier: Apache-2.0
#include "util/json.h"

#include <stdlib.h>

#include "util/utf8.h"

static json_t *sure(json_t *value)
{
    if (!value)
        abort(); /* jansson returns NULL here only when memory ran out */
    return value;
}

void al_json_decrefp(json_t **value)
{
    json_decref(*value);
    *value = NULL;
}

json_t *al_json_object(void)
{
    return sure(json_object());
}

json_t *al_json_array(void)
{
    return sure(json_array());
}

json_t *al_json_int(int64_t value)
{
    return sure(json_integer(value));
}

json_t *al_json_bool(bool value)
{
    return json_boolean(value);
}

json_t *al_json_stringn(const char *text, size_t len)
{
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    if (al_utf8_valid(text, len))
        return sure(json_stringn_nocheck(text, len));
    al_utf8_replace(text, len, &clean);
    return sure(json_stringn_nocheck(clean.buf, clean.len));
}

json_t *al_json_string(const char *text)
{
    return al_json_stringn(text, strlen(text));
}

void al_json_set(json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, value) < 0)
        abort();
}

void al_json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) < 0)
        abort();
}

static int add_piece(const char *data, size_t len, void *out)
{
    al_str_add(out, data, len);
    return 0;
}

void al_json_dump(const json_t *value, bool ascii, struct al_str *out)
{
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | (ascii ? JSON_ENSURE_ASCII : 0);

    if (json_dump_callback(value, add_piece, out, flags) < 0)
        abort(); /* only values that are not JSON, or no memory */
}

void al_json_quote(const char *text, size_t len, struct al_str *out)
{
    size_t from = 0;

    al_str_reserve(out, len + 2);
    al_str_addc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        al_str_add(out, text + from, i - from);
        from = i + 1;
        if (c == '"' || c == '\\')
            al_str_addf(out, "\\%c", c);
        else if (c == '\n')
            al_str_adds(out, "\\n");
        else if (c == '\t')
            al_str_adds(out, "\\t");
        else
            al_str_addf(out, "\\u%04x", c);
    }
    al_str_add(out, text + from, len - from);
    al_str_addc(out, '"');
}

const char *al_json_get_string(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}
