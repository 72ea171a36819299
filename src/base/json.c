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

/* U+2028 or U+2029, which some readers take for a line end.  In JSON text they are always inside a
 * string, so they can be escaped. */
static bool is_separator(const char *text, size_t len)
{
    return len >= 3 && !memcmp(text, "\xe2\x80", 2) && (text[2] == '\xa8' || text[2] == '\xa9');
}

/* The character after the backslash for a byte that needs an escape; 'u': \u00XX. */
static const char escapes[256] = {
    'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 't',         'n', /* tab and newline */
    'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u',         'u',           'u',
    'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', ['"'] = '"', ['\\'] = '\\', [0x7f] = 'u',
};

/* Append one character that may need an escape.  Returns the end of its bytes, at least one. */
static const char *add_character(const char *text, const char *end, struct al_str *out)
{
    const char escape = escapes[(unsigned char)*text];

    if (is_separator(text, (size_t)(end - text))) {
        al_str_adds(out, text[2] == '\xa8' ? "\\u2028" : "\\u2029");
        return text + 3;
    }
    if (escape == 'u')
        al_str_addf(out, "\\u%04x", (unsigned char)*text);
    else if (escape)
        al_str_add(out, (char[]){ '\\', escape }, 2);
    else
        al_str_addc(out, *text);
    return text + 1;
}

/* The number of leading bytes that need no escape. */
static size_t plain_run(const char *text, size_t len)
{
    size_t run = 0;

    while (run < len && !escapes[(unsigned char)text[run]] && (unsigned char)text[run] != 0xe2)
        run++;
    return run;
}

static void escape(const char *text, size_t len, struct al_str *out)
{
    const char *end = text + len;

    while (text < end) {
        size_t run = plain_run(text, (size_t)(end - text));

        al_str_add(out, text, run);
        text += run;
        if (text < end)
            text = add_character(text, end, out);
    }
}

void al_json_quote(const char *text, size_t len, struct al_str *out)
{
    al_str_addc(out, '"');
    escape(text, len, out);
    al_str_addc(out, '"');
}

/* A character above U+FFFF is written as a surrogate pair. */
static void add_escaped(uint32_t c, struct al_str *out)
{
    if (c > 0xffff) {
        al_str_addf(out, "\\u%04X", (unsigned)(0xd7c0 + (c >> 10)));
        c = 0xdc00 | (c & 0x3ff);
    }
    al_str_addf(out, "\\u%04X", (unsigned)c);
}

/* The same in ASCII; bytes that are not UTF-8 become U+FFFD. */
static void quote_ascii(const char *text, size_t len, struct al_str *out)
{
    size_t at = 0;

    al_str_addc(out, '"');
    for (;;) {
        size_t plain = al_utf8_ascii(text + at, len - at);
        uint32_t c = 0;
        int n;

        escape(text + at, plain, out);
        at += plain;
        if (at == len)
            break;
        n = al_utf8_next(text + at, len - at, &c);
        add_escaped(n > 0 ? c : 0xfffd, out);
        at += n > 0 ? (size_t)n : 1;
    }
    al_str_addc(out, '"');
}

static void add_string(const char *text, size_t len, bool ascii, struct al_str *out)
{
    if (ascii)
        quote_ascii(text, len, out);
    else
        al_json_quote(text, len, out);
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

/* jansson's own writer is as fast, but leaves U+2028, U+2029 and DEL as they are, and writes 0.003
 * as 0.0030000000000000001. */
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
