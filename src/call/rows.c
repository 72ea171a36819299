// SPDX-License-Identifier: Apache-2.0
/* The readers of the rows of a tool: the fields of its arguments, decoding, the schema and
 * annotations that clients see, and the operation of a call. */
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "base/utf8.h"
#include "call/private.h"
#include "guard/text.h"

void *al_args_field(const void *args, const struct al_param *param)
{
    return (char *)args + param->offset;
}

bool al_args_bool(const void *args, const struct al_param *param)
{
    return *(const bool *)al_args_field(args, param);
}

const struct al_opt_int *al_args_int(const void *args, const struct al_param *param)
{
    return al_args_field(args, param);
}

const char *al_args_string(const void *args, const struct al_param *param)
{
    return *(const char *const *)al_args_field(args, param);
}

const struct al_strv *al_args_strings(const void *args, const struct al_param *param)
{
    return al_args_field(args, param);
}

void *al_args_item(const struct al_param *param, const struct al_objects *list, size_t i)
{
    return (char *)list->items + i * param->object->size;
}

static void clear_lists(const struct al_param *params, size_t nparams, void *args);

static void clear_items(const struct al_param *param, struct al_objects *list)
{
    for (size_t i = 0; i < list->count; i++)
        clear_lists(param->object->params, param->object->nparams, al_args_item(param, list, i));
    free(list->items);
    *list = (struct al_objects){ .items = NULL };
}

static void clear_lists(const struct al_param *params, size_t nparams, void *args)
{
    for (size_t i = 0; i < nparams; i++) {
        const struct al_param *param = &params[i];

        if (param->type == AL_TYPE_STRINGS)
            al_strv_clear(al_args_field(args, param));
        if (param->type == AL_TYPE_OBJECT)
            clear_lists(param->object->params, param->object->nparams, al_args_field(args, param));
        if (param->type == AL_TYPE_OBJECTS)
            clear_items(param, al_args_field(args, param));
    }
}

void al_tool_args_clear(const struct al_tool *tool, void *args)
{
    clear_lists(tool->params, tool->nparams, args);
    memset(args, 0, tool->args_size);
}

bool al_pattern_matches(const char *pattern, const char *text)
{
    regex_t compiled;
    bool matches;

    /* Compiling for each call takes a few microseconds, and needs no lock. */
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    matches = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return matches;
}

/* Refuse a value beyond a bound or against the pattern, in the words of the row if it has some. */
al_printf(3, 4) static int refuse(const struct al_param *param, struct al_error *err,
                                  const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&message, fmt, args);
    va_end(args);
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s",
                        param->bad_message ? param->bad_message : message.buf);
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

    for (const struct al_choice *choice = param->choices; choice && choice->name; choice++)
        al_str_addf(&names, "%s%s", choice == param->choices ? "" : ", ", choice->name);
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
    if (param->min_bytes > 0 && (len < param->min_bytes || is_blank(text, len)))
        return param->min_bytes == 1 ? refuse(param, err, "%s must not be empty", param->name)
                                     : refuse(param, err, "%s must be at least %zu bytes long",
                                              param->name, param->min_bytes);
    if (param->pattern && !al_pattern_matches(param->pattern, text))
        return refuse(param, err, "Invalid arguments: '%s' must match %s", param->name,
                      param->pattern);
    return param->check ? param->check(param->name, text, err) : 0;
}

static int decode_bool(const struct al_param *param, const json_t *value, bool *field,
                       struct al_error *err)
{
    if (!json_is_boolean(value))
        return al_error_remedy(decode_wrong_type(param, err), err, param->bad_message);
    *field = json_is_true(value);
    return 0;
}

/* "5" for 5. */
static bool read_integer(const char *text, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return errno == 0 && !*end && (*text == '-' || (*text >= '0' && *text <= '9'));
}

/* In JSON Schema a number with an integral value is an integer, however it is written.  A number
 * beyond 64 bits is also beyond every bound, so the nearest value gives the right message. */
