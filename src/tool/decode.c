// SPDX-License-Identifier: Apache-2.0
/* Decode JSON arguments into a tool's argument struct, by its parameter rows. */
#include <inttypes.h>
#include <stdlib.h>

#include "guard/text.h"
#include "tool/args.h"
#include "tool/pattern.h"
#include "tool/spelling.h"
#include "tool/tool.h"
#include "util/nearest.h"
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

/* Report that a value has another type than its parameter.  Returns AL_ERR_BAD_ARGS. */
static int decode_wrong_type(const struct al_param *param, struct al_error *err)
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
    if (len > al_param_max_bytes(param))
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s cannot be longer than %zu bytes", param->name,
                            al_param_max_bytes(param));
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
        return decode_wrong_type(param, err);
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
        return decode_wrong_type(param, err);
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
        return decode_wrong_type(param, err);
    r = check_string(param, value, err);
    if (r < 0)
        return r;
    *field = json_string_value(value);
    return 0;
}

/* Check that a value is an array, and the bounds of its number of items. */
static int decode_count(const struct al_param *param, const json_t *value, struct al_error *err)
{
    size_t count = json_array_size(value);

    if (!json_is_array(value))
        return decode_wrong_type(param, err);
    if ((int64_t)count < param->min) {
        if (param->bad_message)
            return says_bad(param, err);
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s must contain at least %" PRId64 " element(s)",
                            param->name, param->min);
    }
    if ((int64_t)count > al_param_max_items(param))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s cannot contain more than %" PRId64 " elements", param->name,
                            al_param_max_items(param));
    return 0;
}

static int decode_strings(const struct al_param *param, const json_t *value, struct al_strv *field,
                          struct al_error *err)
{
    size_t count = json_array_size(value);
    int r = decode_count(param, value, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(value, i);

        if (!json_is_string(item))
            return decode_wrong_type(param, err);
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
    return decode_wrong_type(param, err);
}

/* Decode the value of a parameter of any type but AL_TYPE_OBJECT and AL_TYPE_OBJECTS. */
static int al_decode_value(const struct al_param *param, const json_t *value, void *field,
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

/* The longest part of an unknown name that a message repeats. */
#define NAME_SHOWN_MAX_BYTES 64

/* The rows of a tool, or of one of its objects. */
struct rows {
    const struct al_param *params;
    size_t nparams;
    const char *owner;  /* the name of the tool or the object */
    const char *prefix; /* what messages put before the name of a row: "", "target." */
};

static const struct al_param *find_param(const struct rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->nparams; i++) {
        if (al_param_is_called(&rows->params[i], name))
            return &rows->params[i];
    }
    return NULL;
}

/* The value of a parameter under any of its spellings; NULL when it is absent. */
static const json_t *value_of(const struct al_param *param, const json_t *arguments)
{
    const json_t *own = json_object_get(arguments, param->name);
    const char *name;
    json_t *value;

    if (own)
        return own;
    json_object_foreach((json_t *)arguments, name, value)
    {
        if (al_param_is_called(param, name))
            return value;
    }
    return NULL;
}

/* Refuse one parameter under two spellings: choosing a value would be a guess. */
static int refuse_twice(const struct rows *rows, const json_t *arguments, struct al_error *err)
{
    for (size_t i = 0; i < rows->nparams; i++) {
        const char *name, *first = NULL;
        json_t *value;

        json_object_foreach((json_t *)arguments, name, value)
        {
            if (!al_param_is_called(&rows->params[i], name))
                continue;
            if (first)
                return al_error_set(err, AL_ERR_BAD_ARGS,
                                    "Invalid arguments: '%s%s' and '%s%s' are the same parameter; "
                                    "give one of them",
                                    rows->prefix, first, rows->prefix, name);
            first = name;
        }
    }
    return 0;
}

/* Other tools, and git's manual, have these words for a revision. */
static bool is_revision_word(const char *name)
{
    static const char *const words[] = { "rev", "revision", "ref", "commit", "commit_hash" };

    for (size_t i = 0; i < AL_COUNT(words); i++)
        if (!strcmp(name, words[i]))
            return true;
    return false;
}

/* The parameter that takes a revision where the name of none is similar; NULL: there is none. */
static const char *revision_param(const struct rows *rows, const char *unknown)
{
    static const char *const names[] = { "rev", "from", "to", "range", "commits", "onto" };

    for (size_t k = 0; k < AL_COUNT(names) && is_revision_word(unknown); k++)
        for (size_t i = 0; i < rows->nparams; i++)
            if (!strcmp(rows->params[i].name, names[k]))
                return rows->params[i].name;
    return NULL;
}

static int refuse_unknown(const struct rows *rows, const json_t *arguments, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str valid = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str meant = AL_STR_INIT;
    const char *name;
    json_t *value;
    const char *unknown = NULL;

    json_object_foreach((json_t *)arguments, name, value)
    {
        if (!find_param(rows, name)) {
            unknown = name;
            break;
        }
    }
    if (!unknown)
        return 0;

    al_auto(al_freep) char *safe = al_text_sanitize_line(unknown);
    struct al_nearest nearest = { .word = unknown };
    if (strlen(safe) > NAME_SHOWN_MAX_BYTES)
        safe[al_utf8_floor(safe, NAME_SHOWN_MAX_BYTES)] = '\0';
    for (size_t i = 0; i < rows->nparams; i++) {
        al_nearest_offer(&nearest, rows->params[i].name);
        al_str_addf(&valid, "%s%s", i > 0 ? ", " : "", rows->params[i].name);
    }
    if (!nearest.found)
        nearest.found = revision_param(rows, unknown);
    if (nearest.found)
        al_str_addf(&meant, "; did you mean '%s%s'?", rows->prefix, nearest.found);
    return al_error_set(
        err, AL_ERR_BAD_ARGS, "Invalid arguments: unknown parameter '%s%s'%s (%s takes: %s)",
        rows->prefix, safe, meant.buf, rows->owner, valid.len > 0 ? valid.buf : "none");
}

static void set_default(const struct al_param *param, const struct al_tool_defaults *defaults,
                        void *field)
{
    switch (param->type) {
    case AL_TYPE_BOOL:
        *(bool *)field = param->default_int != 0;
        break;
    case AL_TYPE_INT:
        *(struct al_opt_int *)field =
            (struct al_opt_int){ .value = al_param_default_int(param, defaults) };
        break;
    case AL_TYPE_STRING:
        *(const char **)field = param->default_str;
        break;
    case AL_TYPE_STRINGS:
    case AL_TYPE_OBJECTS:
        break;
    case AL_TYPE_CHOICE:
        *(int *)field = (int)param->default_int;
        break;
    case AL_TYPE_OBJECT:
        for (size_t i = 0; i < param->object->nparams; i++)
            set_default(&param->object->params[i], defaults,
                        al_args_field(field, &param->object->params[i]));
        break;
    }
}

static int decode_object(const struct al_param *param, const json_t *value,
                         const struct al_tool_defaults *defaults, void *field,
                         struct al_error *err);

static int decode_objects(const struct al_param *param, const json_t *value,
                          const struct al_tool_defaults *defaults, struct al_objects *list,
                          struct al_error *err);

static int decode_row(const struct al_param *param, const json_t *value,
                      const struct al_tool_defaults *defaults, void *field, struct al_error *err)
{
    if (!value && al_param_is_required(param, defaults) && !(param->flags & AL_PARAM_MAY_BE_ABSENT))
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s is required", param->name);
    set_default(param, defaults, field);
    if (!value)
        return 0;
    if (param->type == AL_TYPE_OBJECT)
        return decode_object(param, value, defaults, field, err);
    if (param->type == AL_TYPE_OBJECTS)
        return decode_objects(param, value, defaults, field, err);
    return al_decode_value(param, value, field, err);
}

static int decode_rows(const struct rows *rows, const json_t *arguments,
                       const struct al_tool_defaults *defaults, void *args, struct al_error *err)
{
    int r = refuse_unknown(rows, arguments, err);

    if (r == 0)
        r = refuse_twice(rows, arguments, err);
    for (size_t i = 0; i < rows->nparams && r == 0; i++) {
        const struct al_param *param = &rows->params[i];
        al_auto(al_freep) char *name =
            *rows->prefix ? al_asprintf("%s%s", rows->prefix, param->name) : NULL;
        struct al_param full = *param;

        if (name)
            full.name = name; /* messages say "target.branch" */
        r = decode_row(&full, value_of(param, arguments), defaults, al_args_field(args, param),
                       err);
    }
    return r;
}

static int decode_object(const struct al_param *param, const json_t *value,
                         const struct al_tool_defaults *defaults, void *field, struct al_error *err)
{
    al_auto(al_freep) char *prefix = al_asprintf("%s.", param->name);
    const struct rows rows = { .params = param->object->params,
                               .nparams = param->object->nparams,
                               .owner = param->name,
                               .prefix = prefix };

    if (!json_is_object(value))
        return decode_wrong_type(param, err);
    *(bool *)field = true;
    return decode_rows(&rows, value, defaults, field, err);
}

static int decode_objects(const struct al_param *param, const json_t *value,
                          const struct al_tool_defaults *defaults, struct al_objects *list,
                          struct al_error *err)
{
    int r = decode_count(param, value, err);

