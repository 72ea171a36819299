// SPDX-License-Identifier: Apache-2.0
#include "wire/raw_json.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "util/json.h"

/* Every integer of 18 digits fits into 64 bits; not every one of 19 does. */
#define SAFE_DIGITS 18

static bool is_number_char(char c)
{
    return isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    return p;
}

/* From an opening quote to behind the closing one. */
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
        else if (*p == '"')
            return p + 1;
    }
    return end;
}

static const char *skip_brackets(const char *p, const char *end)
{
    size_t depth = 0;

    while (p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        if (*p == '[' || *p == '{')
            depth++;
        else if ((*p == ']' || *p == '}') && --depth == 0)
            return p + 1;
        p++;
    }
    return end;
}

static const char *skip_value(const char *p, const char *end)
{
    if (p < end && *p == '"')
        return skip_string(p, end);
    if (p < end && (*p == '[' || *p == '{'))
        return skip_brackets(p, end);
    while (p < end && !strchr(",]} \t\r\n", *p))
        p++;
    return p;
}

static bool key_is(const char *key, const char *end, const char *name)
{
    size_t len = strlen(name);

    if (!memchr(key, '\\', (size_t)(end - key)))
        return (size_t)(end - key) == len + 2 && !memcmp(key + 1, name, len);

    al_auto(al_json_decrefp) json_t *text =
        json_loadb(key, (size_t)(end - key), JSON_DECODE_ANY, NULL);
    return text && json_string_length(text) == len && !memcmp(json_string_value(text), name, len);
}

/* Set *ret_last to the last member of that name, and return how many there are. */
static size_t find_members(struct al_raw_json object, const char *name,
                           struct al_raw_json *ret_last)
{
    const char *p, *end;
    size_t count = 0;

    if (!object.at)
        return 0;
    end = object.at + object.len;
    p = skip_space(object.at, end);
    if (p == end || *p != '{')
        return 0;
    p = skip_space(p + 1, end);
    while (p < end && *p == '"') {
        const char *key = p, *key_end = skip_string(p, end), *value;

        value = skip_space(key_end, end);
        if (value < end && *value == ':')
            value++;
        value = skip_space(value, end);
        p = skip_value(value, end);
        if (key_is(key, key_end, name)) {
            *ret_last = (struct al_raw_json){ value, (size_t)(p - value) };
            count++;
        }
        p = skip_space(p, end);
        if (p < end && *p == ',')
            p = skip_space(p + 1, end);
    }
    return count;
}

struct al_raw_json al_raw_json_member(struct al_raw_json object, const char *name)
{
    struct al_raw_json found = { NULL, 0 };

    (void)find_members(object, name, &found);
    return found;
}

size_t al_raw_json_count_members(struct al_raw_json object, const char *name)
{
    struct al_raw_json ignored = { NULL, 0 };

    return find_members(object, name, &ignored);
}

struct al_raw_json al_raw_json_next(struct al_raw_json array, struct al_raw_json item)
{
    const char *end = array.at + array.len;
    const char *p = item.at ? item.at + item.len : array.at;
    const char *from;

    p = skip_space(p, end);
    if (p == end || *p != (item.at ? ',' : '['))
        return (struct al_raw_json){ NULL, 0 };
    from = skip_space(p + 1, end);
    p = skip_value(from, end);
    if (p == from)
        return (struct al_raw_json){ NULL, 0 };
    return (struct al_raw_json){ from, (size_t)(p - from) };
}

size_t al_raw_json_count_values(struct al_raw_json text)
{
    const char *end = text.at + text.len;
    size_t count = 1;

    for (const char *p = text.at; p < end;) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        count += *p == ',' || *p == '[' || *p == '{';
        p++;
    }
    return count;
}

/* The end of a number.  *ret_wide: it is an integer that may not fit into 64 bits. */
static const char *skip_number(const char *p, const char *end, bool *ret_wide)
{
    const char *from = p;
    size_t digits = 0;

    for (; p < end && is_number_char(*p); p++)
        digits += isdigit((unsigned char)*p) != 0;
    *ret_wide = digits > SAFE_DIGITS && (size_t)(p - from) == digits + (*from == '-');
    return p;
}

char *al_raw_json_widen(struct al_raw_json text, size_t *ret_len)
{
    const char *end = text.at + text.len;
    struct al_str out = AL_STR_INIT;

    al_str_reserve(&out, text.len + 2);
    for (const char *p = text.at; p < end;) {
        const char *from = p;
        bool wide = false;

        if (*p == '"')
            p = skip_string(p, end);
        else if (is_number_char(*p))
            p = skip_number(p, end, &wide);
        else
            p++;
        al_str_add(&out, from, (size_t)(p - from));
        if (wide)
            al_str_adds(&out, "e0");
    }
    *ret_len = out.len;
    return al_str_detach(&out);
}
