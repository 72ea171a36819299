// SPDX-License-Identifier: Apache-2.0
#include "tool/decode_value.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/pattern.h"
#include "util/utf8.h"

static int says_bad(const struct al_param *param, struct al_error *err)
{
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s", param->bad_message);
}

/* "a, b, c" */
static void add_choices(const struct al_param *param, struct al_str *out)
{
    for (const struct al_choice *choice = param->choices; choice->name; choice++)
        al_str_addf(out, "%s%s", choice == param->choices ? "" : ", ", choice->name);
}

int al_decode_wrong_type(const struct al_param *param, struct al_error *err)
{
    static const char *const wanted[] = {
        [AL_TYPE_BOOL] = "a boolean",
        [AL_TYPE_INT] = "an integer",
        [AL_TYPE_STRING] = "a string",
        [AL_TYPE_STRINGS] = "an array of strings",
        [AL_TYPE_CHOICE] = "one of: ",
        [AL_TYPE_OBJECT] = "an object",
        [AL_TYPE_OBJECTS] = "an array of objects",
    };
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;

    if (param->type == AL_TYPE_CHOICE)
        add_choices(param, &names);
    return al_error_set(err, AL_ERR_BAD_ARGS, "Invalid arguments: '%s' must be %s%s", param->name,
                        wanted[param->type], names.buf);
}

/* White space in both ECMA-262 and Unicode. */
static bool is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t c;
        int n = al_utf8_next(text + i, len - i, &c);

        if (n <= 0 || !is_space(c))
            return false;
        i += (size_t)n;
    }
    return true;
}

static int check_pattern(const struct al_param *param, const char *text, struct al_error *err)
{
    if (al_pattern_matches(param->pattern, text))
        return 0;
    if (param->bad_message)
        return says_bad(param, err);
    return al_error_set(err, AL_ERR_BAD_ARGS, "Invalid arguments: '%s' must match %s", param->name,
                        param->pattern);
}

/* The rules for a string parameter, and for each item of a list. */
static int check_string(const struct al_param *param, const json_t *value, struct al_error *err)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);

    if (strlen(text) != len)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "Invalid arguments: '%s' contains a NUL character", param->name);
    if (len > param->max_bytes)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s cannot be longer than %zu bytes", param->name,
                            param->max_bytes);
    if (param->min_bytes > 0 && (len < param->min_bytes || is_blank(text, len))) {
        if (param->bad_message)
            return says_bad(param, err);
        if (param->min_bytes == 1)
            return al_error_set(err, AL_ERR_BAD_ARGS, "%s must not be empty", param->name);
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s must be at least %zu bytes long", param->name,
                            param->min_bytes);
    }
    return param->pattern ? check_pattern(param, text, err) : 0;
}

static int decode_bool(const struct al_param *param, const json_t *value, bool *field,
                       struct al_error *err)
{
    if (!json_is_boolean(value))
        return al_decode_wrong_type(param, err);
    *field = json_is_true(value);
    return 0;
}

/* In JSON Schema a number with an integral value is an integer, however it is written.  A number
 * beyond 64 bits is also beyond every bound, so the nearest value gives the right message. */
static bool integer_of(const json_t *value, int64_t *ret)
{
    double real;

    if (json_is_integer(value)) {
        *ret = json_integer_value(value);
        return true;
    }
    if (!json_is_real(value))
        return false;
    real = json_real_value(value);
    if (real >= 0x1p63)
        *ret = INT64_MAX;
    else if (real < -0x1p63)
        *ret = INT64_MIN;
    else
        *ret = (int64_t)real;
    return real >= 0x1p63 || real < -0x1p63 || (double)*ret == real;
}

static int decode_int(const struct al_param *param, const json_t *value, struct al_opt_int *field,
                      struct al_error *err)
{
    int64_t n;

    if (!integer_of(value, &n))
        return al_decode_wrong_type(param, err);
    if (n > param->max && (param->flags & AL_PARAM_TIMEOUT))
        n = param->max;
    if ((n < param->min || n > param->max) && param->bad_message)
        return says_bad(param, err);
    if (n < param->min)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s must be at least %" PRId64, param->name,
                            param->min);
    if (n > param->max)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s cannot exceed %" PRId64, param->name,
                            param->max);
    *field = (struct al_opt_int){ .given = true, .value = n };
    return 0;
}

static int decode_string(const struct al_param *param, const json_t *value, const char **field,
                         struct al_error *err)
{
    int r;

    if (!json_is_string(value))
        return al_decode_wrong_type(param, err);
    r = check_string(param, value, err);
    if (r < 0)
        return r;
    *field = json_string_value(value);
    return 0;
}

int al_decode_count(const struct al_param *param, const json_t *value, struct al_error *err)
{
    size_t count = json_array_size(value);

    if (!json_is_array(value))
        return al_decode_wrong_type(param, err);
    if ((int64_t)count < param->min) {
        if (param->bad_message)
            return says_bad(param, err);
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s must contain at least %" PRId64 " element(s)",
                            param->name, param->min);
    }
    if ((int64_t)count > param->max)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s cannot contain more than %" PRId64 " elements", param->name,
                            param->max);
    return 0;
}

static int decode_strings(const struct al_param *param, const json_t *value, struct al_strv *field,
                          struct al_error *err)
{
    size_t count = json_array_size(value);
    int r = al_decode_count(param, value, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(value, i);

        if (!json_is_string(item))
            return al_decode_wrong_type(param, err);
        r = check_string(param, item, err);
        if (r < 0)
            return r;
        al_strv_add(field, json_string_value(item));
    }
    return 0;
}

static int decode_choice(const struct al_param *param, const json_t *value, int *field,
                         struct al_error *err)
{
    const char *text = json_string_value(value);

    for (const struct al_choice *choice = param->choices; text && choice->name; choice++) {
        /* Compare the length too: the text may contain a NUL. */
        if (strlen(choice->name) == json_string_length(value) && strcmp(choice->name, text) == 0) {
            *field = choice->value;
            return 0;
        }
    }
    return al_decode_wrong_type(param, err);
}

int al_decode_value(const struct al_param *param, const json_t *value, void *field,
                    struct al_error *err)
{
    switch (param->type) {
    case AL_TYPE_BOOL:
        return decode_bool(param, value, field, err);
    case AL_TYPE_INT:
        return decode_int(param, value, field, err);
    case AL_TYPE_STRING:
        return decode_string(param, value, field, err);
    case AL_TYPE_STRINGS:
        return decode_strings(param, value, field, err);
    case AL_TYPE_CHOICE:
        return decode_choice(param, value, field, err);
    case AL_TYPE_OBJECT:
    case AL_TYPE_OBJECTS:
        break;
    }
    abort(); /* a row of no type, or of several values */
}