static bool integer_of(const struct al_param *param, const json_t *value, int64_t *ret)
{
    double real;

    if (json_is_string(value) && (param->flags & AL_PARAM_LENIENT))
        return read_integer(json_string_value(value), ret);
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
    const unsigned clamped = AL_PARAM_LENIENT | AL_PARAM_MAX_HIDDEN;
    int64_t n;

    if (!integer_of(param, value, &n))
        return decode_wrong_type(param, err);
    field->is_clamped = n > param->max && (param->flags & clamped) == clamped;
    if (field->is_clamped || (n > param->max && (param->flags & AL_PARAM_TIMEOUT)))
        n = param->max;
    if (n < param->min)
        return refuse(param, err, "%s must be at least %" PRId64, param->name, param->min);
    if (n > param->max)
        return refuse(param, err, "%s cannot exceed %" PRId64, param->name, param->max);
    field->given = true;
    field->value = n;
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
    if ((int64_t)count < param->min)
        return refuse(param, err, "%s must contain at least %" PRId64 " element(s)", param->name,
                      param->min);
    if ((int64_t)count > al_param_max_items(param))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s cannot contain more than %" PRId64 " elements", param->name,
                            al_param_max_items(param));
    return 0;
}

static int decode_strings(const struct al_param *param, const json_t *value, struct al_strv *field,
                          struct al_error *err)
{
    /* "a.c" for ["a.c"] */
    const bool is_one = json_is_string(value) && (param->flags & AL_PARAM_LENIENT);
    const size_t count = is_one ? 1 : json_array_size(value);
    int r = is_one ? 0 : decode_count(param, value, err);

