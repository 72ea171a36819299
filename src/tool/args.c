// SPDX-License-Identifier: Apache-2.0
#include "tool/args.h"

#include <stdlib.h>
#include <string.h>

static const void *read_field(const void *args, const struct al_param *param)
{
    return (const char *)args + param->offset;
}

void *al_args_field(void *args, const struct al_param *param)
{
    return (char *)args + param->offset;
}

bool al_args_bool(const void *args, const struct al_param *param)
{
    return *(const bool *)read_field(args, param);
}

const struct al_opt_int *al_args_int(const void *args, const struct al_param *param)
{
    return read_field(args, param);
}

const char *al_args_string(const void *args, const struct al_param *param)
{
    return *(const char *const *)read_field(args, param);
}

const struct al_strv *al_args_strings(const void *args, const struct al_param *param)
{
    return read_field(args, param);
}

void *al_args_item(const struct al_param *param, const struct al_objects *list, size_t i)
{
    return (char *)list->items + i * param->object->size;
}

static void visit_members(const struct al_param *param, const void *item, al_args_fn visit,
                          void *payload)
{
    for (size_t i = 0; i < param->object->nparams; i++)
        visit(payload, &param->object->params[i], item);
}

static void visit_items(const struct al_param *param, const struct al_objects *list,
                        al_args_fn visit, void *payload)
{
    for (size_t i = 0; i < list->count; i++)
        visit_members(param, al_args_item(param, list, i), visit, payload);
}

void al_args_visit(const struct al_tool *tool, const void *args, al_args_fn visit, void *payload)
{
    for (size_t i = 0; i < tool->nparams; i++) {
        const struct al_param *param = &tool->params[i];

        if (param->type == AL_TYPE_OBJECTS)
            visit_items(param, read_field(args, param), visit, payload);
        else if (param->type != AL_TYPE_OBJECT)
            visit(payload, param, args);
        else if (al_args_bool(args, param))
            visit_members(param, read_field(args, param), visit, payload);
    }
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