    if (r < 0 || !json_array_size(value))
        return r;
    list->items = al_calloc(json_array_size(value), param->object->size);
    for (size_t i = 0; i < json_array_size(value) && r == 0; i++) {
        al_auto(al_freep) char *name = al_asprintf("%s[%zu]", param->name, i);
        struct al_param item = *param;

        item.name = name; /* messages say "plan[2].commit" */
        item.type = AL_TYPE_OBJECT;
        list->count = i + 1; /* what a half decoded item has is released too */
        r = decode_object(&item, json_array_get(value, i), defaults, al_args_item(param, list, i),
                          err);
    }
    return r;
}

/* The server checks the arguments against its own schema. */
static void take_as_defined(const struct al_tool *tool, const json_t *arguments, void *args)
{
    struct al_defined_args *defined = args;

    defined->tool = tool;
    defined->arguments = arguments;
}

int al_tool_decode(const struct al_tool *tool, const json_t *arguments,
                   const struct al_tool_defaults *defaults, void *args, struct al_error *err)
{
    const struct rows rows = {
        .params = tool->params, .nparams = tool->nparams, .owner = tool->name, .prefix = ""
    };
    int r;

    memset(args, 0, tool->args_size);
    if (arguments && !json_is_object(arguments))
        return al_error_set(err, AL_ERR_BAD_ARGS, "Invalid arguments: arguments must be an object");
    if (tool->definition) {
        take_as_defined(tool, arguments, args);
        return 0;
    }
    r = decode_rows(&rows, arguments, defaults, args, err);
    if (r == 0 && tool->check)
        r = tool->check(args, err);
    if (r < 0)
        al_tool_args_clear(tool, args);
    return r;
}
