// SPDX-License-Identifier: Apache-2.0
#include "cli/auto_pull.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
#include "proc/cancel.h"
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
    if (al_cancel_fired(cancel))
        return;
    if (result.status < 0) {
        al_auto(al_freep) char *text = al_text_join_lines(result.text.buf);

        al_log_warn("auto_pull of '%s' failed: %s", path, text);
    } else if (json_array_size(conflicts)) {
        al_log_warn("auto_pull of '%s': %zu file(s) have conflict markers", path,
                    json_array_size(conflicts));
    }
}

static bool has_pulls(const struct al_setup *setup)
{
    const struct al_staging_settings *settings = setup->session.staging_settings;

    return setup->auto_pulls && settings && settings->npulls && setup->session.staging;
}

void al_auto_pull(const struct al_setup *setup, struct al_cancel *cancel)
{
    const struct al_staging_settings *settings = setup->session.staging_settings;
    const struct al_listed_tool tool = find_tool(setup);

    if (!has_pulls(setup) || !tool.tool)
        return;
    for (size_t i = 0; i < settings->npulls && !al_cancel_fired(cancel); i++)
        pull_one(setup, &tool, &settings->pulls[i], cancel);
}

/* --- In the background --- */

struct al_auto_pulling {
    const struct al_setup *setup;
    struct al_cancel *cancel, *ended;
    pthread_t thread;
    bool has_thread;
};

static void *pull_all(void *payload)
{
    struct al_auto_pulling *pulling = payload;

    al_auto_pull(pulling->setup, pulling->cancel);
    al_cancel_fire(pulling->ended);
    return NULL;
}

struct al_auto_pulling *al_auto_pull_begin(const struct al_setup *setup)
{
    struct al_auto_pulling *pulling;

    if (!has_pulls(setup))
        return NULL;
    pulling = al_calloc(1, sizeof(*pulling));
    pulling->setup = setup;
    pulling->cancel = al_cancel_new();
    pulling->ended = al_cancel_new();
    pulling->has_thread = pthread_create(&pulling->thread, NULL, pull_all, pulling) == 0;
    if (!pulling->has_thread)
        (void)pull_all(pulling);
    return pulling;
}

const struct al_cancel *al_auto_pull_ended(const struct al_auto_pulling *pulling)
{
    return pulling ? pulling->ended : NULL;
}

void al_auto_pull_end(struct al_auto_pulling *pulling)
{
    if (!pulling)
        return;
    al_cancel_fire(pulling->cancel);
    if (pulling->has_thread)
        (void)pthread_join(pulling->thread, NULL);
    al_cancel_unref(pulling->cancel);
    al_cancel_unref(pulling->ended);
    free(pulling);
}
