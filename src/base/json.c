// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <stdlib.h>

#include "base/utf8.h"

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

json_t *al_json_name(const char *name)
{
    al_auto(al_str_clear) struct al_str escaped = AL_STR_INIT;

    al_utf8_escape(name, strlen(name), &escaped);
    return sure(json_stringn_nocheck(escaped.buf, escaped.len));
}

json_t *al_json_string(const char *text)
{
    size_t len = strlen(text);

    return al_utf8_valid(text, len) ? sure(json_stringn_nocheck(text, len)) : al_json_name(text);
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

/* A character above U+FFFF is written as a surrogate pair. */
static void add_escaped(uint32_t c, struct al_str *out)
{
    if (c > 0xffff) {
        al_str_addf(out, "\\u%04x", (unsigned)(0xd7c0 + (c >> 10)));
        c = 0xdc00 | (c & 0x3ff);
    }
    al_str_addf(out, "\\u%04x", (unsigned)c);
}

/* Whether a byte stands for itself: the others are escaped or begin a character beyond ASCII. */
static bool is_plain(char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static void add_character(const char *text, size_t len, uint32_t c, bool ascii, struct al_str *out)
{
    static const char letters[] = { ['\t'] = 't', ['\n'] = 'n', ['"'] = '"', ['\\'] = '\\' };

    if (c < sizeof(letters) && letters[c])
        al_str_add(out, (char[]){ '\\', letters[c] }, 2);
    else if (ascii || al_utf8_is_hidden(c))
        add_escaped(c, out);
    else
        al_str_add(out, text, len);
}

static void add_string(const char *text, size_t len, bool ascii, struct al_str *out)
{
    static const char replacement[] = AL_UTF8_REPLACEMENT;
    const char *end = text + len;

    al_str_addc(out, '"');
    while (text < end) {
        const char *from = text;
        uint32_t c;
        int n;

        while (text < end && is_plain(*text))
            text++;
        al_str_add(out, from, (size_t)(text - from));
        n = al_utf8_next(text, (size_t)(end - text), &c);
        if (n > 0)
            add_character(text, (size_t)n, c, ascii, out);
        else if (text < end)
            add_character(replacement, strlen(replacement), 0xfffd, ascii, out);
        text += n > 0 ? n : text < end;
    }
    al_str_addc(out, '"');
}

void al_json_quote(const char *text, size_t len, struct al_str *out)
{
    add_string(text, len, false, out);
}

static void add_object(const json_t *object, bool ascii, struct al_str *out)
{
    const char *name, *before = "{";
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        al_str_adds(out, before);
        add_string(name, strlen(name), ascii, out);
        al_str_addc(out, ':');
        al_json_dump(value, ascii, out);
        before = ",";
    }
    al_str_adds(out, *before == '{' ? "{}" : "}");
}

static void add_array(const json_t *array, bool ascii, struct al_str *out)
{
    const char *before = "[";
    json_t *value;
    size_t i;

    json_array_foreach(array, i, value)
    {
        al_str_adds(out, before);
        al_json_dump(value, ascii, out);
        before = ",";
    }
    al_str_adds(out, *before == '[' ? "[]" : "]");
}

static int add_piece(const char *data, size_t len, void *out)
{
    al_str_add(out, data, len);
    return 0;
}

/* The fewest digits that read back as the same number: 0.003, not 0.0030000000000000001. */
static void add_real(const json_t *value, struct al_str *out)
{
    for (size_t digits = 15; digits <= 17; digits++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        if (json_dump_callback(value, add_piece, &text,
                               JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits)) < 0)
            abort();
        if (digits == 17 || strtod(text.buf, NULL) == json_real_value(value)) {
            al_str_add(out, text.buf, text.len);
            return;
        }
    }
}

/* jansson's own writer is as fast, but leaves hidden characters as they are, and writes 0.003 as
 * 0.0030000000000000001. */
void al_json_dump(const json_t *value, bool ascii, struct al_str *out)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        add_object(value, ascii, out);
        break;
    case JSON_ARRAY:
        add_array(value, ascii, out);
        break;
    case JSON_STRING:
        add_string(json_string_value(value), json_string_length(value), ascii, out);
        break;
    case JSON_REAL:
        add_real(value, out);
        break;
    case JSON_INTEGER:
        al_str_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        if (json_dump_callback(value, add_piece, out, JSON_ENCODE_ANY) < 0)
            abort(); /* not a JSON value, or out of memory */
    }
}

size_t al_json_bytes(const json_t *value)
{
    size_t bytes = value ? AL_JSON_VALUE_BYTES + json_string_length(value) : 0;
    const char *name;
    json_t *item;
    size_t i;

    json_object_foreach((json_t *)value, name, item)
    {
        bytes += strlen(name) + al_json_bytes(item);
    }
    json_array_foreach(value, i, item)
    {
        bytes += al_json_bytes(item);
    }
    return bytes;
}

const char *al_json_get_string(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}
