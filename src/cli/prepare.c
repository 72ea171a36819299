// SPDX-License-Identifier: Apache-2.0
#include "cli/prepare.h"

#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/options.h"
#include "cli/show.h"
#include "guard/root.h"
#include "tool/spelling.h"

/* The tool's optional parameter for the working directory; NULL: there is none. */
static const struct al_param *working_dir_param(const struct al_tool *tool)
{
    if (tool->open_repository)
        return NULL;
    for (size_t i = 0; i < tool->nparams; i++)
        if (tool->params[i].offset == tool->working_dir_offset &&
            tool->params[i].type == AL_TYPE_STRING && !(tool->params[i].flags & AL_PARAM_REQUIRED))
            return &tool->params[i];
    return NULL;
}

/* Like git, a command works in the current directory, if that is inside a root.  An argument that
 * is given takes precedence. */
static void set_working_dir(const struct al_setup *setup, const struct al_tool *tool,
                            json_t *arguments)
{
    const struct al_param *param = working_dir_param(tool);
    al_auto(al_freep) char *here = realpath(".", NULL);
    const char *name;
    json_t *value;

    if (!param || !here || !json_is_object(arguments) ||
        !strcmp(here, setup->roots.items[0].path) || !al_roots_find(&setup->roots, here))
        return;
    json_object_foreach(arguments, name, value)
    {
        if (al_param_is_called(param, name))
            return;
    }
    al_json_set(arguments, param->name, al_json_name(here));
}

/* Find the tool and read its arguments.  The tools of another MCP server are known only in a
 * session. */
static int prepare_tool(struct al_setup *setup, int argc, char **argv,
                        const struct al_listed_tool **ret_tool, json_t **ret_arguments,
                        struct al_error *err)
{
    const bool mounted = al_starts_with(argv[0], AL_MOUNTS_PREFIX);
    int r = mounted ? al_setup_session(setup, err) : 0;

    if (r < 0)
        return r;
    *ret_tool = al_registry_find(&setup->registry, argv[0]);
    if (mounted && al_mounts_claims(setup->session.mounts, argv[0]))
        r = al_setup_find_mounted(setup, argv[0], ret_tool, err);
    else if (!*ret_tool)
        r = al_unknown_tool(setup, argv[0], err);
    if (r == 0)
        r = al_arguments_read((*ret_tool)->tool, argc - 1, argv + 1, ret_arguments, err);
    return r < 0 || mounted ? r : al_setup_session(setup, err);
}

int al_prepare_call(struct al_setup *setup, const char *command, const struct al_options *options,
                    int argc, char **argv, const struct al_listed_tool **ret_tool,
                    json_t **ret_arguments, struct al_error *err)
{
    int r;

    r = al_setup_config(setup, options, err);
    if (r == 0)
        r = al_setup_tools(setup, err);
    if (r < 0)
        return r;
    if (argc < 1)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s needs a tool and, optionally, its arguments, for example: "
                            "airlock %s git_log max_count=3",
                            command, command);
    r = prepare_tool(setup, argc, argv, ret_tool, ret_arguments, err);
    if (r == 0)
        set_working_dir(setup, (*ret_tool)->tool, *ret_arguments);
    return r;
}
