// SPDX-License-Identifier: Apache-2.0
/* Decode JSON arguments into a tool's argument struct, by its parameter rows. */
#include <stdlib.h>

#include "guard/text.h"
#include "tool/args.h"
#include "tool/decode_value.h"
#include "tool/spelling.h"
#include "tool/tool.h"
#include "util/nearest.h"
#include "util/utf8.h"

/** The longest part of an unknown name that a message repeats. */
#define NAME_SHOWN_MAX_BYTES 64

/** The rows of a tool, or of one of its objects. */
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
        return al_decode_wrong_type(param, err);
    *(bool *)field = true;
    return decode_rows(&rows, value, defaults, field, err);
}

static int decode_objects(const struct al_param *param, const json_t *value,
                          const struct al_tool_defaults *defaults, struct al_objects *list,
                          struct al_error *err)
{
    int r = al_decode_count(param, value, err);

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
