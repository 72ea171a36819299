// SPDX-License-Identifier: Apache-2.0
#include "tool/args.h"

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

void al_tool_args_clear(const struct al_tool *tool, void *args)
{
    for (size_t i = 0; i < tool->nparams; i++) {
        if (tool->params[i].type == AL_TYPE_STRINGS)
            al_strv_clear(al_args_field(args, &tool->params[i]));
    }
    memset(args, 0, tool->args_size);
}