    for (size_t i = 0; i < count && r == 0; i++) {
        const char *item = NULL;

        r = decode_string(param, is_one ? value : json_array_get(value, i), &item, err);
        if (r == 0)
            al_strv_add(field, item);
    }
    return r;
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

/* The longest part of an unknown name that a message repeats. */
#define NAME_SHOWN_MAX_BYTES 64

/* The rows of a tool, or of one of its objects. */
struct rows {
    const struct al_param *params;
    size_t nparams;
    const char *owner;  /* the name of the tool or the object */
    const char *prefix; /* what messages put before the name of a row: "", "target." */
    unsigned flags;     /* that all of them have: AL_PARAM_LENIENT */
};

const struct al_param *al_params_find(const struct al_param *params, size_t nparams,
                                      const char *name)
{
    for (size_t i = 0; i < nparams; i++)
        if (al_param_is_called(&params[i], name))
            return &params[i];
    return NULL;
}

const json_t *al_args_given_as(const struct al_param *param, const json_t *arguments)
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

/* The parameter that takes a revision where the name of none is similar; NULL: there is none.
 * Other tools, and git's manual, have these words for one. */
static const char *revision_param(const struct rows *rows, const char *unknown)
{
    static const char *const names[] = { "rev", "from", "to", "range", "commits", "onto" };
    static const char words[] = " rev revision ref commit commit_hash ";
    al_auto(al_freep) char *word = al_asprintf(" %s ", unknown);

    for (size_t k = 0; k < AL_COUNT(names) && strstr(words, word); k++)
        for (size_t i = 0; i < rows->nparams; i++)
            if (!strcmp(rows->params[i].name, names[k]))
                return rows->params[i].name;
    return NULL;
}

static int refuse_unknown(const struct rows *rows, const char *unknown, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(unknown);
    al_auto(al_str_clear) struct al_str valid = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str meant = AL_STR_INIT;
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

/* Refuse what no row is called by, and one parameter under two spellings: choosing a value would be
 * a guess. */
static int check_names(const struct rows *rows, const json_t *arguments, struct al_error *err)
{
    const char *names[AL_PARAMS_MAX] = { NULL }, *name;
    json_t *value;

    json_object_foreach((json_t *)arguments, name, value)
    {
        const struct al_param *row = al_params_find(rows->params, rows->nparams, name);
        const char **first = row ? &names[row - rows->params] : NULL;

        if (!row)
            return refuse_unknown(rows, name, err);
        if (*first)
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "Invalid arguments: '%s%s' and '%s%s' are the same parameter; "
                                "give one of them",
                                rows->prefix, *first, rows->prefix, name);
        *first = name;
    }
    return 0;
}

/* Its own, or the configured one that its flags name. */
static int64_t default_int(const struct al_param *param, const struct al_tool_defaults *defaults)
{
    if (param->flags & AL_PARAM_TIMEOUT)
        return defaults->timeout_ms;
    if (param->flags & AL_PARAM_MAX_BYTES)
        return defaults->max_bytes;
    return param->default_int;
}

static void set_default(const struct al_param *param, const struct al_tool_defaults *defaults,
                        void *field)
{
    switch (param->type) {
    case AL_TYPE_BOOL:
        *(bool *)field = param->default_int != 0;
        break;
    case AL_TYPE_INT:
        *(struct al_opt_int *)field = (struct al_opt_int){ .value = default_int(param, defaults) };
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
        return al_error_about(al_error_set(err, AL_ERR_BAD_ARGS, "%s is required", param->name),
                              err, AL_SUBJECT_REQUIRED, NULL);
    set_default(param, defaults, field);
    if (!value)
        return 0;
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
        return decode_object(param, value, defaults, field, err);
    case AL_TYPE_OBJECTS:
        return decode_objects(param, value, defaults, field, err);
    }
    abort(); /* a row of no type */
}

static int decode_rows(const struct rows *rows, const json_t *arguments,
                       const struct al_tool_defaults *defaults, void *args, struct al_error *err)
{
    int r = check_names(rows, arguments, err);

    for (size_t i = 0; i < rows->nparams && r == 0; i++) {
        const struct al_param *param = &rows->params[i];
        al_auto(al_freep) char *name =
            *rows->prefix ? al_asprintf("%s%s", rows->prefix, param->name) : NULL;
        struct al_param full = *param;

        if (name)
            full.name = name; /* messages say "target.branch" */
        full.flags |= rows->flags;
        r = decode_row(&full, al_args_given_as(param, arguments), defaults,
                       al_args_field(args, param), err);
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
                               .prefix = prefix,
                               .flags = param->flags & AL_PARAM_LENIENT };

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

unsigned al_tool_effects(const struct al_tool *tool)
{
    unsigned effects = 0;

    for (size_t i = 0; i < tool->noperations; i++)
        effects |= tool->operations[i].effects;
    return effects;
}

bool al_operation_asks(const struct al_operation *op, enum al_approval_mode mode, bool saves)
{
    const bool excused = op->asks == AL_ASKS_NEVER || (op->asks == AL_ASKS_UNLESS_SAVED && saves);

    if (op->asks == AL_ASKS_ALWAYS || op->asks == AL_ASKS_ELSEWHERE)
        return op->asks == AL_ASKS_ALWAYS;
    return (mode == AL_APPROVAL_DENY || !excused) && al_effects_change_repository(op->effects);
}

bool al_stricter_is_of(const struct al_stricter *form, const struct al_operation *op)
{
    return form->operation ? !strcmp(form->operation, op->name)
                           : !al_effects_read_only(op->effects);
}

bool al_tool_asks(const struct al_tool *tool, bool saves)
{
    for (size_t i = 0; i < tool->noperations; i++)
        if (al_operation_asks(&tool->operations[i], AL_APPROVAL_ASK, saves))
            return true;
    return false;
}

int al_tool_decode(const struct al_tool *tool, const json_t *arguments,
                   const struct al_tool_defaults *defaults, void *args, struct al_error *err)
{
    const bool is_everyday = tool->words == AL_WORDS_EVERYDAY;
    const struct rows rows = { .params = tool->params,
                               .nparams = tool->nparams,
                               .owner = tool->name,
                               .prefix = "",
                               .flags = is_everyday ? AL_PARAM_LENIENT : 0 };
    int r;

    memset(args, 0, tool->args_size);
    if (arguments && !json_is_object(arguments))
        return al_error_set(err, AL_ERR_BAD_ARGS, "Invalid arguments: arguments must be an object");
    if (tool->definition) { /* the server checks them against its own schema */
        *(struct al_defined_args *)args = (struct al_defined_args){ tool, arguments };
        return 0;
    }
    r = decode_rows(&rows, arguments, defaults, args, err);
    if (r == 0 && is_everyday)
        r = al_args_check_used(tool, args, err);
    if (r == 0 && tool->check)
        r = tool->check(args, err);
    if (r < 0)
        al_tool_args_clear(tool, args);
    return r;
}

const struct al_operation *al_tool_select(const struct al_tool *tool, const struct al_call *call,
                                          const void *args)
{
    const struct al_operation *op = tool->operations, *last = op + tool->noperations - 1;

    while (op < last && !(tool->takes   ? tool->takes(call, op)
                          : op->applies ? op->applies(call, args)
                                        : al_args_action_is(tool, args, op->name)))
        op++;
    return op;
}

bool al_param_is_required(const struct al_param *param, const struct al_tool_defaults *defaults)
{
    if ((param->flags & AL_PARAM_DEFAULT_TARGET) && defaults->has_target)
        return false;
    return param->flags & AL_PARAM_REQUIRED;
}

size_t al_param_max_bytes(const struct al_param *param)
{
    if (param->max_bytes)
        return param->max_bytes;
    if (param->flags & (AL_PARAM_PATH | AL_PARAM_OUTPUT))
        return AL_PARAM_PATH_MAX_BYTES;
    return param->flags & (AL_PARAM_BRANCH | AL_PARAM_NAME) ? AL_PARAM_NAME_MAX_BYTES
                                                            : AL_PARAM_TEXT_MAX_BYTES;
}

int64_t al_param_max_items(const struct al_param *param)
{
    return param->max ? param->max : AL_PARAM_ITEMS_MAX;
}

json_t *al_schema_typed(const char *type)
{
    json_t *schema = al_json_object();

    al_json_set(schema, "type", al_json_string(type));
    return schema;
}

static json_t *bool_schema(const struct al_param *param, bool is_brief)
{
    json_t *schema = al_schema_typed("boolean");

    if (!(param->flags & AL_PARAM_REQUIRED) && (param->default_int || !is_brief))
        al_json_set(schema, "default", al_json_bool(param->default_int != 0));
    return schema;
}

static json_t *int_schema(const struct al_param *param, bool is_brief,
                          const struct al_tool_defaults *defaults)
{
    const unsigned has_default = AL_PARAM_HAS_DEFAULT | AL_PARAM_TIMEOUT | AL_PARAM_MAX_BYTES;
    json_t *schema = al_schema_typed("integer");

    if (!is_brief)
        al_json_set(schema, "minimum", al_json_int(param->min));
    if (!is_brief && !(param->flags & (AL_PARAM_MAX_HIDDEN | AL_PARAM_TIMEOUT)))
        al_json_set(schema, "maximum", al_json_int(param->max));
    if (param->flags & has_default)
        al_json_set(schema, "default", al_json_int(default_int(param, defaults)));
    return schema;
}

static json_t *string_schema(const struct al_param *param, bool is_brief)
{
    json_t *schema = al_schema_typed("string");

    if (param->min_bytes > 0 && !is_brief)
        al_json_set(schema, "minLength", al_json_int((int64_t)param->min_bytes));
    if (param->pattern)
        al_json_set(schema, "pattern", al_json_string(param->pattern));
    if (param->flags & AL_PARAM_HAS_DEFAULT)
        al_json_set(schema, "default", al_json_string(param->default_str));
    return schema;
}

/* `items` is taken over. */
static json_t *array_schema(const struct al_param *param, bool is_brief, json_t *items)
{
    json_t *schema = al_schema_typed("array");

    al_json_set(schema, "items", items);
    if (param->min > 0 && !is_brief)
        al_json_set(schema, "minItems", al_json_int(param->min));
    return schema;
}

static json_t *choice_schema(const struct al_param *param)
{
    json_t *schema = al_schema_typed("string");
    json_t *names = al_json_array();
    const char *standard = NULL;

    for (const struct al_choice *choice = param->choices; choice->name; choice++) {
        al_json_append(names, al_json_string(choice->name));
        if (choice->value == param->default_int)
            standard = choice->name;
    }
    al_json_set(schema, "enum", names);
    if (standard && !(param->flags & AL_PARAM_REQUIRED))
        al_json_set(schema, "default", al_json_string(standard));
    return schema;
}

static json_t *rows_schema(const struct al_param *params, size_t nparams, bool is_brief,
                           const struct al_tool_defaults *defaults);

static json_t *param_schema(const struct al_param *param, bool is_brief,
                            const struct al_tool_defaults *defaults)
{
    const struct al_object *object = param->object;

    switch (param->type) {
    case AL_TYPE_BOOL:
        return bool_schema(param, is_brief);
    case AL_TYPE_INT:
        return int_schema(param, is_brief, defaults);
    case AL_TYPE_STRING:
        return string_schema(param, is_brief);
    case AL_TYPE_STRINGS:
        return array_schema(param, is_brief, string_schema(param, is_brief));
    case AL_TYPE_CHOICE:
        return choice_schema(param);
    case AL_TYPE_OBJECT:
        return rows_schema(object->params, object->nparams, is_brief, defaults);
    case AL_TYPE_OBJECTS:
        return array_schema(param, is_brief,
                            rows_schema(object->params, object->nparams, is_brief, defaults));
    }
    abort(); /* a row of no type */
}

/* `is_brief`: without what a client assumes, and without the bounds, which the refusal of a value
 * names. */
static json_t *rows_schema(const struct al_param *params, size_t nparams, bool is_brief,
                           const struct al_tool_defaults *defaults)
{
    al_auto(al_json_decrefp) json_t *required = al_json_array();
    json_t *properties = al_json_object();
    json_t *schema = al_schema_typed("object");

    for (size_t i = 0; i < nparams; i++) {
        const struct al_param *param = &params[i];
        json_t *property = param_schema(param, is_brief, defaults);

        if (param->about)
            al_json_set(property, "description", al_json_string(param->about));
        al_json_set(properties, param->name, property);
        if (al_param_is_required(param, defaults))
            al_json_append(required, al_json_string(param->name));
    }
    al_json_set(schema, "properties", properties);
    if (json_array_size(required) > 0)
        al_json_set(schema, "required", al_take(&required));
    if (!is_brief)
        al_json_set(schema, "additionalProperties", al_json_bool(false));
    return schema;
}

json_t *al_tool_schema(const struct al_tool *tool, const struct al_tool_defaults *defaults)
{
    return tool->definition ? json_incref(json_object_get(tool->definition, "inputSchema"))
                            : rows_schema(tool->params, tool->nparams, tool->is_everyday, defaults);
}

json_t *al_tool_annotations(const struct al_tool *tool, bool saves)
{
    unsigned effects = al_tool_effects(tool);
    bool may_destroy = false, saved = false;
    json_t *hints;

    if (tool->definition)
        return json_incref(json_object_get(tool->definition, "annotations"));
    for (size_t i = 0; i < tool->noperations; i++) {
        const bool is_saved = tool->operations[i].asks == AL_ASKS_UNLESS_SAVED;

        saved |= is_saved;
        may_destroy |= !(is_saved && saves) && al_effects_destructive(tool->operations[i].effects);
    }
    /* An operation that asks in a tool that does not ask otherwise cannot be brought back. */
    may_destroy |= saved && tool->nstricter && al_effects_destructive(effects);
    hints = al_json_object();
    al_json_set(hints, "readOnlyHint", al_json_bool(al_effects_read_only(effects)));
    al_json_set(hints, "destructiveHint", al_json_bool(may_destroy));
    al_json_set(hints, "idempotentHint", al_json_bool(al_effects_idempotent(effects)));
    al_json_set(hints, "openWorldHint", al_json_bool(al_effects_open_world(effects)));
    return hints;
}
