// SPDX-License-Identifier: Apache-2.0
/* The worker file of a session. */
#include <string.h>

#include "cli/environment.h"
#include "cli/known_names.h"
#include "cli/setup.h"
#include "guard/text.h"

static int unknown_toolset(const struct al_setup *setup, const struct al_yaml *toolset,
                           struct al_error *err)
{
    al_auto(al_freep) char *valid = al_toolset_names(&setup->toolsets);
    al_auto(al_freep) char *name = al_text_sanitize_line(toolset->name);

    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s:%u: toolsets.%s: Unknown toolset \"%s\" in worker \"%s\". "
                        "Valid toolsets: %s",
                        toolset->file, toolset->line, name, name, setup->worker.name, valid);
}

/* Settings of a toolset that --toolset leaves out are read as well: mistakes in them are named. */
static int configure_toolset(struct al_setup *setup, const struct al_yaml *settings,
                             struct al_error *err)
{
    const struct al_toolset *toolset =
        al_toolset_find(&setup->toolsets, al_worker_toolset(settings->name));

    if (!toolset)
        return unknown_toolset(setup, settings, err);
    return al_toolset_configure(toolset,
                                &(struct al_toolset_context){
                                    .config = settings,
                                    .worker = setup->worker.name,
                                    .session = &setup->session,
                                },
                                err);
}

static int choose_toolsets(struct al_setup *setup, struct al_error *err)
{
    const struct al_yaml *toolsets = setup->worker.toolsets;
    struct al_strv *chosen = &setup->config.toolsets;
    int r = 0;

    if (toolsets && !setup->named_toolsets)
        al_strv_clear(chosen);
    for (size_t i = 0; toolsets && r == 0 && i < toolsets->count; i++) {
        r = configure_toolset(setup, &toolsets->items[i], err);
        if (!setup->named_toolsets)
            al_strv_add(chosen, al_worker_toolset(toolsets->items[i].name));
    }
    return r;
}

/* Both the session's grant and the worker's have to cover a call. */
static int narrow_grant(struct al_setup *setup, struct al_error *err)
{
    struct al_grants *grants = &setup->worker.grants;
    const struct al_grant *narrower;
    int r;

    if (!grants->count)
        return 0;
    grants->items[0].also = setup->session.grant;
    r = al_grants_choose(grants, grants->items[0].name, &narrower, err);
    if (r == 0)
        setup->session.grant = narrower;
    return r;
}

int al_setup_worker(struct al_setup *setup, struct al_error *err)
{
    struct al_worker *worker = &setup->worker;
    al_auto(al_freep) char *path = NULL;
    int r;

    if (!setup->config.serve.worker || worker->file)
        return 0;
    path = al_environment_absolute(setup->config.serve.worker);
    r = al_worker_read(path, worker, err);
    if (r == 0)
        r = al_check_worker_names(
            &(struct al_known){ &setup->toolsets, &setup->config.mcp.servers }, worker, err);
    if (r == 0)
        r = choose_toolsets(setup, err);
    if (r == 0)
        r = narrow_grant(setup, err);
    if (r == 0)
        al_policy_narrow(&setup->config.approval.policy, &worker->policy);
    return r;
}

static int narrow_root(const struct al_roots *roots, const struct al_yaml *root, const char *home,
                       struct al_roots *narrowed, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *safe = al_text_sanitize_line(root->text);

    if (al_roots_add(narrowed, root->text, NULL, home, &why) < 0)
        return al_yaml_error(root, err, "%s", why.message);
    for (size_t i = 0; i < narrowed->count; i++)
        if (!al_roots_find(roots, narrowed->items[i].path))
            return al_yaml_error(root, err,
                                 "'%s' is in no root; a worker file only narrows the roots", safe);
    return 0;
}

int al_setup_worker_roots(struct al_setup *setup, struct al_error *err)
{
    const struct al_worker *worker = &setup->worker;
    al_auto(al_roots_clear) struct al_roots narrowed = AL_ROOTS_INIT;
    int r = 0;

    /* git writes into git directories, wherever they are. */
    if (worker->file)
        r = al_roots_exclude(al_roots_parts(&setup->roots), worker->file, "worker file", err);
    if (!worker->roots || r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < worker->roots->count; i++)
        r = narrow_root(&setup->roots, &worker->roots->items[i], setup->home, &narrowed, err);
    narrowed.allow_absolute = setup->roots.allow_absolute;
    if (r == 0)
        r = al_setup_git_dirs(setup, &narrowed, err);
    if (r < 0)
        return r;
    al_roots_clear(&setup->roots);
    setup->roots = narrowed;
    narrowed = AL_ROOTS_INIT;
    return 0;
}
