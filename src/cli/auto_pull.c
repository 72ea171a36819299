// SPDX-License-Identifier: Apache-2.0
#include "cli/auto_pull.h"

#include <string.h>

#include "guard/text.h"
#include "staging/settings.h"
#include "util/json.h"
#include "util/log.h"

static void set_string(json_t *object, const char *name, const char *value)
{
    if (value)
        al_json_set(object, name, al_json_string(value));
}

static json_t *arguments_of(const struct al_auto_pull *pull)
{
    json_t *arguments = al_json_object(), *paths = al_json_array(), *source;

    al_json_append(paths, al_json_string(pull->path));
    al_json_set(arguments, "paths", paths);
    if (!pull->has_source)
        return arguments;
    source = al_json_object();
    set_string(source, "type", al_target_type_name(pull->source.type));
    set_string(source, "path", pull->source.path);
    set_string(source, "repo", pull->source.repo);
    set_string(source, "branch", pull->source.branch);
    al_json_set(arguments, "source", source);
    return arguments;
}

/* git_pull of the toolset, whatever earlier toolset has a tool of that name. */
static struct al_listed_tool find_tool(const struct al_setup *setup)
{
    const struct al_toolset *toolset = al_toolset_find(&setup->toolsets, "staging");

    for (size_t i = 0; toolset && toolset->tools[i]; i++)
        if (!strcmp(toolset->tools[i]->name, "git_pull"))
            return (struct al_listed_tool){ .toolset = toolset, .tool = toolset->tools[i] };
    return (struct al_listed_tool){ .tool = NULL };
}

static void pull_one(const struct al_setup *setup, const struct al_listed_tool *tool,
                     const struct al_auto_pull *pull, struct al_cancel *cancel)
{
    al_auto(al_json_decrefp) json_t *arguments = arguments_of(pull);
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;
    al_auto(al_freep) char *path = al_text_sanitize_line(pull->path);
    const json_t *conflicts;

    al_call_run(&setup->session,
                &(struct al_call_input){ .tool = tool, .arguments = arguments, .cancel = cancel },
                &result);
    conflicts = json_object_get(result.structured, "conflicts");
    if (result.status < 0) {
        al_auto(al_freep) char *text = al_text_sanitize_line(result.text.buf);

        al_log_warn("auto_pull of '%s' failed: %s", path, text);
    } else if (json_array_size(conflicts)) {
        al_log_warn("auto_pull of '%s': %zu file(s) have conflict markers", path,
                    json_array_size(conflicts));
    }
}

void al_auto_pull(const struct al_setup *setup, struct al_cancel *cancel)
{
    const struct al_staging_settings *settings = setup->session.staging_settings;
    const struct al_listed_tool tool = find_tool(setup);

    if (!setup->auto_pulls || !settings || !setup->session.staging || !tool.tool)
        return;
    for (size_t i = 0; i < settings->npulls; i++)
        pull_one(setup, &tool, &settings->pulls[i], cancel);
}
